/**
 * A command is carried out, its answer is lost, and its connection is reset at once. The client hears of a broken connection
 * and of nothing else: it cannot know whether the command was carried out. One that connects again and sends it again, as
 * ioredis does unless it is told not to, has it carried out twice.
 *
 * Excludes what `lost-reply` is about: there the answer is awaited until a time-out, and nobody can send again meanwhile.
 */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { FaultRecord } from '../../harness/vocabulary/history.js';
import type { Host } from '../../harness/vocabulary/host.js';
import type { ServerNode } from '../../harness/vocabulary/topology.js';
import { Refusal, waitFor, words } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import type { Pair } from '../levers/network.js';
import { AwaitedLocks } from '../striking/awaited.js';
import { type Connection, connectionsOf } from '../striking/connections.js';
import type { NemesisContext, NemesisFault } from '../striking/context.js';
import { goOn, ongoing } from '../striking/ongoing.js';
import { resolveTarget, type Struck, type StruckClient, struckClient } from '../striking/targets.js';
import { mustBeOneOf } from './args.js';
import { requireShapeable } from './degraded-links.js';
import { stillThere } from './reset.js';

const POLL_MS = 5;
/** MONITOR and the end of a connection are told within milliseconds of it. */
const SHOWN_WITHIN_MS = 2_000;
/** One client is struck, and the others go on: no time is needed for them to come back. */
const BREATH_MS = 100;
/** One of any clients that is not answered so soon holds a lock for long, or waits for one: another is. */
const ANSWERED_WITHIN_MS = 250;
/** Who will wait for this part of a lease is not one of those that look in for milliseconds. */
const PATIENT_PARTS = 0.1;
/** How soon another target is looked for where this one will not do. */
const NEXT_TARGET_MS = 20;

export const resetOnReply: NemesisFault = {
  name: 'reset-on-reply',
  summary:
    'a command is carried out, its answer is lost and its connection reset, so that its client may send it again',
  explained: {
    does: "The next answer that a node sends to the target goes nowhere, and both ends of its connection get a RST: the command was carried out, and its client hears only that the connection broke. Then again with the next target, a tenth of a second later, while the step lasts; where none is named, rather with a client whose lock another waits for, and with another where one is not answered within a quarter of a second. Answers to commands that are about none of the run's locks do not count; the next one is taken. `answers: numbers` loses only answers that are one, as those to `DEL` and to most scripts are: releases, then.",
    proof:
      "The link shaper says which connection it reset; MONITOR must show a command on one of the run's locks as the last that came by it, and the kernels of both ends must no longer list it (`/proc/net/tcp`). If no such answer comes while the step lasts, the strike is recorded as failed.",
    breaks:
      'Clients that send commands again on a new connection, as ioredis does by default: the second DEL of a release deletes the lock of the next holder, the second INCR counts twice, the second SET NX finds its own key and says no. A release that compares in one script, and one that is not sent again, are safe.',
  },
  effects: ['connections-reset'],
  targets: ['client', 'holder'],
  strikes: ['client'],
  needs: ['link', 'redis'],
  args: {
    answers: { means: 'which answers: any, or numbers; any if not given', check: mustBeOneOf(['any', 'numbers']) },
  },
  unfit: () => undefined,
  shape: () => ({
    lane: 'clients',
    forMs: { min: 3_000, max: 8_000 },
    leastMs: 1_000,
    settleMs: 0,
    args: { answers: ['numbers', 'numbers', 'any'] },
  }),
  async strike(step, context) {
    const sinceNs = context.clock.nowNs();
    return InForce.strike(async (inForce) => {
      const nodes = context.topology.nodes.filter((node) => !context.levers.kill.isDown(node));
      const watches = await inForce.addAll(nodes.map((node) => LastCommands.watch(node, context)));
      // All whom it may come to, once: a busy machine takes a second for that, which no answer is lost in.
      const hosts =
        typeof step.target === 'string' ? context.clientHosts : (await resolveTarget(step, context)).map(hostOf);
      const pairs = nodes.flatMap((node) => hosts.map((host): Pair => [node.host, host]));
      await requireShapeable(pairs, context);
      await inForce.add(context.levers.links.shape(pairs, {}));
      const untilNs = sinceNs + step.forMs * 1e6;
      const awaited = await inForce.add(new AwaitedLocks(context));
      const losing: Losing = { step, watches, awaited, untilNs, context };
      const cycle = () => loseOne(losing);
      const record = await cycle();
      const pace = { context, untilNs, targets: record.targets, breathMs: BREATH_MS };
      const more = ongoing(context, record.targets, (signal) => goOn({ ...pace, signal }, cycle));
      return {
        sinceNs,
        record,
        async heal() {
          await more.stop();
          await inForce.heal();
          return 'answers are lost no more';
        },
      };
    });
  },
};

