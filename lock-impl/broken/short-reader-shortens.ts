/**
 * Each reader sets the expiry of what all readers share to its own lease, also where that is shorter than what is left. The
 * idea is from redisson/redisson#2144.
 *
 * A reader with a short lease comes and goes, and a writer gets in beside one that asked for longer.
 */
import { readersByNumber, sharedByReaders } from './counted-readers.js';

export default sharedByReaders(
  'broken/short-reader-shortens',
  readersByNumber("redis.call('pexpire', KEYS[2], ARGV[2])"),
);
