/**
 * Strikes at steps of a lock: before the client that reached the step sends its next command.
 *
 * A step that is only heard of is over. The client's next command leaves within a fraction of a millisecond, before any signal
 * from outside can reach it. So while a trigger is due, operations are sent with the step at which the process is to stop
 * itself. The strike begins when the kernel says that it stands, and the process goes on when the strike is in force. A client
 * that stopped and was not meant goes on at once. How long any of them stood is recorded.
 *
 * An operation that was sent before its trigger was due does not stop: its steps are counted, and the trigger waits for the
 * next one. A program that cannot stop itself (no feature `stop-at`), or does not, is struck from outside: that is too late, and
 * is said.
 */
import type { ClientTarget, FaultContext, When } from '../../harness/vocabulary/faults.js';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';
import { message } from '../levers/basics.js';
import type { Levers } from '../levers/index.js';
import { ended, type Grip } from '../levers/network.js';

/** What a client may take from saying that it is at a step until it stands there: two system calls, on a busy machine. */
const STANDS_WITHIN_MS = 1_000;
const POLL_MS = 1;

export type Trigger = Extract<When, { after: unknown }>['after'];
type StepEvent = Extract<HistoryEvent, { type: 'step' }>;

/** The moment at which a fault is to strike: a client stands at a step, or what a plan aims at is there. */
export interface AtStep {
  /** Who is there; absent: nobody of whom it is known. */
  readonly client?: ClientTarget;
  /** What was seen there, in words. */
  readonly seen: string;
  /** Why the strike comes too late, whenever it comes. */
  readonly late?: string;
  /** Why it is not shown that what comes next (the client's command, say) waits for the strike, now that it struck; undefined: it does. */
  checked(): Promise<string | undefined>;
  /** Lets the client go on as far as this strike is concerned. Does nothing the second time, and never rejects. */
  goOn(): Promise<void>;
  /** Lets it go on, even if another fault strikes it: what this strike did to it can only be proved by itself. */
  goOnNow(): Promise<void>;
}

export class StepWatch {
  private readonly waiting = new Set<Waiting>();
  /** Operations that have stopped their process: each does so once. */
  private readonly used = new WeakSet<object>();

  /** It listens as long as the run lasts: an operation may come to its step when no trigger waits any more. */
  constructor(
    private readonly context: FaultContext,
    private readonly levers: Levers,
  ) {
    context.subscribe((event) => {
      if (event.type === 'step') this.reached(event);
    });
  }

  /** Resolves when the trigger has come; with the reason when the run ended before. */
  next(after: Trigger, signal: AbortSignal): Promise<AtStep | string> {
    return new Promise((resolve) => {
      const arm = () => this.context.stopAtStep(after.step!, after.client);
      const waiting = new Waiting(after, arm, (how) => {
        this.waiting.delete(waiting);
        signal.removeEventListener('abort', end);
        resolve(how);
      });
      const end = () => waiting.end(neverCame(after, waiting.count, waiting.passed));
      this.waiting.add(waiting);
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    });
  }

  private reached(event: StepEvent): void {
    const client = this.context.clients().find(({ callers }) => callers.includes(event.client));
    const asked = client?.stopping;
    const stops = asked?.step === event.name && !this.used.has(asked);
    const due = [...this.waiting].filter(({ after }) => matchesTrigger(event, after)).filter((one) => one.seen());
    if (client && stops) {
      this.used.add(asked);
      void this.attend(client, asked, event, due);
    } else if (client && !client.canStop) {
      const why = `its program cannot stop itself at a step (feature "stop-at")`;
      for (const one of due) one.end(struckFromOutside(client, event.name, why));
    } else {
      for (const one of due) one.passed++;
    }
  }

  /** Stays with an operation that is to stop its process until it has, or is over. Never rejects. */
  private async attend(client: ClientTarget, asked: object, event: StepEvent, due: readonly Waiting[]): Promise<void> {
    const { clock } = this.context;
    const { pause } = this.levers;
    // Taken at once: the next client that comes there is not meant.
    const taken = [...due];
    for (const one of taken) one.take();
    const withdraw = pause.announce(client.process);
    let giveUpNs = clock.nowNs() + STANDS_WITHIN_MS * 1e6;
    for (;;) {
      const grip = await pause.keepStanding(client.name, client.process).catch(() => undefined);
      if (grip) {
        withdraw();
        const meant = taken.filter((one) => !one.isOver);
        const standing = new Standing(client, event, grip, meant.length, this.context);
        for (const one of meant) one.end(standing.forOne());
        return standing.goOnIfDone();
      }
      // Another fault may keep it stopped on its way there.
      if (pause.isPaused(client.process)) giveUpNs = clock.nowNs() + STANDS_WITHIN_MS * 1e6;
      const isOver = client.stopping !== asked;
      if (isOver || clock.nowNs() > giveUpNs) {
        const why = 'it said that it was there, and did not stop itself';
        for (const one of taken.splice(0)) one.end(struckFromOutside(client, event.name, why));
      }
      if (isOver) return withdraw();
      await clock.sleep(POLL_MS);
    }
  }
}

