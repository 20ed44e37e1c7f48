/**
 * What all faults have in common that degrade links instead of cutting them. Each packet of one direction is treated by itself,
 * so what is asked for both ways happens on the way there and again on the way back.
 */
import type { PlanStep, TargetRole } from '../../harness/vocabulary/faults.js';
import type { LinkShape } from '../../harness/vocabulary/host.js';
import { Refusal, words } from '../levers/basics.js';
import { oneWay, type Pair } from '../levers/network.js';
import type { ArgumentRule, NemesisContext, NemesisFault } from '../striking/context.js';
import { namesOf, peersOf, resolveTarget, type Struck } from '../striking/targets.js';
import { mustBeOneOf, wholeNumber } from './args.js';

const LATE_MS_MAX = 60_000;

const DIRECTIONS = ['both', 'out', 'in'] as const;
type Direction = (typeof DIRECTIONS)[number];

/** What one of them says of itself. */
export interface DegradingWords {
  name: string;
  summary: string;
  /** What happens to the packets, in Markdown sentences. */
  does: string;
  breaks: string;
  args: Record<string, ArgumentRule>;
  /** What plans draw the arguments from. */
  drawn: Record<string, readonly number[]>;
  shape(argument: (name: string, otherwise: number) => number): Partial<LinkShape>;
  /** What becomes of the packets: "50 ms later". */
  inWords(shape: Partial<LinkShape>): string;
}

const TARGETS: readonly TargetRole[] = [
  'primary',
  'minority',
  'one',
  'client',
  'holder',
  'replica',
  'sentinel',
  'majority',
  'all',
];

export function degradingFault(one: DegradingWords): NemesisFault {
  return {
    name: one.name,
    summary: one.summary,
    explained: {
      does: `${one.does} \`direction\`: \`out\` (what the targets send), \`in\` (what is sent to them), \`both\`. Of several such faults on one link the delays add up, each loses its share of what the other leaves, and the slowest rate counts. Established connections go on. Where the primary has an address that moves (\`replica\`), what clients send to it is left as it is.`,
      proof:
        "The routes that lead to the link shaper are read back from each host, and which way a packet to each peer goes (`ip route get`), and the shaper's answer must say what it was asked for. The heal reads back that the routes are gone, and says how many packets it took, what it did to them, and how much later than asked it released one at the most. In virtual time the network itself is read back, and the heal says how many messages it carried and what became of them.",
      breaks: one.breaks,
    },
    effects: ['degraded'],
    targets: TARGETS,
    strikes: ['node', 'sentinel', 'client'],
    needs: ['link'],
    args: {
      ...one.args,
      direction: {
        means: `which packets: ${DIRECTIONS.join(', ')}, as said above; both if not given`,
        check: mustBeOneOf(DIRECTIONS),
      },
      lateMs: {
        means:
          'how much later than asked a packet may go on its way; if one did, the verdict is `unknown` where nothing is found; not looked at if not given',
        unit: 'ms',
        check: wholeNumber(1, LATE_MS_MAX),
      },
    },
    unfit: () => undefined,
    shape: (_topology, target) => {
      const args = { ...one.drawn, direction: ['both', 'both', 'out', 'in'] };
      return target === 'client' || target === 'holder'
        ? { lane: 'clients', forMs: { min: 800, max: 3_000 }, leastMs: 300, settleMs: 0, args }
        : { lane: 'servers', forMs: { min: 1_500, max: 4_000 }, leastMs: 500, settleMs: 1_000, args };
    },
    async strike(step, context) {
      const shape = one.shape((name, otherwise) => numberOf(step, name) ?? otherwise);
      const struck = await resolveTarget(step, context);
      const direction = DIRECTIONS.find((known) => known === step.args?.direction) ?? 'both';
      const pairs = pairsOf(struck, direction, context);
      if (pairs.length === 0) throw new Refusal(`there is no link of ${words(namesOf(struck))} that can be degraded`);
      await requireShapeable(pairs, context);
      const grip = await context.levers.links.shape(pairs, shape);
      return {
        record: {
          targets: namesOf(struck),
          did: `degraded ${whatOf(struck, direction)}: ${one.inWords(shape)}`,
          proof: grip.proof,
          effects: [...grip.effects],
        },
        heal: grip.heal,
        meanwhile: grip.meanwhile,
        late: () => lateness(grip.latestMs(), numberOf(step, 'lateMs')),
      };
    },
  };
}

function lateness(latestMs: number, allowedMs: number | undefined): string | undefined {
  if (allowedMs === undefined || latestMs <= allowedMs) return undefined;
  const told = Number.isFinite(latestMs) ? `up to ${latestMs.toFixed(1)} ms later than asked` : 'nobody knows how late';
  return `${told}, and ${allowedMs} ms are allowed`;
}

/** With reverse path filtering the kernel drops what comes from a peer to which the way leads through a shaper. */
export async function requireShapeable(pairs: readonly Pair[], context: NemesisContext): Promise<void> {
  const senders = [...new Map(pairs.map(([from]) => [from.name, from])).values()];
  const trouble = await context.levers.network.oneWayTrouble(senders);
  if (trouble.length === 0) return;
  throw new Refusal(
    `a link that is led through a shaper would be cut here: ${trouble.join('; ')}; remedy: sysctl net.ipv4.conf.all.rp_filter=0 and default.rp_filter=0`,
  );
}

function pairsOf(struck: readonly Struck[], direction: Direction, context: NemesisContext): Pair[] {
  const hosts = struck.map(({ host }) => host);
  const peers = peersOf(struck, context);
  const pairs = [
    ...(direction === 'in' ? [] : oneWay(hosts, peers)),
    ...(direction === 'out' ? [] : oneWay(peers, hosts)),
  ];
  return pairs.filter((pair) => !goesToMovingAddress(pair, context));
}

/** Clients send to the address that moves between the nodes, not to the node's own. */
function goesToMovingAddress([from, to]: Pair, { topology, clientHosts }: NemesisContext): boolean {
  if (topology.describe().kind !== 'replica') return false;
  return clientHosts.includes(from) && topology.nodes.some(({ host }) => host === to);
}

function whatOf(struck: readonly Struck[], direction: Direction): string {
  const names = words(namesOf(struck));
  const [send, are] = struck.length === 1 ? ['sends', 'is'] : ['send', 'are'];
  const said = { both: `${send} and ${are} sent`, out: send, in: `${are} sent` };
  return `what ${names} ${said[direction]}`;
}

function numberOf({ args }: PlanStep, name: string): number | undefined {
  const value = args?.[name];
  return typeof value === 'number' ? value : undefined;
}
