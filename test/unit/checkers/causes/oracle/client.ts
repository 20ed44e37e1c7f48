/** A lock client: it takes the lock, works, renews, releases, and does so again, with whatever mistake its lock has. */
import type { Attempt, LivedHold } from './grants.js';
import { KEY, type Node } from './node.js';
import type { Recording } from './recording.js';
import {
  type Answer,
  type Counter,
  countUp,
  type Form,
  remove,
  removeCounter,
  renew,
  setAfterGet,
  take,
} from './requests.js';
import { EPOCH_WALL_MS, MS, type Simulation } from './simulation.js';

/** How a lock is written. */
export interface Program {
  form: Form;
  leaseMs: number;
  /** What the server is asked for, of the lease; 0: to keep it for ever. */
  ttlFactor: number;
  /** Whose value is stored: one of each attempt, one of each client, or the same of all. */
  owner: 'attempt' | 'client' | 'shared';
  /** `forgets`: a third of what is released is never given back. */
  releases: 'compared' | 'plainly' | 'forgets';
  counter: Counter;
  /** Whether it asks for the lock anew when its lease is over, and has not ended its hold. */
  asksAgain: boolean;
  /** `by-nothing`: for no time at all, which deletes the key; `once`: what renews dies then. */
  renews: 'never' | 'soundly' | 'unchecked' | 'by-nothing' | 'once';
  /** Whether its client is told when the lease is over, if that runs. */
  tells?: boolean;
  /** How often it looks at the resource while it holds; 0: never. */
  looksEveryMs?: number;
  /** How many nodes must have granted it. */
  quorum: number;
  /** Of a thousand refusals so many are taken for a yes. */
  refusalsIgnored: number;
  /** How long it works, of its lease: at least and at most. */
  worksLeast: number;
  worksMost: number;
  retryMs: number;
}

export interface Surroundings {
  sim: Simulation;
  recording: Recording;
  /** Where this client's commands go: one node, or all that are independent. */
  nodesFor(client: LockClient): readonly Node[];
  granted(hold: LivedHold): void;
  /** Nobody asks for the lock any more from then on. */
  readonly untilNs: number;
}

const TIMEOUT_MS = 60;
/** A client that waits for the lock gives up after so many tries. */
const TRIES = 12;

/** A fencing token, and where and when it was counted up. */
interface Draw {
  token: number;
  node: string;
  ns: number;
}

type Answered = (attempt: Attempt, isGranted: boolean, draw: Draw | undefined) => void;

export class LockClient {
  /** Servers that do not hear it, or that it does not hear. */
  readonly cutFrom = new Set<string>();
  /** When it was stopped, and when it went on. */
  readonly stops: { fromNs: number; untilNs: number }[] = [];
  readonly cuts: { fromNs: number; untilNs: number }[] = [];
  /** When a busy machine did not run it, which nothing records. */
  readonly stalls: { fromNs: number; untilNs: number }[] = [];
  /** By how much its clock is off. */
  clockMs = 0;
  readonly holds: LivedHold[] = [];
  /** Called once, when a server has said yes and the answer is on its way. */
  whenAsked: (() => void) | undefined;
  private waiting: (() => void)[] = [];
  /** An operation of it is under way. */
  private asking = false;
  private looking = false;
  private readonly hasAskedAgain = new Set<LivedHold>();
  private ids = 0;
  private attempts = 0;

  constructor(
    readonly name: string,
    readonly address: string,
    private readonly program: Program,
    private readonly around: Surroundings,
  ) {}

  get isStopped(): boolean {
    return [this.stops, this.stalls].some((spans) => spans.at(-1)?.untilNs === Number.POSITIVE_INFINITY);
  }

  /** Until it is told to go on. */
  stop(spans = this.stops): void {
    spans.push({ fromNs: this.around.sim.nowNs, untilNs: Number.POSITIVE_INFINITY });
  }

  goOn(spans = this.stops): void {
    spans.at(-1)!.untilNs = this.around.sim.nowNs;
    if (this.isStopped) return;
    for (const one of this.waiting.splice(0)) this.later(0.05, one);
  }

