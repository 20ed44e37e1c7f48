/** The twin of `permits-expire-together`: each permit has an end of its own. */
import { namedPermits, permitsFromScripts } from './permits-from-scripts.js';

export default permitsFromScripts('broken/permits-expire-together-mended', namedPermits);
