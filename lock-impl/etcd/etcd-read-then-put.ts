/**
 * A read ("is it there?"), then a put with a lease: no transaction, so two clients that read at once both hold it, and the
 * second one's put takes the key from the first.
 */
import { tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { base64, gatewayOf } from './gateway.js';

const pause = { minMs: 20, maxMs: 50 };

export default defineLock({
  name: 'etcd-read-then-put',
  topologies: ['etcd', 'etcd-single'],
  async connect(access) {
    const etcd = gatewayOf(access);
    return {
      acquire: (key, options) =>
        tryUntilGranted(access, options, pause, async () => {
          const { count } = await etcd.ask('kv/range', { key: base64(key), count_only: true });
          if (count !== undefined && count !== '0') return { refusedBecause: 'held' };
          const sentNs = access.nowNs();
          const { ID } = await etcd.ask('lease/grant', { TTL: Math.ceil(options.leaseMs / 1_000) });
          await etcd.ask('kv/put', { key: base64(key), value: base64(access.ownerValue()), lease: ID });
          const remainsMs = validForMs(access, sentNs, options.leaseMs);
          if (remainsMs <= 0) return { refusedBecause: 'granted-late' };
          return {
            hold: {
              grantSentNs: sentNs,
              validForMs: remainsMs,
              release: async () => void (await etcd.ask('kv/deleterange', { key: base64(key) })),
            },
          };
        }),
    };
  },
});