  /** The hold that it has, as it thinks. */
  get current(): LivedHold | undefined {
    const last = this.holds.at(-1);
    return last && !last.over ? last : undefined;
  }

  /** Does it after so long, or when it runs again. */
  later(ms: number, act: () => void): void {
    this.around.sim.after(ms, () => {
      if (this.isStopped) this.waiting.push(act);
      else act();
    });
  }

  acquire(): void {
    const { sim, recording, untilNs } = this.around;
    if (sim.nowNs > untilNs) return;
    const id = ++this.ids;
    this.asking = true;
    recording.event({
      type: 'invoke',
      client: this.name,
      id,
      op: 'acquire',
      key: KEY,
      leaseMs: this.program.leaseMs,
      waitMs: 0,
    });
    this.later(0.3, () => {
      const beganNs = sim.nowNs;
      const answered = (attempt: Attempt, isGranted: boolean, draw: Draw | undefined) => {
        const stamps = { client: this.name, id, op: 'acquire' as const, key: KEY, beganNs, endedNs: sim.nowNs };
        this.asking = false;
        if (!isGranted) {
          recording.event({ type: 'fail', ...stamps, reason: 'held' }, 0.2);
          this.later(sim.between(0.5, 1.5) * this.program.retryMs, () => this.acquire());
          return;
        }
        const grant = { grantSentNs: attempt.sentNs, ...(draw && { token: draw.token }) };
        recording.event({ type: 'ok', ...stamps, ...grant }, 0.2);
        this.work(id, attempt, draw);
      };
      if (this.program.form === 'counted-early') this.drawn((draw) => this.tryFor(TRIES, draw, answered));
      else this.attempt(answered);
    });
  }

  /** Counts its token up before it asks for the lock; without an answer it has none. */
  private drawn(done: (draw: Draw | undefined) => void): void {
    const { nodesFor } = this.around;
    let draw: Draw | undefined;
    this.ask(
      nodesFor(this),
      (node) => {
        if (node.primary) return { yes: false };
        const { token } = countUp(node, this.sender, this.program.counter, this.program.leaseMs);
        draw = { token, node: node.name, ns: node.nowNs };
        return { yes: true, token };
      },
      (answers) => done([...answers.values()].some(({ yes }) => yes) ? draw : undefined),
    );
  }

  private tryFor(tries: number, draw: Draw | undefined, done: Answered): void {
    const { sim } = this.around;
    this.attempt((attempt, isGranted) => {
      if (isGranted || tries === 1) done(attempt, isGranted, draw);
      else this.later(sim.between(0.5, 1.5) * this.program.retryMs, () => this.tryFor(tries - 1, draw, done));
    });
  }

  private attempt(done: Answered): void {
    const { sim, nodesFor } = this.around;
    const { program } = this;
    const nodes = nodesFor(this);
    const n = ++this.attempts;
    const own = { attempt: `${this.name}-${n}`, client: `v-${this.name}`, shared: 'the-owner' }[program.owner];
    const clock = { wallMs: EPOCH_WALL_MS + sim.nowNs / MS + this.clockMs, offMs: this.clockMs };
    const attempt: Attempt = {
      client: this.name,
      value: own,
      isBlind: program.form === 'set',
      leaseMs: program.leaseMs,
      sentNs: sim.nowNs,
      stored: new Map(),
      reached: new Map(),
      losses: [],
      prolonged: [],
      adoptedOn: new Map(),
    };
    const ttlMs = program.ttlFactor === 0 ? undefined : Math.max(1, Math.round(program.leaseMs * program.ttlFactor));
    this.ask(
      nodes,
      (node) => {
        const answer = take(node, this.sender, attempt, program.form, ttlMs, program.counter, clock);
        if (answer.yes) this.hasAsked();
        return answer;
      },
      (answers) => {
        const decide = (told: Map<Node, Answer>) => {
          const yes = [...told.values()].filter((answer) => answer.yes);
          const isIgnored = told.size > 0 && sim.chance() * 1_000 < program.refusalsIgnored;
          const isGranted = yes.length >= program.quorum || isIgnored;
          // What may have been stored all the same is given back.
          const silent = told.size < nodes.length;
          if (!isGranted && (silent || yes.length > 0)) this.giveBack(nodes, attempt);
          const [node] = [...told].find(([, answer]) => answer.yes && answer.token !== undefined) ?? [];
          const draw = node && { token: told.get(node)!.token!, node: node.name, ns: attempt.stored.get(node.name)! };
          done(attempt, isGranted, draw);
        };
        const free = nodes.filter((node) => answers.get(node)?.yes);
        if (program.form !== 'get-set' || free.length === 0) decide(answers);
        else this.ask(free, (node) => setAfterGet(node, this.sender, attempt, ttlMs), decide);
      },
    );
  }