type Told = Omit<FaultRecord, 'step' | 'fault' | 'state'>;

/** Another step waits for an answer to this client: which of the two was lost could not be told. */
class Taken extends Refusal {}

/** Another client may be answered sooner. */
class Unanswered extends Error {}

interface Losing {
  step: PlanStep;
  watches: readonly LastCommands[];
  awaited: AwaitedLocks;
  /** The step's end. */
  untilNs: number;
  context: NemesisContext;
}

/** Loses one answer to a command on a lock of the run; rejects when none comes while the step lasts. */
async function loseOne(losing: Losing): Promise<Told> {
  const { clock, signal } = losing.context;
  for (;;) {
    try {
      return await loseOneOf(await nextTarget(losing), losing);
    } catch (error) {
      const mayBeAnother = error instanceof Taken || error instanceof Unanswered;
      if (!mayBeAnother || signal.aborted || clock.nowNs() >= losing.untilNs) throw error;
      await clock.sleep(NEXT_TARGET_MS, signal);
    }
  }
}

interface Aim {
  struck: StruckClient;
  /** Until when it is worth waiting for an answer to this one. */
  untilNs: number;
}

/** Of any clients rather one whose lock another waits for: that one has it, and holds it, when the command comes again. */
async function nextTarget({ step, awaited, untilNs, context }: Losing): Promise<Aim> {
  const holders = typeof step.target === 'string' ? awaited.holders(PATIENT_PARTS * context.leaseMs) : [];
  if (holders.length > 0) return { struck: struckClient(context.random.pick(holders)), untilNs };
  const struck = (await resolveTarget(step, context))[0] as StruckClient;
  if (step.target !== 'client') return { struck, untilNs };
  return { struck, untilNs: Math.min(untilNs, context.clock.nowNs() + ANSWERED_WITHIN_MS * 1e6) };
}

async function loseOneOf({ struck, untilNs }: Aim, { step, watches, context }: Losing): Promise<Told> {
  const ways = watches.flatMap((watch) => {
    const pair: Pair = [watch.node.host, struck.host];
    return context.levers.network.isCut(pair) ? [] : [{ watch, pair }];
  });
  if (ways.length === 0) throw new Refusal(`${struck.name} is cut off from every node`);
  const which = step.args?.answers === 'numbers' ? 'numbers' : 'any';
  for (;;) {
    const { way, port } = await nextLost(ways, struck, which, untilNs, context);
    const told = await shownCommand(way.watch, `${struck.host.address}:${port}`, context);
    if (told === undefined) continue;
    const node = way.watch.node;
    await goneAtBothEnds(way, struck, port, context);
    const sinceNs = context.clock.nowNs();
    return {
      targets: [struck.name],
      did: `lost what ${node.name} answered to ${told} of ${struck.name}, and reset the connection`,
      proof: `${node.name} ran ${told} of ${struck.host.address}:${port} (MONITOR); the answer was swallowed on its way, and neither end lists the connection any more`,
      effects: [{ kind: 'connections-reset', pairs: [[node.name, struck.host.name]], sinceNs, untilNs: sinceNs }],
    };
  }
}

function hostOf({ host }: Struck): Host {
  return host;
}

