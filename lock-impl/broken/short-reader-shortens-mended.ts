/** The twin of `short-reader-shortens`: each reader has a name, and a lease of its own. */
import { namedReaders, sharedByReaders } from './counted-readers.js';

export default sharedByReaders('broken/short-reader-shortens-mended', namedReaders);
