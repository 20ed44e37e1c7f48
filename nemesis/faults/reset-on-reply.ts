/**
 * A command is carried out, its answer is lost, and its connection is reset at once. The client hears of a broken connection
 * and of nothing else: it cannot know whether the command was carried out. One that connects again and sends it again, as
 * ioredis does unless it is told not to, has it carried out twice.
 *
 * Excludes what `lost-reply` is about: there the answer is awaited until a time-out, and nobody can send again meanwhile.
 */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { FaultEffect, FaultRecord } from '../../harness/vocabulary/history.js';
import { Interrupted, waitFor, words } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import type { Pair } from '../levers/network.js';
import { AnswerTraps, type LostAnswer } from '../striking/answer-traps.js';
import { AwaitedLocks } from '../striking/awaited.js';
import { type Connection, connectionsOf } from '../striking/connections.js';
import type { NemesisContext, NemesisFault } from '../striking/context.js';
import { LastCommands } from '../striking/last-commands.js';
import { goOn, ongoing } from '../striking/ongoing.js';
import { isClient, namesOf, resolveTarget, type StruckClient, struckClient } from '../striking/targets.js';
import { mustBeOneOf } from './args.js';
import { requireShapeable } from './degraded-links.js';
import { stillThere } from './reset.js';

const POLL_MS = 5;
/** A connection's end is told within milliseconds of it. */
const GONE_WITHIN_MS = 2_000;
/** One client is struck, and the others go on: no time is needed for them to come back. */
const BREATH_MS = 100;
/** One of any clients that is not answered so soon holds a lock for long, or waits for one: another is. */
const ANSWERED_WITHIN_MS = 250;
/** For so long, where releases are to be struck, only those are that somebody waits for: most are of no use to anybody. */
const CHOOSY_MS = 500;
/** Who will wait for this part of a lease is not one of those that look in for milliseconds. */
const PATIENT_PARTS = 0.1;

