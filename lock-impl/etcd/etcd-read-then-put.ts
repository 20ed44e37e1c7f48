/**
 * A read ("is it there?"), then a put with a lease: no transaction, so two clients that read at once both hold it, and the
 * second one's put takes the key from the first.
 */
import { blindRelease } from './blind-release.js';

export default blindRelease({
  name: 'etcd-read-then-put',
  async isFree(etcd, key) {
    const { count } = await etcd.ask('kv/range', { key, count_only: true });
    return count === undefined || count === '0';
  },
  async store(etcd, put) {
    await etcd.ask('kv/put', put);
    return true;
  },
});
