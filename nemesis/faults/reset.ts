/**
 * Connections that are reset, as by a firewall that lost its state or a proxy that was restarted: both ends are told that the
 * other has given up. What was under way may have been carried out or not, and clients connect again at once.
 */
import type { FaultRecord } from '../../harness/vocabulary/history.js';
import type { Host } from '../../harness/vocabulary/host.js';
import { Refusal, waitFor, words } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import { oneWay, type Pair } from '../levers/network.js';
import { type Connection, connectionsOf, endName } from '../striking/connections.js';
import type { NemesisContext, NemesisFault } from '../striking/context.js';
import { goOn, ongoing } from '../striking/ongoing.js';
import { namesOf, peersOf, resolveTarget } from '../striking/targets.js';
import { requireShapeable } from './degraded-links.js';

const POLL_MS = 10;
/** A kernel answers a SYN that does not belong once in half a second for each connection. */
const ASK_AGAIN_MS = 600;
const GONE_WITHIN_MS = 3_000;

export const reset: NemesisFault = {
  name: 'reset',
  summary: 'connections are reset: both ends are told that the other has given up',
  explained: {
    does: 'Every connection between the targets and all others gets a RST at both ends, with the numbers of the next segment on it; an idle one is made to send by a SYN that no peer would send. Again every 1.5 s while the step lasts. Links that are cut are left alone.',
    proof:
      'The connections are listed by the kernels of both ends before (`/proc/net/tcp`), and by neither after. Where one is still there, the strike is recorded as failed.',
    breaks:
      'What was under way may have been carried out: locks that take a broken connection for "not acquired" leave an orphaned key, and clients that send again on a new connection do it twice (see `reset-on-reply`). Subscriptions that are not renewed lose wake-ups.',
  },
  effects: ['connections-reset'],
  targets: ['primary', 'minority', 'one', 'client', 'holder', 'sentinel', 'all'],
  strikes: ['node', 'sentinel', 'client'],
  needs: ['link'],
  args: {},
  unfit: () => undefined,
  shape: (_topology, target) => ({
    lane: target === 'client' || target === 'holder' ? 'clients' : 'servers',
    forMs: { min: 1_000, max: 4_000 },
    leastMs: 500,
    settleMs: target === 'client' || target === 'holder' ? 0 : 500,
  }),
  async strike(step, context) {
    const sinceNs = context.clock.nowNs();
    const struck = await resolveTarget(step, context);
    const pairs = oneWay(
      struck.map(({ host }) => host),
      peersOf(struck, context),
    );
    await requireShapeable(pairs, context);
    const cycle = () => resetAll(pairs, namesOf(struck), context);
    const record = await cycle();
    const pace = { context, untilNs: sinceNs + step.forMs * 1e6, targets: namesOf(struck) };
    const more = ongoing(context, namesOf(struck), (signal) => goOn({ ...pace, signal }, cycle));
    return {
      sinceNs,
      record,
      async heal() {
        await more.stop();
        return 'what led packets to a link shaper went with each reset';
      },
    };
  },
};

type Told = Omit<FaultRecord, 'step' | 'fault' | 'state'>;

/** Resets them once; nothing of it lasts. */
async function resetAll(all: readonly Pair[], targets: string[], context: NemesisContext): Promise<Told> {
  const pairs = all.filter((pair) => !context.levers.network.isCut(pair));
  const before = await connectionsBetween(pairs);
  if (before.length === 0) throw new Refusal(`${words(targets)} had no connection that could be reset`);
  const between = pairs.filter((pair) => before.some((one) => one.pair === pair));
  await InForce.strike(async (inForce) => {
    await inForce.add(context.levers.links.shape(between, {}));
    await untilGone(before, context);
    await inForce.heal();
  });
  const sinceNs = context.clock.nowNs();
  const peers = words([...new Set(between.map(([, peer]) => peer.name))]);
  return {
    targets,
    did: `reset ${before.length} connection${before.length === 1 ? '' : 's'} of ${words(targets)} with ${peers}`,
    proof: `listed by the kernels of both ends before, by neither after: ${before.map(({ connection: { own, peer } }) => `${endName(own)} – ${endName(peer)}`).join(', ')}`,
    effects: [
      {
        kind: 'connections-reset',
        pairs: between.map(([from, to]) => [from.name, to.name]),
        sinceNs,
        untilNs: sinceNs,
      },
    ],
  };
}

interface Between {
  pair: Pair;
  connection: Connection;
}

async function connectionsBetween(pairs: readonly Pair[]): Promise<Between[]> {
  const hosts = [...new Set(pairs.map(([host]) => host))];
  const lists = new Map(await Promise.all(hosts.map(async (host) => [host, await connectionsOf(host)] as const)));
  return pairs.flatMap((pair) =>
    lists
      .get(pair[0])!
      .filter(({ isEstablished, peer }) => isEstablished && peer.address === pair[1].address)
      .map((connection) => ({ pair, connection })),
  );
}

async function untilGone(asked: readonly Between[], context: NemesisContext): Promise<void> {
  let left = [...asked];
  let askedNs = Number.NEGATIVE_INFINITY;
  const gone = async () => {
    if (context.clock.nowNs() - askedNs >= ASK_AGAIN_MS * 1e6) {
      askedNs = context.clock.nowNs();
      for (const { pair, connection } of left)
        await context.levers.links.reset(pair, connection.own.address, connection.own.port, connection.peer.port);
    }
    left = await stillThere(left);
    return left.length === 0 || undefined;
  };
  const timing = { timeoutMs: GONE_WITHIN_MS, pollMs: POLL_MS, doing: 'before connections were gone', context };
  if (await waitFor(gone, timing)) return;
  const names = left.map(({ connection: { own, peer } }) => `${endName(own)} – ${endName(peer)}`);
  throw new Error(`still there after ${GONE_WITHIN_MS} ms: ${names.join(', ')}`);
}

/** Those that the kernel of at least one end lists as established. */
export async function stillThere(some: readonly Between[]): Promise<Between[]> {
  const hosts = [...new Set(some.flatMap(({ pair }) => [...pair]))];
  const lists = await Promise.all(hosts.map(async (host) => [host, await connectionsOf(host)] as const));
  const listed = new Set(
    lists.flatMap(([host, list]) => list.flatMap((one) => (one.isEstablished ? [nameOn(host, one)] : []))),
  );
  return some.filter(({ pair: [own, peer], connection }) => {
    const seenFromPeer = { own: connection.peer, peer: connection.own };
    return listed.has(nameOn(own, connection)) || listed.has(nameOn(peer, seenFromPeer));
  });
}

function nameOn(host: Host, { own, peer }: Pick<Connection, 'own' | 'peer'>): string {
  return `${host.name} ${endName(own)} ${endName(peer)}`;
}
