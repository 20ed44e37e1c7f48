/** The twin of `downgrade-drops-readers`: who stops writing keeps what it reads. */
import { downgradableLock } from './downgradable-lock.js';

export default downgradableLock('broken/downgrade-drops-readers-mended', '{field}');