export const resetOnReply: NemesisFault = {
  name: 'reset-on-reply',
  summary:
    'a command is carried out, its answer is lost and its connection reset, so that its client may send it again',
  explained: {
    does: "The next answer that a node sends to the target goes nowhere, and both ends of its connection get a RST: the command was carried out, and its client hears only that the connection broke. Then again, a tenth of a second later, while the step lasts. Where no target is named it strikes whoever of the clients that hold a lock which another waits for is answered first; where nobody waits, anybody, and somebody else where one is not answered within a quarter of a second. Answers to commands that are about none of the run's locks do not count; the next one is taken. `answers: numbers` loses only answers that are one, as those to `DEL` and to most scripts are: releases, then; for half a second only of locks that are waited for.",
    proof:
      "The link shaper says which connection it reset; MONITOR must show a command on one of the run's locks as the last that came by it, and the kernels of both ends must no longer list it (`/proc/net/tcp`). If no such answer comes while the step lasts, the strike is recorded as failed.",
    breaks:
      'Clients that send commands again on a new connection, as ioredis does by default: the second DEL of a release deletes the lock of the next holder, the second INCR counts twice, the second SET NX finds its own key and says no. A release that compares in one script, and one that is not sent again, are safe.',
  },
  effects: ['connections-reset'],
  targets: ['client', 'holder'],
  strikes: ['client'],
  needs: ['link', 'redis', 'answers'],
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
        typeof step.target === 'string'
          ? context.clientHosts
          : (await resolveTarget(step, context)).map(({ host }) => host);
      const pairs = nodes.flatMap((node) => hosts.map((host): Pair => [node.host, host]));
      await requireShapeable(pairs, context);
      await inForce.add(context.levers.links.shape(pairs, {}));
      const untilNs = sinceNs + step.forMs * 1e6;
      const awaited = await inForce.add(new AwaitedLocks(context));
      const losing: Losing = { step, watches, awaited, untilNs, context };
      const cycle = () => loseNext(losing);
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

interface Losing {
  step: PlanStep;
  watches: readonly LastCommands[];
  awaited: AwaitedLocks;
  /** The step's end. */
  untilNs: number;
  context: NemesisContext;
}

/** Loses the next answer to a command on a lock of the run; rejects when none comes while the step lasts. */
async function loseNext(losing: Losing): Promise<Told> {
  const { step, watches, untilNs, context } = losing;
  const { clock, signal } = context;
  const aim = await Aim.take(losing);
  const traps = new AnswerTraps(watches, answersOf(step), context);
  try {
    for (;;) {
      await traps.setFor(await aim.now());
      const isOver = signal.aborted || clock.nowNs() >= untilNs;
      const trouble = traps.trouble();
      const sprung = isOver ? [] : await traps.sprung();
      if (isOver || sprung.length > 0) {
        const told = await Promise.all([...sprung, ...(await traps.clear())].map((one) => toldOf(one, context)));
        const onLocks = told.filter(({ targets }) => targets.length > 0);
        for (const other of told) if (!onLocks.includes(other)) context.note({ state: 'phase', ...other });
        if (onLocks.length > 0) return together(onLocks);
      }
      if (signal.aborted) throw new Interrupted(`before ${aim.words} was answered`);
      if (isOver) throw trouble ?? new Error(unanswered(aim.words, context));
      await clock.sleep(POLL_MS, signal);
    }
  } finally {
    await traps.clear();
  }
}

function unanswered(whom: string, { keys }: NemesisContext): string {
  return `no answer to a command on ${words(keys)} came to ${whom} while it was waited for`;
}

/** Whose answers to wait for. */
class Aim {
  private anybody: { struck: StruckClient[]; untilNs: number } | undefined;

  private constructor(
    readonly words: string,
    /** Those and no others; absent: any. */
    private readonly named: readonly StruckClient[] | undefined,
    private readonly choosyUntilNs: number,
    private readonly losing: Losing,
  ) {}

  static async take(losing: Losing): Promise<Aim> {
    const { step, context } = losing;
    const choosyMs = answersOf(step) === 'numbers' ? CHOOSY_MS : 0;
    const isAny = step.target === 'client' && context.at === undefined;
    const named = isAny ? undefined : (await resolveTarget(step, context)).filter(isClient);
    return new Aim(named ? words(namesOf(named)) : 'any client', named, context.clock.nowNs() + choosyMs * 1e6, losing);
  }

  /** Of any clients those whose lock another waits for: that one has it, and holds it, when the command comes again. */
  async now(): Promise<readonly StruckClient[]> {
    if (this.named) return this.named;
    const { awaited, context } = this.losing;
    const holders = awaited.holders(PATIENT_PARTS * context.leaseMs);
    const nowNs = context.clock.nowNs();
    if (holders.length > 0 || nowNs < this.choosyUntilNs) return holders.map(struckClient);
    if (!this.anybody || nowNs >= this.anybody.untilNs) {
      const struck = (await resolveTarget({ target: 'client' }, context)).filter(isClient);
      this.anybody = { struck, untilNs: nowNs + ANSWERED_WITHIN_MS * 1e6 };
    }
    return this.anybody.struck;
  }
}

function answersOf({ args }: PlanStep): 'any' | 'numbers' {
  return args?.answers === 'numbers' ? 'numbers' : 'any';
}

/** What was lost, with its proof. Without targets where it was about none of the run's locks, or where that cannot be told. */
async function toldOf(lost: LostAnswer, context: NemesisContext): Promise<Told> {
  const { struck, ports, watch, doubt } = lost;
  const { node } = watch;
  const sources = ports.map((port) => `${struck.host.address}:${port}`);
  const argv = await watch.lastOf(sources[0]!);
  const sinceNs = context.clock.nowNs();
  const pairs: [string, string][] = [[node.name, struck.host.name]];
  const effects: FaultEffect[] = [{ kind: 'connections-reset', pairs, sinceNs, untilNs: sinceNs }];
  const key = context.keys.find((one) => argv?.includes(context.keyName(one)));
  if (!argv || key === undefined || doubt !== undefined) {
    const did = `lost an answer of ${node.name} to ${struck.name} with its connection, which does not count`;
    return { targets: [], did, proof: `reset: ${words(sources)}; ${doubt ?? 'it was about no lock'}`, effects };
  }
  await goneAtBothEnds(lost, ports[0]!, context);
  const command = `${argv[0]!.toUpperCase()} ${key}`;
  return {
    targets: [struck.name],
    did: `lost what ${node.name} answered to ${command} of ${struck.name}, and reset the connection`,
    proof: `${node.name} ran ${command} of ${sources[0]} (MONITOR); the answer was swallowed on its way, and neither end lists the connection any more`,
    effects,
  };
}

function together(told: readonly Told[]): Told {
  return {
    targets: [...new Set(told.flatMap(({ targets }) => targets))],
    did: told.map(({ did }) => did).join('; '),
    proof: told.map(({ proof }) => proof).join('; '),
    effects: told.flatMap(({ effects }) => effects),
  };
}

async function goneAtBothEnds({ pair, struck }: LostAnswer, port: number, context: NemesisContext): Promise<void> {
  const [server, client] = pair;
  const isIt = ({ peer }: Connection) => peer.address === client.address && peer.port === port;
  const gone = async () => {
    const connection = (await connectionsOf(server)).find(isIt);
    if (connection) return (await stillThere([{ pair, connection }])).length === 0 || undefined;
    const own = (await connectionsOf(client)).some(({ own, isEstablished }) => isEstablished && own.port === port);
    return !own || undefined;
  };
  const timing = { timeoutMs: GONE_WITHIN_MS, pollMs: POLL_MS, doing: 'before the connection was gone', context };
  if (!(await waitFor(gone, timing)))
    throw new Error(`the connection of ${struck.name} (${client.address}:${port}) is still there`);
}
