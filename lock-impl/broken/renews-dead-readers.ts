/**
 * A watchdog for each lock of a process, as libraries have it, that renews whoever is in the lock until there is nobody. The field
 * of a reader that died is one of them. The idea is from redisson/redisson#7098.
 *
 * A reader dies, and as long as others that have read live on no client ever writes again.
 */
import type { LockHold } from '../../harness/vocabulary/lock.js';
import { answerOf } from '../owned-key.js';
import { readWriteState } from '../scripts/read-write-state.js';
import { type ReaderOrWriter, readersLock } from './readers-lock.js';

/**
 * KEYS[1], KEYS[2]  see scripts/read-write-state.ts
 * ARGV[1]           the lease in milliseconds
 *
 * Returns how many hold it.
 */
const renewAll = `${readWriteState}
drop_expired()
local fields = redis.call('zrange', KEYS[2], 0, -1)
for _, field in ipairs(fields) do
  lease(field, tonumber(ARGV[1]))
end
return #fields
`;

const renewed = async ({ redis, keys, leaseMs }: ReaderOrWriter) =>
  Number(await redis.eval(renewAll, 2, ...keys, leaseMs)) > 0;

export default readersLock('broken/renews-dead-readers', (access) => {
  const held = new Map<string, Set<LockHold>>();
  const watched = new Set<string>();

  const watch = async (key: string, its: ReaderOrWriter) => {
    if (watched.has(key)) return;
    watched.add(key);
    for (let goesOn = true; goesOn; ) {
      await access.sleep(its.leaseMs / 3);
      const sentNs = access.nowNs();
      const holds = [...(held.get(key) ?? [])]; // not what is granted meanwhile
      const answer = await answerOf(renewed(its));
      if (answer.is === 'yes') for (const hold of holds) access.renewed(hold, sentNs, its.leaseMs);
      goesOn = answer.is !== 'no';
    }
    watched.delete(key);
  };

  return (hold, its) => {
    const [key] = its.keys;
    held.set(key, (held.get(key) ?? new Set()).add(hold));
    void watch(key, its);
    return { stop: () => void held.get(key)?.delete(hold) };
  };
});
