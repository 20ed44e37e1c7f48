/**
 * `set-nx-px` without scripts where the server can compare by itself: released by DELIFEQ (Valkey 9) or DELEX … IFEQ (Redis 8.4),
 * extended by SET … IFEQ … PX, which a server with either of the two has, too. Elsewhere it falls back to the scripts.
 *
 * It promises what `set-nx-px` does, no more: one command compares and acts, as one script does, so nothing gets in between. It
 * excludes one lock behind which servers of different versions stand: a client asks once what there is.
 */
import type { Redis } from 'ioredis';
import { ONE_SERVER } from './builtin-lock.js';
import { defineLock } from './define-lock.js';
import { byScripts, type OwnedKey, type OwnedKeyCommands } from './owned-key.js';
import { leasesBy } from './set-nx-px.js';

export default defineLock({
  name: 'ifeq',
  topologies: ONE_SERVER,
  features: ['extend'],
  async connect(access) {
    const redis = await access.redis();
    return leasesBy(access, redis, comparing(redis));
  },
});

type DeletesIfEqual = (mine: OwnedKey) => Promise<unknown>;

const DELETES_IF_EQUAL: Record<string, DeletesIfEqual> = {
  DELIFEQ: ({ redis, key, owner }) => redis.call('DELIFEQ', key, owner),
  DELEX: ({ redis, key, owner }) => redis.call('DELEX', key, 'IFEQ', owner),
};

/** What the server of `redis` has for it, which is asked when it is needed first, and again only if no answer came. */
export function comparing(redis: Redis): OwnedKeyCommands {
  let known: { deleteIfEqual: DeletesIfEqual | undefined } | undefined;
  const deletesIfEqual = async () => {
    if (known) return known.deleteIfEqual;
    const names = Object.keys(DELETES_IF_EQUAL);
    const infos = (await redis.call('COMMAND', 'INFO', ...names)) as unknown[];
    known = { deleteIfEqual: names.flatMap((name, n) => (infos[n] ? [DELETES_IF_EQUAL[name]!] : []))[0] };
    return known.deleteIfEqual;
  };
  return {
    ...byScripts,
    async giveBack(mine) {
      const deleteIfEqual = await deletesIfEqual();
      return deleteIfEqual ? (await deleteIfEqual(mine)) === 1 : byScripts.giveBack(mine);
    },
    async prolong(mine, leaseMs) {
      if (!(await deletesIfEqual())) return byScripts.prolong(mine, leaseMs);
      const { key, owner } = mine;
      // Without PX the key would lose its expiry: SET makes it anew.
      return (await redis.call('SET', key, owner, 'IFEQ', owner, 'PX', leaseMs)) === 'OK';
    },
  };
}
