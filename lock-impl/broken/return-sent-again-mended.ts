/** The twin of `return-sent-again`: permits have names, and one that is gone is not returned again. */
import { namedPermits, permitsFromScripts } from './permits-from-scripts.js';

export default permitsFromScripts('broken/return-sent-again-mended', namedPermits);
