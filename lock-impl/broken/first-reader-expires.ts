/**
 * Sets the expiry of the number of readers with the first of them, as one does for a counter of requests within a time.
 *
 * The number is gone when the lease of the first reader is over, and a writer gets in beside those who came later.
 */
import { readersByNumber, sharedByReaders } from './counted-readers.js';

export default sharedByReaders(
  'broken/first-reader-expires',
  readersByNumber(`if readers == 1 then
  redis.call('pexpire', KEYS[2], ARGV[2])
end`),
);
