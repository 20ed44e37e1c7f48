/**
 * Cuts hosts from each other. Established connections stall and recover when healed; neither end is notified.
 *
 * | mode       | what is cut |
 * | ---------- | ----------- |
 * | `both`     | the targets from everybody else, both ways |
 * | `out`      | what the targets send |
 * | `in`       | what is sent to the targets |
 * | `link`     | one link, both ways: between the two names given, or from one target to somebody it talks to |
 * | `minority` | the targets, a minority of the Sentinels and half of the clients from all the rest, both ways |
 * | `off`      | the targets' own network: their link is down |
 */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { Host } from '../../harness/vocabulary/host.js';
import { minorityOf, Refusal, words } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import { bothWays, oneWay, type Pair } from '../levers/network.js';
import type { NemesisContext, NemesisFault } from '../striking/context.js';
import { choose, namesOf, peersOf, resolveTarget, type Struck } from '../striking/targets.js';
import { mustBeOneOf } from './args.js';
import { requireOneWay } from './one-way.js';

const MODES = ['both', 'out', 'in', 'link', 'minority', 'off'] as const;
type Mode = (typeof MODES)[number];

export const partition: NemesisFault = {
  name: 'partition',
  summary:
    'cut hosts from each other: both ways, one way, a single link, a minority with its clients, or a host off the network',
  explained: {
    does: "Cuts hosts from each other: established connections stall and recover when healed, and neither end is notified. `mode`: `both` (the targets from everybody else), `out` (what they send), `in` (what is sent to them), `link` (one link), `minority` (the targets, a minority of the Sentinels and half of the clients, from the rest), `off` (the targets' network link is down).",
    proof:
      'The blackhole routes, or the link that is down, are read back from each host. A one-way cut is refused where reverse path filtering would make it a cut both ways.',
    breaks:
      'A primary cut off with its clients and replaced: exclusion on `sentinel` (`split-brain`, `failover-lost-write`). A holder that is cut off past its lease is a stale holder only if it does not heed its validity.',
  },
  effects: ['cut', 'off-network'],
  targets: ['minority', 'one', 'primary', 'replica', 'client', 'holder', 'sentinel', 'majority', 'all'],
  strikes: ['node', 'sentinel', 'client'],
  needs: ['network'],
  args: {
    mode: {
      means: `what is cut: ${MODES.join(', ')}, as said above; both if not given`,
      check: mustBeOneOf(MODES),
    },
  },
  unfit: () => undefined,
  shape: (_topology, target) =>
    target === 'client' || target === 'holder'
      ? {
          lane: 'clients',
          forMs: { min: 800, max: 3_000 },
          leastMs: 300,
          settleMs: 0,
          args: { mode: ['both', 'both', 'out', 'in', 'link', 'off'] },
        }
      : {
          lane: 'servers',
          forMs: { min: 1_500, max: 4_000 },
          leastMs: 500,
          settleMs: 2_000,
          args: { mode: ['both', 'both', 'out', 'in', 'link', 'minority', 'off'] },
        },
  async strike(step, context) {
    const mode = modeOf(step);
    const struck = await resolveTarget(step, context);
    if (mode === 'off') return takeOff(struck, context);
    const { pairs, did } = whatToCut(mode, struck, context);
    if (pairs.length === 0) throw new Refusal(`there is nothing to cut ${words(namesOf(struck))} from`);
    if (mode === 'out' || mode === 'in') await requireOneWay(pairs, context);
    const cut = await context.levers.network.cut(pairs);
    const { proof, effects, heal } = cut;
    return { record: { targets: namesOf(struck), did, proof, effects: [...effects] }, heal };
  },
};

function modeOf(step: PlanStep): Mode {
  return MODES.find((mode) => mode === step.args?.mode) ?? 'both';
}

async function takeOff(struck: readonly Struck[], context: NemesisContext) {
  return InForce.strike(async (inForce) => {
    const grips = await inForce.addAll(struck.map(({ host }) => context.levers.network.off(host)));
    return {
      record: {
        targets: namesOf(struck),
        did: `${words(namesOf(struck))} off the network`,
        proof: grips.map((grip) => grip.proof).join('; '),
        effects: grips.flatMap(({ effects }) => effects),
      },
      heal: () => inForce.heal(),
    };
  });
}

function whatToCut(
  mode: Exclude<Mode, 'off'>,
  struck: readonly Struck[],
  context: NemesisContext,
): { pairs: Pair[]; did: string } {
  const hosts = struck.map(({ host }) => host);
  const names = words(namesOf(struck));
  switch (mode) {
    case 'both':
      return { pairs: bothWays(hosts, peersOf(struck, context)), did: `cut ${names} from everybody else` };
    case 'out':
      return {
        pairs: oneWay(hosts, peersOf(struck, context)),
        did: `cut what ${names} send${struck.length === 1 ? 's' : ''}`,
      };
    case 'in':
      return { pairs: oneWay(peersOf(struck, context), hosts), did: `cut what is sent to ${names}` };
    case 'link': {
      const [from, to] = linkOf(struck, context);
      return { pairs: bothWays([from], [to]), did: `cut the link ${from.name} -x- ${to.name}` };
    }
    case 'minority': {
      const side = minoritySide(hosts, context);
      const rest = context.hosts.filter((host) => !side.includes(host));
      return { pairs: bothWays(side, rest), did: `cut ${words(side.map((host) => host.name))} from all the rest` };
    }
  }
}

function linkOf(struck: readonly Struck[], context: NemesisContext): [Host, Host] {
  if (struck.length === 2) return [struck[0]!.host, struck[1]!.host];
  const one = context.random.pick(struck);
  const peers = peersOf([one], context);
  if (peers.length === 0) throw new Refusal(`there is nothing to cut ${one.name} from`);
  return [one.host, context.random.pick(peers)];
}

function minoritySide(targets: readonly Host[], context: NemesisContext): Host[] {
  const sentinels = context.topology.sentinels.map((node) => node.host);
  const { clientHosts } = context;
  const joined = [
    ...choose(sentinels, minorityOf(sentinels.length), context),
    ...choose(clientHosts, Math.floor(clientHosts.length / 2), context),
  ];
  return context.hosts.filter((host) => targets.includes(host) || joined.includes(host));
}
