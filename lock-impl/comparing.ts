/**
 * Locks as `set-nx-px` without scripts where the server can compare by itself: released by the command that the server's family has
 * for it, extended by SET … IFEQ … PX, which a server with that command has, too. Elsewhere they fall back to the scripts.
 *
 * They promise what `set-nx-px` does, no more: one command compares and acts, as one script does, so nothing gets in between. They
 * exclude one lock behind which servers of different versions stand: a client asks once what there is.
 */
import type { Redis } from 'ioredis';
import type { LockDefinition } from '../harness/vocabulary/lock.js';
import { ONE_SERVER } from './builtin-lock.js';
import { defineLock } from './define-lock.js';
import { byScripts, type OwnedKeyCommands } from './owned-key.js';
import type { LaterCommand } from './server-commands.js';
import { leasesBy } from './set-nx-px.js';

/** How a family of servers deletes a key that is equal. */
export interface DeletesIfEqual {
  /** By which the server says that it can. */
  command: LaterCommand;
  /** Of `command`. */
  args(key: string, owner: string): string[];
}

/** Such a lock under a name of its own, with what releases it. */
export function comparingLock(name: string, deletes: DeletesIfEqual): LockDefinition {
  return defineLock({
    name,
    topologies: ONE_SERVER,
    features: ['extend'],
    async connect(access) {
      const redis = await access.redis();
      return leasesBy(access, redis, comparing(redis, deletes));
    },
  });
}

/** What the server of `redis` has is asked when it is needed first, and again only if no answer came. */
function comparing(redis: Redis, { command, args }: DeletesIfEqual): OwnedKeyCommands {
  let known: boolean | undefined;
  const hasCommand = async () => {
    if (known === undefined) {
      const [info] = (await redis.call('COMMAND', 'INFO', command)) as unknown[];
      known = Boolean(info);
    }
    return known;
  };
  return {
    ...byScripts,
    async giveBack(mine) {
      if (!(await hasCommand())) return byScripts.giveBack(mine);
      return (await redis.call(command, ...args(mine.key, mine.owner))) === 1;
    },
    async prolong(mine, leaseMs) {
      if (!(await hasCommand())) return byScripts.prolong(mine, leaseMs);
      const { key, owner } = mine;
      // Without PX the key would lose its expiry: SET makes it anew.
      return (await redis.call('SET', key, owner, 'IFEQ', owner, 'PX', leaseMs)) === 'OK';
    },
  };
}
