/**
 * A planned failover by Sentinel: a replica is promoted at once, and the old primary, which nobody told, goes on taking
 * writes until the Sentinels find it, seconds later, and make it follow: it loses them all.
 *
 * How long that takes follows from Sentinel's `publish-period` (a primary that should be a replica is left alone for four
 * of them), which the deployment shortens. Shortened, a Sentinel also takes the replica that was just promoted for such a
 * primary, before it has heard of the failover, and undoes it. So the period is the server's own while the fault lasts.
 */
import type { ServerNode } from '../../harness/vocabulary/topology.js';
import { Refusal } from '../levers/basics.js';
import type { Grip } from '../levers/network.js';
import type { NemesisContext, NemesisFault } from '../striking/context.js';
import { failOverPlanned, request, unfitUnless } from '../striking/planned.js';
import { mustBeOneOf } from './args.js';

/** Sentinel's own, in milliseconds. */
const PUBLISH_PERIOD_MS = 2_000;

export const sentinelFailover: NemesisFault = {
  name: 'sentinel-failover',
  summary: 'a planned failover by Sentinel, which promotes a replica and only later demotes the primary',
  explained: {
    does: 'Once the servers are whole and the Sentinels have a quorum (`CKQUORUM`), one of them is told `SENTINEL FAILOVER`; meanwhile their `publish-period` is that of a production server again (2 s; four of them pass before the old primary is made to follow). It lasts until the old primary takes no more writes. `how: coordinated`, on servers that know it, has the primary hand over as `FAILOVER TO` does.',
    proof:
      'The Sentinels must name another primary, whose own `ROLE` agrees; the fault is over when that of the old one is `slave`, and the record says after how long. An OK proves nothing.',
    breaks:
      'Every lock that trusts one primary: exclusion (`split-brain`, `failover-lost-write`), by plain maintenance and without a crash. What the old primary granted after the promotion is lost when it is made to follow. `coordinated` breaks nothing (Valkey 9: the old primary follows within two seconds, with every write).',
  },
  effects: ['replaced'],
  targets: ['primary'],
  strikes: ['node'],
  needs: ['redis'],
  args: {
    how: {
      means: 'whether the primary is asked to hand over first; forced if not given',
      check: mustBeOneOf(['forced', 'coordinated']),
    },
  },
  unfit: unfitUnless('sentinel'),
  // Measured: the old primary goes on for 10 to 12 s; the record has how long it was.
  shape: () => ({ lane: 'servers', forMs: { min: 12_000, max: 13_000 }, leastMs: 3_000, settleMs: 1_500 }),
  strike: (step, context) =>
    failOverPlanned(
      async (_shard, inForce) => {
        const sentinel = anySentinel(context);
        const { masterName } = sentinelsOf(context);
        const quorum = await sentinel
          .command('SENTINEL', 'CKQUORUM', masterName)
          .catch((error: Error) => error.message);
        if (!String(quorum).startsWith('OK')) throw new Refusal(`${sentinel.name}: ${String(quorum)}`);
        const coordinated = step.args?.how === 'coordinated';
        if (coordinated) await mustCoordinate(sentinel);
        await inForce.addAll(alive(context).map((node) => ownPeriod(node)));
        await request(sentinel, 'SENTINEL', 'FAILOVER', masterName, ...(coordinated ? ['COORDINATED'] : []));
        return { did: `SENTINEL FAILOVER${coordinated ? ' COORDINATED' : ''} by ${sentinel.name}` };
      },
      step,
      context,
    ),
};

function sentinelsOf({ topology }: NemesisContext) {
  const described = topology.describe();
  if (described.kind !== 'sentinel') throw new Refusal(`${topology.name} has no Sentinels`);
  return described;
}

function alive({ topology, levers }: NemesisContext): ServerNode[] {
  return topology.sentinels.filter((node) => !levers.kill.isDown(node));
}

function anySentinel(context: NemesisContext): ServerNode {
  const sentinels = alive(context);
  if (sentinels.length === 0) throw new Refusal('no Sentinel runs');
  return context.random.pick(sentinels);
}

/** Gives the Sentinel its own period; undone, it has the one that it had. A new process has that by itself. */
async function ownPeriod(node: ServerNode): Promise<Grip> {
  const beforeMs = await publishPeriodMs(node);
  const set = async (ms: number) => {
    await node.command('SENTINEL', 'DEBUG', 'publish-period', ms);
    const nowMs = await publishPeriodMs(node);
    if (nowMs !== ms) throw new Error(`${node.name} has a publish-period of ${nowMs} ms, not ${ms}`);
    return `publish-period of ${node.name}: ${nowMs} ms`;
  };
  return { proof: await set(PUBLISH_PERIOD_MS), effects: [], heal: () => set(beforeMs) };
}

async function publishPeriodMs(node: ServerNode): Promise<number> {
  const told = await node.command('SENTINEL', 'DEBUG');
  const flat = Array.isArray(told) ? told.map(String) : [];
  return Number(flat[flat.findIndex((name) => name.toLowerCase() === 'publish-period') + 1]);
}

/** The sub-command's options are in no `COMMAND INFO`: its help names them. */
async function mustCoordinate(sentinel: ServerNode): Promise<void> {
  const help = await sentinel.command('SENTINEL', 'HELP');
  if (!String(help).includes('COORDINATED'))
    throw new Refusal(`${sentinel.name} does not know SENTINEL FAILOVER COORDINATED`);
}
