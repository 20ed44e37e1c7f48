/**
 * All clients have the same owner id. Production code takes the process id, which is 1 in every container, or a host
 * name that the image fixes, or an id made once and baked into the configuration.
 *
 * Everybody finds "its own" id in the key and is in at once.
 */
import { retriableLock } from './retriable-lock.js';

const pidInEveryContainer = '1';

export default retriableLock('broken/shared-owner', () => pidInEveryContainer);
