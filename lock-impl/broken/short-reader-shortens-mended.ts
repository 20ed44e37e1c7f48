/** The twin of `short-reader-shortens`: an expiry is only ever set later. */
import { countedReaders, NEVER_SHORTER } from './counted-readers.js';

export default countedReaders('broken/short-reader-shortens-mended', NEVER_SHORTER);