interface Way {
  watch: LastCommands;
  pair: Pair;
}

/** Arms every way, and resolves with the first by which an answer was lost; then no other is any more. */
async function nextLost(
  ways: readonly Way[],
  struck: StruckClient,
  which: 'any' | 'numbers',
  untilNs: number,
  context: NemesisContext,
) {
  const { links } = context.levers;
  const before = new Map<Way, number>();
  const lost = async () => {
    for (const way of ways) {
      const { resets, reset_ports } = await links.shown(way.pair);
      if (resets > before.get(way)!) return { way, port: reset_ports.at(-1)! };
    }
    return undefined;
  };
  try {
    for (const way of ways) {
      const shown = await links.shown(way.pair);
      if (shown.replies > 0) throw new Taken(`another step already waits for an answer to ${struck.name}`);
      await links.loseReplies(way.pair, way.watch.node.port, 1, which);
      before.set(way, shown.resets);
    }
    const leftMs = Math.max(0, (untilNs - context.clock.nowNs()) / 1e6);
    const timing = { timeoutMs: leftMs, pollMs: POLL_MS, doing: `before ${struck.name} was answered`, context };
    const found = await waitFor(lost, timing);
    if (found) return found;
  } finally {
    for (const way of before.keys()) await links.loseReplies(way.pair, way.watch.node.port, 0);
  }
  throw new Unanswered(
    `no answer to a command on ${words(context.keys)} came to ${struck.name} while it was waited for`,
  );
}

/** The command that the lost answer was for; undefined where it was about none of the run's locks. */
async function shownCommand(watch: LastCommands, source: string, context: NemesisContext): Promise<string | undefined> {
  await watch.caughtUp();
  const argv = watch.last.get(source);
  const key = context.keys.find((one) => argv?.includes(context.keyName(one)));
  return argv && key !== undefined ? `${argv[0]!.toUpperCase()} ${key}` : undefined;
}

async function goneAtBothEnds(
  { pair }: Way,
  struck: StruckClient,
  port: number,
  context: NemesisContext,
): Promise<void> {
  const [server, client] = pair;
  const isIt = ({ peer }: Connection) => peer.address === client.address && peer.port === port;
  const gone = async () => {
    const connection = (await connectionsOf(server)).find(isIt);
    if (connection) return (await stillThere([{ pair, connection }])).length === 0 || undefined;
    const own = (await connectionsOf(client)).some(({ own, isEstablished }) => isEstablished && own.port === port);
    return !own || undefined;
  };
  const timing = { timeoutMs: SHOWN_WITHIN_MS, pollMs: POLL_MS, doing: 'before the connection was gone', context };
  if (!(await waitFor(gone, timing)))
    throw new Error(`the connection of ${struck.name} (${client.address}:${port}) is still there`);
}

/** What each connection of a node asked last, in the node's own order. */
class LastCommands {
  readonly last = new Map<string, readonly string[]>();
  private marks = 0;
  private close: () => void = () => {};

  private constructor(
    readonly node: ServerNode,
    private readonly context: NemesisContext,
  ) {}

  static async watch(node: ServerNode, context: NemesisContext): Promise<LastCommands> {
    const watch = new LastCommands(node, context);
    const monitoring = await node.monitor(({ source, argv }) => watch.last.set(source, argv));
    watch.close = () => monitoring.close();
    return watch;
  }

  /** Resolves when everything is known that the node ran until now. */
  async caughtUp(): Promise<void> {
    const mark = `reset ${this.context.clock.nowNs()} ${this.marks++}`;
    await this.node.command('ECHO', mark);
    const seen = async () => [...this.last.values()].some((argv) => argv[1] === mark) || undefined;
    const timing = { timeoutMs: SHOWN_WITHIN_MS, pollMs: 1, doing: `before ${this.node.name} could be watched` };
    if (!(await waitFor(seen, { ...timing, context: this.context })))
      throw new Error(`${this.node.name} does not show the commands that it runs`);
  }

  async heal(): Promise<string> {
    this.close();
    return '';
  }
}
