/** The twin of `first-reader-expires`: each reader has a name, and a lease of its own. */
import { namedReaders, sharedByReaders } from './counted-readers.js';

export default sharedByReaders('broken/first-reader-expires-mended', namedReaders);
