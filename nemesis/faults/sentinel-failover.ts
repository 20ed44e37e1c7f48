/**
 * A planned failover by Sentinel: a replica is promoted at once, and the old primary, which nobody told, goes on taking
 * writes until the Sentinels find it, seconds later, and make it follow: it loses them all.
 *
 * How long that takes follows from Sentinel's `publish-period` (a primary that should be a replica is left alone for four
 * of them), which the deployment shortens. Shortened, a Sentinel also takes the replica that was just promoted for such a
 * primary, before it has heard of the failover, and undoes it. So the period is the server's own while the fault lasts.
 *
 * `info-period` is shortened too, and a replica of which a Sentinel has not heard for three of them is none to promote
 * (`-failover-abort-no-good-slave`): on a machine that is busy there was none, for while a failover is under way it asks but
 * once a second. So it is a second meanwhile.
 */
import type { ServerNode } from '../../harness/vocabulary/topology.js';
import { Refusal, waitFor, words } from '../levers/basics.js';
import type { Grip } from '../levers/network.js';
import type { NemesisContext, NemesisFault } from '../striking/context.js';
import { failOverPlanned, request, unfitUnless } from '../striking/planned.js';
import { mustBeOneOf } from './args.js';

/** In milliseconds, while the fault lasts. The first is Sentinel's own. */
const PERIODS_MS = { 'publish-period': 2_000, 'info-period': 1_000 };
/** How long to wait until a Sentinel has heard that a replica has its primary's writes. */
const REPLICA_TIMEOUT_MS = 6_000;
const REPLICA_POLL_MS = 50;

export const sentinelFailover: NemesisFault = {
  name: 'sentinel-failover',
  summary: 'a planned failover by Sentinel, which promotes a replica and only later demotes the primary',
  explained: {
    does: 'Once the servers are whole and the Sentinels have a quorum (`CKQUORUM`), and one of them has heard that a replica is linked to the primary, that one is told `SENTINEL FAILOVER`; meanwhile their `publish-period` is that of a production server again (2 s; four of them pass before the old primary is made to follow). It lasts until the old primary takes no more writes. `how: coordinated`, on servers that know it, has the primary hand over as `FAILOVER TO` does.',
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
        await inForce.addAll(alive(context).map((node) => ownPeriods(node)));
        await knowsAnHeir(sentinel, masterName, context);
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

/** Waits until the Sentinel has heard lately of a replica that it could promote. */
async function knowsAnHeir(sentinel: ServerNode, masterName: string, context: NemesisContext): Promise<void> {
  let told: string[] = [];
  const knowsOne = async () => {
    const replicas = await sentinel.fields('SENTINEL', 'REPLICAS', masterName);
    told = replicas.map((one) => `${one.get('name')}: ${one.get('flags')}, link ${one.get('master-link-status')}`);
    const isFit = (one: ReadonlyMap<string, string>) =>
      one.get('flags') === 'slave' &&
      one.get('master-link-status') === 'ok' &&
      Number(one.get('info-refresh')) <= PERIODS_MS['info-period'];
    return replicas.some(isFit) || undefined;
  };
  const doing = `before ${sentinel.name} knew a replica to promote`;
  if (!(await waitFor(knowsOne, { timeoutMs: REPLICA_TIMEOUT_MS, pollMs: REPLICA_POLL_MS, doing, context })))
    throw new Refusal(`${sentinel.name} knows of no replica that it could promote (${words(told)})`);
}

/** Gives the Sentinel other periods; undone, it has those that it had. A new process has them by itself. */
async function ownPeriods(node: ServerNode): Promise<Grip> {
  const periods = await periodsMs(node);
  const before = Object.fromEntries(Object.keys(PERIODS_MS).map((name) => [name, Number(periods.get(name))]));
  const set = async (wanted: Readonly<Record<string, number>>) => {
    await node.command('SENTINEL', 'DEBUG', ...Object.entries(wanted).flat());
    const now = await periodsMs(node);
    const said = Object.entries(wanted).map(([name, ms]) => {
      if (Number(now.get(name)) !== ms) throw new Error(`${node.name} has a ${name} of ${now.get(name)} ms, not ${ms}`);
      return `${name} of ${node.name}: ${ms} ms`;
    });
    return said.join(', ');
  };
  return { proof: await set(PERIODS_MS), effects: [], heal: () => set(before) };
}

async function periodsMs(node: ServerNode): Promise<ReadonlyMap<string, string>> {
  const [told] = await node.fields('SENTINEL', 'DEBUG');
  return told ?? new Map();
}

/** The sub-command's options are in no `COMMAND INFO`: its help names them. */
async function mustCoordinate(sentinel: ServerNode): Promise<void> {
  const help = await sentinel.command('SENTINEL', 'HELP');
  if (!String(help).includes('COORDINATED'))
    throw new Refusal(`${sentinel.name} does not know SENTINEL FAILOVER COORDINATED`);
}