  private hasAsked(): void {
    const { whenAsked } = this;
    this.whenAsked = undefined;
    whenAsked?.();
  }

  private giveBack(nodes: readonly Node[], attempt: Attempt): void {
    const plainly = this.program.releases === 'plainly' && nodes.length === 1;
    if (!plainly)
      this.ask(
        nodes,
        (node) => remove(node, this.sender, attempt, this.program.form, false),
        () => {},
      );
  }

  private work(id: number, attempt: Attempt, draw: Draw | undefined): void {
    const { sim } = this.around;
    const { program } = this;
    const hold: LivedHold = {
      client: this.name,
      id,
      attempt,
      fromNs: sim.nowNs,
      workMs: sim.between(program.worksLeast, program.worksMost) * program.leaseMs,
      renews: program.renews !== 'never',
      leaseEndNs: attempt.sentNs + program.leaseMs * MS,
      renewalCut: false,
      over: false,
      overNs: Number.POSITIVE_INFINITY,
      token: draw?.token,
      draw,
    };
    this.holds.push(hold);
    this.around.granted(hold);
    // The harness tells it to release, whether it runs or not.
    sim.after(hold.workMs, () => this.release(hold));
    if (hold.renews) this.later(program.leaseMs / 3, () => this.renew(hold));
    if (program.tells) this.tellWhenOver(hold);
    this.lookLater(hold);
    if (!program.asksAgain || this.holds.some((one) => one !== hold && !one.over)) return;
    this.later(sim.between(1.02, 1.3) * program.leaseMs, () => {
      if (hold.over || sim.nowNs < hold.leaseEndNs) return;
      this.hasAskedAgain.add(hold);
      this.acquire();
    });
  }

  private end(hold: LivedHold): void {
    hold.over = true;
    hold.overNs = this.around.sim.nowNs;
  }

  /** A lock that looks at its clock, a moment before the lease is over and again as long as it is renewed. */
  private tellWhenOver(hold: LivedHold): void {
    const { sim } = this.around;
    this.later(Math.max(0.05, (hold.leaseEndNs - sim.nowNs) / MS - 5), () => {
      if (hold.over || this.looking) {
        if (!hold.over) this.later(1, () => this.tellWhenOver(hold));
      } else if (hold.leaseEndNs - sim.nowNs > 6 * MS) this.tellWhenOver(hold);
      else this.tell(hold);
    });
  }

  private tell(hold: LivedHold): void {
    const { sim, recording } = this.around;
    recording.event({ type: 'lost', client: this.name, hold: hold.id, key: KEY, clientNs: sim.nowNs }, 0.2);
    this.end(hold);
  }

  private lookLater(hold: LivedHold): void {
    const { looksEveryMs = 0, asksAgain } = this.program;
    if (looksEveryMs > 0 && !asksAgain) this.later(looksEveryMs, () => this.look(hold));
  }

  /** Reads what the lock protects, as the harness tells it to. */
  private look(hold: LivedHold): void {
    const { sim, recording } = this.around;
    if (hold.over || this.asking) return;
    const about = { client: this.name, id: ++this.ids, op: 'read' as const, key: KEY, hold: hold.id };
    recording.event({ type: 'invoke', ...about });
    this.looking = true;
    this.later(0.3, () => {
      const beganNs = sim.nowNs;
      this.later(0.3, () => {
        recording.event({ type: 'ok', ...about, beganNs, endedNs: sim.nowNs, value: 0, version: 0 }, 0.2);
        this.looking = false;
        this.lookLater(hold);
      });
    });
  }

