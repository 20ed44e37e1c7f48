/**
 * What `forget-granted` and `skew-granted` share. In a quiet Redlock nearly every grant stands on all nodes, and one
 * node that forgets changes nothing. So: cut a minority of nodes from all clients, wait for a grant, which can only
 * stand on the bare majority that is left, heal the cut, and at once make one of its grantors lose it. Repeated for as
 * long as the step lasts, as often as the minority rule allows.
 *
 * A lock that needs all nodes is granted to nobody under such a cut: then nothing is cut, and one of all loses a grant.
 */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { FaultRecord } from '../../harness/vocabulary/history.js';
import type { Host } from '../../harness/vocabulary/host.js';
import type { ServerNode } from '../../harness/vocabulary/topology.js';
import { Interrupted, minorityOf, Refusal, words } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import { ended, oneWay } from '../levers/network.js';
import type { ActiveNemesis, NemesisContext, NemesisFault } from '../striking/context.js';
import { GrantWatch } from '../striking/grants.js';
import { atMost, goOn } from '../striking/ongoing.js';
import { isNode, namesOf, resolveTarget } from '../striking/targets.js';
import { wholeNumber } from './args.js';

/** Makes one node lose what it granted; resolves with what was read back. */
export type Lose = (
  node: ServerNode,
  inForce: InForce,
  context: NemesisContext,
) => Promise<Pick<FaultRecord, 'did' | 'proof' | 'effects'>>;

/** At the end of a step, for striking at what there is. */
const LAST_STRIKE_MS = 500;
const POLL_MS = 50;

/** One strike: everything that its cycles need. */
interface Hunt {
  step: PlanStep;
  context: NemesisContext;
  lose: Lose;
  inForce: InForce;
  untilNs: number;
  /** Aborts when the strike is healed or the run ends. */
  signal: AbortSignal;
}

type Cycle = Omit<FaultRecord, 'step' | 'fault' | 'state'>;

/** A fault of this kind: `lose` makes one: how the grantor loses what it granted. */
export function grantedFault(
  kind: Pick<NemesisFault, 'name' | 'summary' | 'explained' | 'effects' | 'needs'>,
  lose: (context: NemesisContext) => Lose,
): NemesisFault {
  return {
    ...kind,
    targets: ['minority'],
    strikes: ['node'],
    args: {
      times: { means: 'how often at the most; as often as may be if not given', check: wholeNumber(1, 1_000) },
    },
    unfit: ({ name, quorum }) => (quorum === 'majority' ? undefined : `there are no independent grantors on ${name}`),
    shape: (_topology, _target, leaseMs) => ({
      lane: 'servers',
      forMs: { min: Math.min(leaseMs, 5_000), max: Math.min(Math.round(1.2 * leaseMs), 6_000) },
      leastMs: 2_000,
      settleMs: 1_000,
    }),
    strike: (step, context) => strikeGranted(step, context, lose(context)),
  };
}

/** Strikes at the first grant; goes on in the background until it is healed. */
async function strikeGranted(step: PlanStep, context: NemesisContext, lose: Lose): Promise<ActiveNemesis> {
  const sinceNs = context.clock.nowNs();
  const untilNs = sinceNs + step.forMs * 1e6;
  const stop = new AbortController();
  const end = () => stop.abort();
  context.signal.addEventListener('abort', end, { once: true });
  return InForce.strike(async (inForce) => {
    const hunt: Hunt = { step, context, lose, inForce, untilNs, signal: stop.signal };
    const first = await cycle(hunt);
    const often = step.args?.times;
    const again = atMost(typeof often === 'number' ? often - 1 : undefined, () => cycle(hunt));
    const more = goOn({ ...hunt, targets: [] }, again);
    return {
      sinceNs,
      record: first,
      heal: async () => {
        end();
        context.signal.removeEventListener('abort', end);
        await more;
        return (await inForce.heal()) || 'nothing was left in force';
      },
    };
  });
}

async function cycle(hunt: Hunt): Promise<Cycle> {
  const { context, inForce } = hunt;
  const away = await whomToCut(hunt);
  if (context.needsAllNodes) return strikeGrantOfAll(hunt);
  const grantors = context.topology.nodes.filter((node) => !away.includes(node));
  const victim = await pickVictim(grantors, hunt);
  const clients = context.clientHosts;
  // Only what clients send is cut: a node that hears nothing grants nothing, and its goodbyes still arrive.
  const pairs = oneWay(
    clients,
    away.map((node) => node.host),
  );
  const names = words(away.map((node) => node.name));
  const cut = await inForce.add(context.levers.network.cut(pairs));
  let untilNs: number | undefined;
  try {
    // Else what clients send meanwhile would wait in their kernels, arrive when the cut is healed, and complete the
    // grant on these nodes after all. It also lets clients fail at once instead of waiting for a silent node.
    await Promise.all(away.map((node) => dropConnections(node, clients)));
    context.note({
      state: 'phase',
      targets: away.map((node) => node.name),
      did: `cut what all clients send to ${names}, and ended their connections`,
      proof: cut.proof,
      effects: [...cut.effects],
    });
    using grants = new GrantWatch(context, context.clock.nowNs());
    const held = await worthLosing(grants, away, hunt);
    if (held.length === 0) throw new Error(`no lock was granted while ${names} were cut off`);
    untilNs = context.clock.nowNs();
    const [loss] = await Promise.all([strikeOne(victim, hunt), cut.heal()]);
    const who = held.map(holding).join(', ');
    return {
      targets: [victim.name],
      did: `${who}, granted by ${words(grantors.map((node) => node.name))} only; cut healed; ${loss.did}`,
      proof: loss.proof,
      effects: [...ended(cut.effects, untilNs), ...loss.effects],
    };
  } catch (error) {
    untilNs ??= context.clock.nowNs();
    const proof = await cut.heal();
    const targets = away.map((node) => node.name);
    const effects = ended(cut.effects, untilNs);
    context.note({ state: 'phase', targets, did: `what clients send reaches ${names} again`, proof, effects });
    throw error;
  }
}

