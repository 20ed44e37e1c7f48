/**
 * SET NX PX on a Cluster, by a client that finds the node of a key by itself: it asks one primary after the other, from any of
 * them on, until one does not send it elsewhere. How it asks is what the canary gets wrong.
 */
import type { Cluster, Redis } from 'ioredis';
import type { AcquireOptions, LockDefinition } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { releaseIfMine } from '../scripts/release-if-mine.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

type Argv = readonly [command: string, ...args: (string | number)[]];

/** Sends a command to one node; rejects with what the node answers where that is an error, `MOVED` and `ASK` too. */
export type AskNode = (node: Redis, argv: Argv) => Promise<unknown>;

export function redirectedLock(name: string, ask: AskNode): LockDefinition {
  return defineLock({
    name,
    topologies: ['cluster'],
    async connect(access) {
      const cluster = (await access.redis()) as unknown as Cluster;
      const send = (argv: Argv) => {
        const nodes = cluster.nodes('master');
        const first = access.random.int(0, Math.max(0, nodes.length - 1));
        return askInTurn([...nodes.slice(first), ...nodes.slice(0, first)], argv, ask);
      };
      const attempt = async (key: string, leaseMs: number): Promise<Attempt> => {
        const owner = access.randomValue();
        const grantSentNs = access.nowNs();
        const reply = await send(['SET', key, owner, 'PX', leaseMs, 'NX']);
        if (reply === null) return { refusedBecause: 'held' };
        const release = async () => (await send(['EVAL', releaseIfMine, 1, key, owner])) === 1;
        return { hold: { release, grantSentNs, validForMs: validForMs(access, grantSentNs, leaseMs) } };
      };
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(key, options.leaseMs)),
      };
    },
  });
}

/** The answer of the first primary that does not say that the key is another's (`MOVED`). */
async function askInTurn(nodes: readonly Redis[], argv: Argv, ask: AskNode): Promise<unknown> {
  let last = new Error('no primary is known');
  for (const node of nodes) {
    try {
      return await ask(node, argv);
    } catch (error) {
      const [code, , address] = (error as Error).message.split(' ');
      last = error as Error;
      if (code === 'MOVED') continue;
      const other = code === 'ASK' && nodes.find((one) => addressOf(one) === address);
      if (!other) throw error;
      return askingFirst(other, argv);
    }
  }
  throw last;
}

function addressOf({ options }: Redis): string {
  return `${options.host}:${options.port}`;
}

/** With ASKING before it a node also answers for a slot that is only coming to it. */
export async function askingFirst(node: Redis, [command, ...args]: Argv): Promise<unknown> {
  const [, answer] =
    (await node
      .pipeline()
      .call('ASKING')
      .call(command, ...args)
      .exec()) ?? [];
  const [error, reply] = answer ?? [new Error('no answer')];
  if (error) throw error;
  return reply;
}
