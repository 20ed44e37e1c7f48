/**
 * Connections that are reset, as by a firewall that lost its state or a proxy that was restarted: both ends are told that the
 * other has given up. What was under way may have been carried out or not, and clients connect again: at once, or when who
 * stands between them and the server is back.
 */
import type { FaultRecord } from '../../harness/vocabulary/history.js';
import type { Host } from '../../harness/vocabulary/host.js';
import { Refusal, waitFor, words } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import { ended, oneWay, type Pair } from '../levers/network.js';
import { type Connection, connectionsOf, endName } from '../striking/connections.js';
import type { NemesisContext, NemesisFault } from '../striking/context.js';
import { goOn, ongoing } from '../striking/ongoing.js';
import { namesOf, peersOf, resolveTarget } from '../striking/targets.js';
import { wholeNumber } from './args.js';
import { requireShapeable } from './degraded-links.js';

const POLL_MS = 10;
/** A kernel answers a SYN that does not belong once in half a second for each connection. */
const ASK_AGAIN_MS = 600;
const GONE_WITHIN_MS = 3_000;
const ALL_PPM = 1_000_000;

export const reset: NemesisFault = {
  name: 'reset',
  summary: 'connections are reset: both ends are told that the other has given up',
  explained: {
    does: 'Every connection between the targets and all others gets a RST at both ends, with the numbers of the next segment on it; an idle one is made to send by a SYN that no peer would send. For `awayMs` after that nothing that the targets send arrives, so that nobody can connect again. Again every 1.5 s while the step lasts. Links that are cut are left alone.',
    proof:
      'The connections are listed by the kernels of both ends before (`/proc/net/tcp`), and by neither after. Where one is still there, the strike is recorded as failed. With `awayMs` the link shaper must say that it loses all that is sent.',
    breaks:
      'What was under way may have been carried out: locks that take a broken connection for "not acquired" leave an orphaned key, and clients that send again on a new connection do it twice (see `reset-on-reply`). Subscriptions that are not renewed lose wake-ups.',
  },
  effects: ['connections-reset', 'degraded'],
  targets: ['primary', 'minority', 'one', 'client', 'holder', 'sentinel', 'all'],
  strikes: ['node', 'sentinel', 'client'],
  needs: ['link'],
  args: {
    awayMs: {
      means: 'how long nobody can connect again, as while a proxy restarts; 0 if not given',
      unit: 'ms',
      check: wholeNumber(0, 60_000),
    },
  },
  unfit: () => undefined,
  shape: (_topology, target) => ({
    lane: target === 'client' || target === 'holder' ? 'clients' : 'servers',
    forMs: { min: 1_000, max: 4_000 },
    // All of a server's at once take a busy machine as long.
    leastMs: target === 'client' || target === 'holder' ? 500 : 1_100,
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
    const awayMs = Number(step.args?.awayMs ?? 0);
    const cycle = () => resetAll(pairs, namesOf(struck), awayMs, context);
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

/** Resets them once; nothing of it lasts longer than they are away. */
async function resetAll(
  all: readonly Pair[],
  targets: string[],
  awayMs: number,
  context: NemesisContext,
): Promise<Told> {
  const pairs = all.filter((pair) => !context.levers.network.isCut(pair));
  const before = await connectionsBetween(pairs);
  if (before.length === 0) throw new Refusal(`${words(targets)} had no connection that could be reset`);
  const between = pairs.filter((pair) => before.some((one) => one.pair === pair));
  const { clock, signal } = context;
  const { gone, ...away } = await InForce.strike(async (inForce) => {
    await inForce.add(context.levers.links.shape(between, {}));
    const asked = new Asked(before, context);
    await asked.ask();
    // Not before: who waits for an answer when its connection breaks would be in doubt, and everybody would soon.
    const links = awayMs > 0 ? await inForce.add(context.levers.links.shape(between, { lossPpm: ALL_PPM })) : undefined;
    const gone = await asked.untilGone();
    const goneNs = clock.nowNs();
    if (awayMs > 0) await clock.sleep(awayMs, signal);
    const untilNs = clock.nowNs();
    await inForce.heal();
    return { gone, goneNs, effects: links ? ended(links.effects, untilNs) : [], proof: links?.proof };
  });
  const sinceNs = away.goneNs;
  const struck = pairs.filter((pair) => gone.some((one) => one.pair === pair));
  const peers = words(struck.map(([, peer]) => peer.name));
  return {
    targets,
    did: `reset ${gone.length} connection${gone.length === 1 ? '' : 's'} of ${words(targets)} with ${peers}${awayMs > 0 ? `, and let nobody connect for ${awayMs} ms` : ''}`,
    proof: `listed by the kernels of both ends before, by neither after: ${gone.map(({ connection: { own, peer } }) => `${endName(own)} – ${endName(peer)}`).join(', ')}${away.proof === undefined ? '' : `; nothing comes from ${words(targets)}: ${away.proof}`}`,
    effects: [
      {
        kind: 'connections-reset',
        // Of one that was cut off, too, an end may have been told.
        pairs: between.map(([from, to]) => [from.name, to.name]),
        sinceNs,
        untilNs: sinceNs,
      },
      ...away.effects,
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

/** Connections that were asked to be reset. */
class Asked {
  private left: readonly Between[];
  private askedNs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly asked: readonly Between[],
    private readonly context: NemesisContext,
  ) {
    this.left = asked;
  }

  async ask(): Promise<void> {
    const { clock, levers } = this.context;
    this.askedNs = clock.nowNs();
    for (const { pair, connection } of this.left)
      await levers.links.reset(pair, connection.own.address, connection.own.port, connection.peer.port);
  }

  /** Resolves with them when no kernel lists them any more; without those whose links another fault has cut meanwhile. */
  async untilGone(): Promise<Between[]> {
    const { asked, context } = this;
    const isCut = ({ pair }: Between) => context.levers.network.isCut(pair);
    const cutOff = new Set<Between>();
    const gone = async () => {
      const there = await stillThere(this.left);
      for (const one of there.filter(isCut)) cutOff.add(one);
      this.left = there.filter((one) => !cutOff.has(one));
      if (this.left.length === 0) return asked.filter((one) => !cutOff.has(one));
      if (context.clock.nowNs() - this.askedNs >= ASK_AGAIN_MS * 1e6) await this.ask();
      return undefined;
    };
    const timing = { timeoutMs: GONE_WITHIN_MS, pollMs: POLL_MS, doing: 'before connections were gone', context };
    const done = await waitFor(gone, timing);
    if (done?.length === 0) throw new Refusal('the links of all connections that were to be reset have been cut');
    if (done) return done;
    const names = this.left.map(({ connection: { own, peer } }) => `${endName(own)} – ${endName(peer)}`);
    throw new Error(`still there after ${GONE_WITHIN_MS} ms: ${names.join(', ')}`);
  }
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
