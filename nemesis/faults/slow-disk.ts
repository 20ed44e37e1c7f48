/**
 * A server whose disk is slow: each sync of a file takes so long. With `appendfsync always` the server answers nobody meanwhile; with
 * `everysec` a thread syncs, and what is written meanwhile waits for it, so that a power cut takes more.
 *
 * Excludes real time, where a disk is the machine's, and servers that keep no log, which sync nothing.
 */
import { Refusal, words } from '../levers/basics.js';
import type { NemesisFault } from '../striking/context.js';
import { isNode, namesOf, resolveTarget, type StruckNode } from '../striking/targets.js';
import { wholeNumber } from './args.js';

const SYNC_MS = 20;
/** The record of a command comes as late as its answer: no later than where causes still expect it. */
const SYNC_MS_MAX = 500;

export const slowDisk: NemesisFault = {
  name: 'slow-disk',
  summary: 'a sync of a file takes its server so long (hunts only)',
  explained: {
    does: 'Every sync that begins takes `syncMs`. With `--persistence aof-always` the server does nothing else meanwhile, and answers what it has carried out only then; with `aof-everysec` its thread syncs, and Redis writes to its log only when that is done, or after two seconds. A server that starts anew meanwhile syncs as slowly. What is synced when a server dies or loses power is not durable.',
    proof: 'The simulated disk says that syncs take so long; the heal says how many there were.',
    breaks:
      'Locks that count their lease from when the answer comes, and not from when they asked: with `aof-always` every grant and renewal is answered `syncMs` late, and what waits behind it later. With `aof-everysec` `power-cut` takes what was granted for longer before.',
  },
  effects: ['syncs-slowly'],
  targets: ['primary', 'one', 'minority', 'replica', 'majority', 'all'],
  strikes: ['node'],
  needs: ['sync-time'],
  args: {
    syncMs: {
      means: `how long each sync takes; ${SYNC_MS} if not given`,
      unit: 'ms',
      check: wholeNumber(1, SYNC_MS_MAX),
    },
  },
  unfit: () => undefined,
  shape: (_topology, _target, leaseMs) => ({
    lane: 'servers',
    forMs: { min: Math.round(leaseMs / 2), max: 2 * leaseMs },
    leastMs: 100,
    settleMs: 500,
    args: { syncMs: [5, 20, 80, 300] },
  }),
  async strike(step, context) {
    if (!context.persistence.startsWith('aof-')) throw new Refusal('servers that keep no log sync nothing');
    const struck = (await resolveTarget(step, context)).filter(isNode);
    const disks = struck.map(diskOf);
    if (disks.some(({ syncMs }) => syncMs > 0)) throw new Refusal('its disk is slow already');
    const syncMs = typeof step.args?.syncMs === 'number' ? step.args.syncMs : SYNC_MS;
    const before = disks.map(({ syncs }) => syncs);
    for (const disk of disks) disk.setSyncTime(syncMs);
    const names = namesOf(struck);
    return {
      record: {
        targets: names,
        did: `a sync takes ${words(names)} ${syncMs} ms`,
        proof: disks.map((disk, n) => `a sync takes ${names[n]} ${disk.syncMs} ms`).join('; '),
        effects: [{ kind: 'syncs-slowly', who: names, syncMs, sinceNs: context.clock.nowNs() }],
      },
      async heal() {
        for (const disk of disks) disk.setSyncTime(0);
        const made = disks.map((disk, n) => `${disk.syncs - before[n]!} of ${names[n]}`);
        return `syncs take no time again, after ${words(made)}`;
      },
    };
  },
};

/** Throws a Refusal where the disk is the machine's. */
function diskOf({ host, name }: StruckNode) {
  if (!host.ownDisk) throw new Refusal(`the disk of ${name} is the machine’s`);
  return host.ownDisk;
}
