/** The twin of `first-reader-expires`: each reader prolongs what is too short for it. */
import { countedReaders, NEVER_SHORTER } from './counted-readers.js';

export default countedReaders('broken/first-reader-expires-mended', NEVER_SHORTER);