  private renew(hold: LivedHold): void {
    if (hold.over) return;
    const { sim, recording, nodesFor } = this.around;
    const { program } = this;
    const sentNs = sim.nowNs;
    const nodes = nodesFor(this);
    const isCut = () => nodes.filter((node) => this.cutFrom.has(node.name)).length > nodes.length - program.quorum;
    const wasCut = isCut();
    this.ask(
      nodes,
      (node) =>
        renew(node, this.sender, hold.attempt, program.form, program.renews === 'by-nothing' ? 0 : program.leaseMs, {
          wallMs: EPOCH_WALL_MS + sentNs / MS + this.clockMs,
          offMs: this.clockMs,
        }),
      (answers) => {
        if (hold.over) return;
        const yes = [...answers.values()].filter((answer) => answer.yes).length;
        if (yes >= program.quorum || (program.renews === 'unchecked' && answers.size >= program.quorum)) {
          recording.event(
            { type: 'renewed', client: this.name, hold: hold.id, key: KEY, sentNs, leaseMs: program.leaseMs },
            0.2,
          );
          hold.leaseEndNs = Math.max(hold.leaseEndNs, sentNs + program.leaseMs * MS);
          if (program.renews === 'once') return;
        } else if (answers.size - yes > nodes.length - program.quorum) {
          this.tell(hold);
          return;
        } else if (wasCut || isCut()) hold.renewalCut = true;
        this.later(program.leaseMs / 3, () => this.renew(hold));
      },
    );
  }

  private release(hold: LivedHold): void {
    const { sim, recording, nodesFor } = this.around;
    if (this.asking || this.looking) {
      this.later(5, () => this.release(hold));
      return;
    }
    const id = ++this.ids;
    const about = { client: this.name, id, op: 'release' as const, key: KEY, hold: hold.id };
    recording.event({ type: 'invoke', ...about });
    this.later(0.3, () => {
      this.end(hold);
      const beganNs = sim.nowNs;
      const forgets = this.program.releases === 'forgets' && sim.chance() < 0.33;
      const plainly = this.program.releases === 'plainly';
      this.ask(
        nodesFor(this),
        (node) => {
          if (forgets) return { yes: true };
          const answer = remove(node, this.sender, hold.attempt, this.program.form, plainly, hold.attempt);
          if (this.program.counter === 'removed' && hold.draw) removeCounter(node, this.sender);
          return answer;
        },
        (answers) => {
          const isOk = [...answers.values()].some((answer) => answer.yes);
          const stamps = { beganNs, endedNs: sim.nowNs };
          recording.event(
            isOk ? { type: 'ok', ...about, ...stamps } : { type: 'fail', ...about, ...stamps, reason: 'gone' },
            0.2,
          );
          // It has asked already.
          if (this.hasAskedAgain.has(hold)) return;
          this.later(sim.between(0.5, 1.5) * this.program.retryMs, () => this.acquire());
        },
      );
    });
  }

  private get sender() {
    return { client: this.name, source: `${this.address}:40000` };
  }

  /** Sends a request to each node; `done` gets the answers that came in time. */
  private ask(
    nodes: readonly Node[],
    request: (node: Node) => Answer,
    done: (answers: Map<Node, Answer>) => void,
  ): void {
    const { sim } = this.around;
    const answers = new Map<Node, Answer>();
    let isOver = false;
    const finish = () => {
      if (isOver) return;
      isOver = true;
      done(answers);
    };
    for (const node of nodes) {
      if (this.cutFrom.has(node.name)) continue;
      sim.after(nodes.length === 1 || sim.chance() < 0.9 ? sim.between(0.1, 0.5) : sim.between(1, 30), () => {
        if (!node.alive) return;
        const answer = request(node);
        if (this.cutFrom.has(node.name)) return;
        this.later(sim.between(0.1, 0.4), () => {
          answers.set(node, answer);
          if (answers.size === nodes.length) finish();
        });
      });
    }
    this.later(TIMEOUT_MS, finish);
  }
}