/** One of all nodes loses what every one of them granted. */
async function strikeGrantOfAll(hunt: Hunt): Promise<Cycle> {
  const { context, untilNs, signal } = hunt;
  const victim = await pickVictim(context.topology.nodes, hunt);
  using grants = new GrantWatch(context, context.clock.nowNs());
  const held = await grants.settled(untilNs, async () => true, { signal });
  if (held.length === 0) throw new Error('no lock was granted while all nodes could be reached');
  const loss = await strikeOne(victim, hunt);
  return {
    targets: [victim.name],
    did: `${held.map(holding).join(', ')}, granted by all nodes; ${loss.did}`,
    proof: loss.proof,
    effects: loss.effects,
  };
}

function holding({ client, key }: { client: string; key: string }): string {
  return `${client} holds ${key}`;
}

/**
 * Grants that somebody else can win once the victim has lost them: the nodes that are away must not have the key either.
 * They often do: its holder at the time of the cut cannot release it there, and it stays until its lease is over.
 * With no such grant in time, any will do.
 */
async function worthLosing(grants: GrantWatch, away: readonly ServerNode[], { context, untilNs, signal }: Hunt) {
  const freeElsewhere = async ({ key }: { key: string }) => {
    const found = await Promise.all(away.map((node) => node.command('EXISTS', context.keyName(key))));
    return found.every((count) => Number(count) === 0);
  };
  const best = await grants.settled(untilNs - LAST_STRIKE_MS * 1e6, freeElsewhere, { signal });
  return best.length > 0 ? best : grants.settled(untilNs, async () => true, { signal });
}

async function strikeOne(victim: ServerNode, { lose, inForce, context }: Hunt) {
  const objection = context.levers.memory.objection([victim.name]);
  if (objection) throw new Refusal(objection);
  const loss = context.levers.memory.count([victim.name]);
  try {
    return await lose(victim, inForce, context);
  } finally {
    loss.end();
  }
}

/** As many nodes as can be missing while a lock can still be acquired. */
async function whomToCut({ step, context }: Hunt): Promise<ServerNode[]> {
  const { nodes } = context.topology;
  const down = nodes.filter((node) => context.levers.kill.isDown(node) || context.levers.pause.isPaused(node.process));
  if (down.length > 0) throw new Refusal(`${words(down.map((node) => node.name))} must run for this`);
  const struck = (await resolveTarget(step, context)).filter(isNode);
  if (struck.length !== minorityOf(nodes.length)) {
    throw new Refusal(`${words(namesOf(struck))} cut off does not leave a bare majority of ${nodes.length}`);
  }
  return struck.map(({ node }) => node);
}

/** One of the grantors that may forget by the minority rule; waits until one may. */
async function pickVictim(grantors: readonly ServerNode[], { context, untilNs, signal }: Hunt): Promise<ServerNode> {
  for (;;) {
    const allowed = grantors.filter((node) => !context.levers.memory.objection([node.name]));
    if (allowed.length > 0) return context.random.pick(allowed);
    if (signal.aborted) throw new Interrupted('while too many nodes had forgotten lately');
    if (context.clock.nowNs() > untilNs)
      throw new Refusal(context.levers.memory.objection([grantors[0]!.name]) ?? 'too late');
    await context.clock.sleep(POLL_MS, signal);
  }
}

/** Ends the connections that clients have to a node. */
async function dropConnections(node: ServerNode, clients: readonly Host[]): Promise<void> {
  const listed = String(await node.command('CLIENT', 'LIST', 'TYPE', 'normal'));
  const addresses = new Set(clients.map((host) => host.address));
  for (const line of listed.split('\n')) {
    const [, id] = /\bid=(\d+)/.exec(line) ?? [];
    const [, address] = /\baddr=([\d.]+):/.exec(line) ?? [];
    // It may have gone by itself since it was listed: CLIENT KILL then kills nothing and says so.
    if (id && address && addresses.has(address)) await node.command('CLIENT', 'KILL', 'ID', id);
  }
}