/** One trigger that waits. */
class Waiting {
  /** Steps that it saw. */
  count = 0;
  /** Those of them at which it was due, and could not have anybody stopped. */
  passed = 0;
  /** The run ended before, or it was told who is at the step. */
  isOver = false;
  private isTaken = false;
  private disarm: (() => void) | undefined;

  constructor(
    readonly after: Trigger,
    private readonly arm: () => () => void,
    private readonly resolve: (how: AtStep | string) => void,
  ) {
    this.armIfNext();
  }

  /** Counts a step that it waits for; whether it is due. */
  seen(): boolean {
    if (this.isTaken) return false;
    this.count++;
    this.armIfNext();
    return this.count >= this.after.count;
  }

  /** The step that was just reached is its own now, and no other any more. */
  take(): void {
    this.isTaken = true;
    this.disarm?.();
  }

  end(how: AtStep | string): void {
    this.take();
    this.isOver = true;
    const { passed } = this;
    const also = ` (${passed} before it went by, in operations that had been sent already)`;
    this.resolve(typeof how === 'string' || passed === 0 ? how : { ...how, seen: how.seen + also });
  }

  private armIfNext(): void {
    if (this.count >= this.after.count - 1) this.disarm ??= this.arm();
  }
}

/** One strike's need of a client that stands. */
interface Need {
  /** It let the client go on by itself. */
  met: boolean;
}

/** A client that stands at a step, until the last strike that it stands for needs it no more. */
class Standing {
  private readonly needed = new Set<Need>();
  private gone: Promise<void> | undefined;

  constructor(
    private readonly client: ClientTarget,
    private readonly event: StepEvent,
    private readonly grip: Grip,
    private readonly strikes: number,
    private readonly context: FaultContext,
  ) {}

  forOne(): AtStep {
    const { client } = this;
    const need: Need = { met: false };
    this.needed.add(need);
    const goOn = (now: boolean) => {
      need.met = true;
      this.needed.delete(need);
      if (now) this.gone ??= this.goOn();
      return this.goOnIfDone();
    };
    return {
      client,
      seen: `${client.name} stood at "${this.event.name}"`,
      checked: async () => {
        if (need.met) return undefined;
        const state = await client.process.state().catch(() => undefined);
        const stands = this.gone === undefined && (state === 'stopped' || state === 'dead');
        return stands ? undefined : `${client.name} went on from "${this.event.name}" before the strike was in force`;
      },
      goOn: () => goOn(false),
      goOnNow: () => goOn(true),
    };
  }

  /** Never rejects. */
  goOnIfDone(): Promise<void> {
    if (this.needed.size === 0) this.gone ??= this.goOn();
    return this.gone ?? Promise.resolve();
  }

  private async goOn(): Promise<void> {
    const { client, event, grip } = this;
    const { name } = client;
    const what = this.strikes > 0 ? 'until it was struck there' : 'for a moment: no strike was meant for it';
    const record = { step: -1, fault: 'step', targets: [name], beganNs: event.clientNs };
    const untilNs = this.context.clock.nowNs();
    // One that was killed there was last seen standing when it was taken over.
    const isDead = (await client.process.state().catch(() => 'dead')) === 'dead';
    const effects = isDead ? ended(grip.effects, grip.effects[0]!.sinceNs) : ended(grip.effects, untilNs);
    try {
      const proof = `${grip.proof}; ${await grip.heal()}`;
      this.context.note({ ...record, state: 'heal', did: `${name} stood at "${event.name}" ${what}`, proof, effects });
    } catch (error) {
      const did = `tried to continue ${name}, which stands at "${event.name}"`;
      this.context.note({ ...record, state: 'failed', did, proof: message(error), effects: [...grip.effects] });
    }
  }
}

/** `client` in a trigger names a slot: c1 also means the processes c1.2, c1.3, ... that follow c1 in it, and their callers. */
export function matchesTrigger(event: HistoryEvent, after: Trigger): boolean {
  if (event.type !== 'ok' && event.type !== 'step') return false;
  if (after.client !== undefined && slotNamed(event.client) !== after.client) return false;
  if (event.type === 'step') return after.event === 'step' && event.name === after.step;
  return event.op === after.event;
}

/** The place of a process, or of the process of a caller, by its name: c1 of c1.2, c1-b and c1.2-b. */
export function slotNamed(client: string): string {
  return client.split(/[.-]/, 1)[0]!;
}

export function neverCame({ count, step, event }: Trigger, seen: number, passed = 0): string {
  const times = `${seen} of ${count} times "${step ?? event}"`;
  if (passed === 0) return `its trigger never came: ${times}`;
  return `its trigger came too late to strike at: ${times}, each time from the ${count}. on in an operation that had been sent already`;
}

function struckFromOutside(client: ClientTarget, step: string, why: string): AtStep {
  return {
    client,
    seen: `${client.name} had said that it was at "${step}"`,
    late: `${client.name} may have sent its next command after "${step}" before the strike: ${why}`,
    checked: async () => undefined,
    goOn: async () => {},
    goOnNow: async () => {},
  };
}
