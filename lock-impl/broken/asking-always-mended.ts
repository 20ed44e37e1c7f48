/** The twin of `asking-always`: sends ASKING only where it was sent by ASK. */
import { redirectedLock } from './redirected-lock.js';

export default redirectedLock('broken/asking-always-mended', (node, [command, ...args]) => node.call(command, ...args));
