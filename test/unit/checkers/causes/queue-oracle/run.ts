/** A run of a fair lock on one server: its clients with their mistakes, what befalls them, and the record of it. */
import { historyOf } from '../../../../../harness/record/history-table.js';
import { observationsOf } from '../../../../../harness/record/observations.js';
import type { FaultEffect, HistoryBody, HistoryEvent, Observation } from '../../../../../harness/vocabulary/history.js';
import type { CheckInput } from '../../../../../harness/vocabulary/run.js';
import { literalConfig } from '../../build.js';
import { OPENING } from '../oracle/recording.js';
import { MS, Simulation } from '../oracle/simulation.js';
import { type Asked, FREE, KEY, type Recorder, Server } from './server.js';

export const LEASE_MS = 600;
/** A place ends when its client has not asked for so long. */
export const PLACE_MS = 400;
const LENGTH_MS = 11_000;

export interface Program {
  /** `jumps`: takes the lock where it is free, whoever waits. `abandons`: leaves its place behind when it gives up. */
  queues: 'soundly' | 'jumps' | 'abandons';
  /** For how long the first may be silent until others remove its place; Infinity: they do not. */
  sweepsAfterMs: number;
  /** What the server is asked for, of the lease; 0: to keep it for ever. */
  ttlFactor: number;
  /** Whether a refused request prolongs what is there. */
  prolongs: boolean;
  /** What is held is renewed: until it is released, or on and on, and not released. */
  renews: 'never' | 'soundly' | 'on-and-on';
  /** Whether a release says in the key that it is free, for ever, and does not remove it. */
  marksFree?: boolean;
}

export type FaultKind = 'kill' | 'stop' | 'stranger' | 'jump' | 'restart';

export interface Fault {
  kind: FaultKind;
  atMs: number;
  forMs: number;
  whom: number;
  isRecorded: boolean;
}

export interface Setup {
  clients: number;
  program: Program;
  /** What the first client's program does otherwise. */
  older: Partial<Program>;
  faults: Fault[];
  latePerMille: number;
  breaks: { atMs: number; forMs: number }[];
  noise: number;
  /** The run ends with a probe; nobody begins anything else after `ENDED_MS`. */
  probe?: { looksUntilMs: number };
}

/** When a run that is probed is over, and when all that began before has ended. */
const [ENDED_MS, PROBED_MS] = [4_400, 6_700];
const GRACE_MS = 2_000;

/** An acquire, as its client lived through it. */
export interface LivedAcquire {
  readonly client: string;
  readonly id: number;
  /** When its client had that, and could ask for anything at all. */
  beganNs: number;
  /** Until it was over: given up, released, or its client died. */
  overNs: number;
  grantSentNs: number;
}

export interface Run {
  input: CheckInput;
  server: Server;
  acquires: readonly LivedAcquire[];
}

export function play(setup: Setup): Run {
  const run = new Playing(setup);
  return run.play();
}

class Playing implements Recorder {
  private readonly sim: Simulation;
  private readonly server: Server;
  private readonly events: { atNs: number; body: HistoryBody }[] = [];
  private readonly lines: Observation[] = [];
  private readonly acquires: LivedAcquire[] = [];
  private readonly clients: Client[] = [];
  private isWatched = true;
  private readNs = 0;
  private steps = 0;

  constructor(private readonly setup: Setup) {
    this.sim = new Simulation(setup.noise);
    this.server = new Server(this.sim, this);
  }

  play(): Run {
    const { sim, setup, server } = this;
    this.event(OPENING);
    const deployed = { topology: 'single', runtime: 'netns', serverVersion: '7.0.15', settings: [] };
    this.event({ type: 'deployment', ...deployed, quorum: { kind: 'primary' } });
    for (let n = 1; n <= setup.clients; n++) this.up(n);
    this.line({ type: 'watch', watching: true });
    this.sample();
    for (const client of this.clients) sim.after(sim.between(20, 60), () => client.acquire());
    for (const fault of setup.faults) sim.after(fault.atMs, () => this.strike(fault));
    for (const { atMs, forMs } of setup.breaks) {
      sim.after(atMs, () => this.watch(false));
      sim.after(atMs + forMs, () => this.watch(true));
    }
    if (setup.probe) {
      sim.after(ENDED_MS, () => this.event({ type: 'recovered', afterMs: 1, missing: [] }));
      sim.after(PROBED_MS, () => this.probe());
    }
    sim.run(LENGTH_MS * MS);
    this.event({ type: 'phase', phase: 'end' });
    this.event({ type: 'closed', observations: this.lines.length });
    return { input: this.input(), server, acquires: this.acquires };
  }

  // ---------------------------------------------------------------------------------------------------------- the record

  event(body: HistoryBody, afterMs = 0): void {
    this.events.push({ atNs: Math.round(this.sim.nowNs + afterMs * MS), body });
  }

  command(source: string, client: string | undefined, argv: string[], wallMs: number): void {
    if (!this.isWatched) return;
    const isLate = this.sim.chance() * 1_000 < this.setup.latePerMille;
    const readNs = Math.round(this.sim.nowNs + (isLate ? this.sim.between(1, 300) : this.sim.between(0.05, 0.3)) * MS);
    this.readNs = Math.max(readNs, this.readNs);
    const seen = { serverWallMs: wallMs, source, ...(client !== undefined && { client }), argv };
    this.line({ type: 'command', ...seen }, this.readNs);
  }

  died(): void {
    this.watch(false);
  }

  started(): void {
    this.watch(true);
    this.look();
  }

  private watch(watching: boolean): void {
    if (this.isWatched === watching) return;
    this.isWatched = watching;
    this.readNs = Math.max(this.sim.nowNs, this.readNs);
    this.line({ type: 'watch', watching }, this.readNs);
  }

  /** As the harness does: the same client tries again and again, until it is granted the lock or the grace is over. */
  private probe(): void {
    const { sim } = this;
    // What a client sends of its own old hold while it asks anew cannot be told from what it asks.
    const client = this.clients.findLast((one) => !one.isDead && !one.isForgetful) ?? this.up(this.clients.length + 1);
    const beganNs = sim.nowNs;
    const giveUpNs = beganNs + (LEASE_MS + PLACE_MS + GRACE_MS) * MS;
    const tryOnce = () =>
      client.acquire(500, (isGranted) => {
        if (!isGranted && sim.nowNs < giveUpNs) return tryOnce();
        const afterMs = Math.round((sim.nowNs - beganNs) / MS);
        const told = { client: client.name, key: KEY, acquired: isGranted, afterMs };
        return this.event({ type: 'probe', ...told, ...(!isGranted && { reason: 'held' }) }, 0.3);
      });
    tryOnce();
  }

  /** Whether nothing new is begun any more. */
  get isOver(): boolean {
    return this.setup.probe !== undefined && this.sim.nowNs > ENDED_MS * MS;
  }

  private up(n: number): Client {
    const program = { ...this.setup.program, ...(n === 1 ? this.setup.older : {}) };
    const client = new Client(`c${n}`, `10.77.0.${20 + n}`, program, this);
    this.clients.push(client);
    this.event({
      type: 'client-up',
      client: client.name,
      slot: client.name,
      host: client.name,
      address: client.address,
      lock: 'oracle',
      features: program.renews === 'never' ? [] : ['renews'],
      deadlines: { place: PLACE_MS },
    });
    return client;
  }

  private sample(): void {
    if (!this.server.isDown && this.sim.nowNs < (this.setup.probe?.looksUntilMs ?? LENGTH_MS) * MS) this.look();
    this.sim.after(this.sim.between(100, 112), () => this.sample());
  }

  private look(): void {
    const { sim, server } = this;
    server.expire();
    const { lock } = server;
    const wallMs = server.wallMs();
    const pttlMs = lock && Number.isFinite(lock.expiresMs) ? Math.max(0, Math.round(lock.expiresMs - wallMs)) : -1;
    this.line(
      {
        type: 'sample',
        role: 'primary',
        offset: 0,
        runId: server.runId,
        skewMs: server.aheadMs,
        wallMs: [Math.floor(wallMs), Math.ceil(wallMs + 1)],
        ...(!lock && !server.isMarkedFree && server.queue.length === 0 && { isEmpty: true }),
        keys: lock || server.isMarkedFree ? { [KEY]: { owner: lock?.name ?? FREE, pttlMs, type: 'string' } } : {},
      },
      sim.nowNs + 1 * MS,
    );
  }

  private line(body: object, atNs = this.sim.nowNs): void {
    this.lines.push({ atNs: Math.round(atNs), node: 'r1', ...body } as Observation);
  }

  private struck(fault: string, targets: string[], effects: FaultEffect[]): () => void {
    const record = { type: 'fault' as const, step: this.steps++, fault, targets };
    const beganNs = this.sim.nowNs;
    this.event({ ...record, state: 'strike', did: `${fault} of ${targets}`, beganNs, effects }, 0.2);
    return () => {
      const healed = { state: 'heal' as const, did: `healed ${fault}`, beganNs: this.sim.nowNs, effects: [] };
      this.event({ ...record, ...healed }, 0.2);
    };
  }

  private input(): CheckInput {
    const ordered = this.events.map((event, n) => ({ ...event, n })).sort((a, b) => a.atNs - b.atNs || a.n - b.n);
    const lines = this.lines.map((line, n) => ({ line, n })).sort((a, b) => a.line.atNs - b.line.atNs || a.n - b.n);
    return {
      history: historyOf(
        ordered.map(({ atNs, body }, i): HistoryEvent => ({ i, atNs, ...body })),
        false,
      ),
      observations: observationsOf(lines.map(({ line }) => line)),
      config: { ...literalConfig, topology: 'single', keys: [KEY], leaseMs: LEASE_MS },
      plan: { version: 1, seed: 1, steps: [] },
      model: { kind: 'fair' },
    };
  }

  // ---------------------------------------------------------------------------------------------------------- what befalls

  private strike({ kind, whom, forMs, isRecorded }: Fault): void {
    const { sim, server } = this;
    const client = this.clients[whom % this.clients.length]!;
    if (kind === 'stranger') server.meddle();
    else if (kind === 'jump') {
      const byMs = whom % 3 === 0 ? -300 : 400;
      server.jump(byMs);
      const heal = isRecorded
        ? this.struck('jump', ['r1'], [{ kind: 'clock-jumped', who: ['r1'], offsetMs: byMs }])
        : () => {};
      sim.after(forMs, () => {
        server.jump(-byMs);
        heal();
      });
    } else if (kind === 'restart') {
      server.restart();
      const effects: FaultEffect[] = [
        { kind: 'killed', who: ['r1'] },
        { kind: 'forgot', who: ['r1'] },
      ];
      const heal = this.struck('kill', ['r1'], effects);
      sim.after(3, heal);
    } else if (kind === 'kill') {
      if (client.isDead) return;
      client.die();
      this.struck('kill', [client.name], [{ kind: 'killed', who: [client.name] }]);
      this.event({ type: 'client-down', client: client.name, endNs: sim.nowNs, reason: 'killed' }, 0.5);
    } else if (!client.isDead && !client.isStopped) {
      client.stop();
      const heal = this.struck('pause', [client.name], [{ kind: 'stopped', who: [client.name] }]);
      sim.after(forMs, () => {
        heal();
        client.goOn();
      });
    }
  }

  // ----------------------------------------------------------------------------------------------------- for the clients

  began(acquire: LivedAcquire): void {
    this.acquires.push(acquire);
  }

  get world() {
    return { sim: this.sim, server: this.server };
  }
}

class Client {
  isDead = false;
  isStopped = false;
  private waiting: (() => void)[] = [];
  private ids = 0;

  constructor(
    readonly name: string,
    readonly address: string,
    private readonly program: Program,
    private readonly run: Playing,
  ) {}

  /** It goes on renewing what it has given up. */
  get isForgetful(): boolean {
    return this.program.renews === 'on-and-on';
  }

  die(): void {
    this.isDead = true;
    for (const one of this.lived) one.overNs = Math.min(one.overNs, this.run.world.sim.nowNs);
  }

  stop(): void {
    this.isStopped = true;
  }

  goOn(): void {
    this.isStopped = false;
    for (const act of this.waiting.splice(0)) this.later(0.05, act);
  }

  private readonly lived: LivedAcquire[] = [];

  private later(ms: number, act: () => void): void {
    this.run.world.sim.after(ms, () => {
      if (this.isDead) return;
      if (this.isStopped) this.waiting.push(act);
      else act();
    });
  }

  /** `told` hears whether it was granted, where it is a probe; else the client goes on to its next one. */
  acquire(ofMs?: number, told?: (isGranted: boolean) => void): void {
    const { sim } = this.run.world;
    if (this.run.isOver && !told) return;
    const id = ++this.ids;
    const waitMs = ofMs ?? sim.between(300, 1_500);
    const invoke = { client: this.name, id, op: 'acquire' as const, key: KEY, leaseMs: LEASE_MS, waitMs };
    this.run.event({ type: 'invoke', ...invoke });
    const acquire: LivedAcquire = {
      client: this.name,
      id,
      beganNs: Number.POSITIVE_INFINITY,
      overNs: Number.POSITIVE_INFINITY,
      grantSentNs: Number.POSITIVE_INFINITY,
    };
    this.run.began(acquire);
    this.lived.push(acquire);
    const source = `${this.address}:40000`;
    const score = Math.round(sim.nowNs / 1_000);
    const asked: Asked = { client: this.name, source, acquire: id, place: `${this.name}-${id}`, score };
    this.later(0.3, () => {
      acquire.beganNs = sim.nowNs;
      this.ask(acquire, asked, sim.nowNs, sim.nowNs + waitMs * MS, true, told);
    });
  }

  private ask(
    acquire: LivedAcquire,
    asked: Asked,
    beganNs: number,
    untilNs: number,
    isFirst: boolean,
    told?: (isGranted: boolean) => void,
  ): void {
    const { sim, server } = this.run.world;
    const { queues, ttlFactor, prolongs, sweepsAfterMs, marksFree } = this.program;
    const ttlMs = ttlFactor === 0 ? undefined : Math.round(LEASE_MS * ttlFactor);
    const sentNs = sim.nowNs;
    const stamps = { client: this.name, id: acquire.id, op: 'acquire' as const, key: KEY };
    sim.after(sim.between(0.1, 0.4), () => {
      const isGranted =
        queues === 'jumps'
          ? server.jumpIn(asked, ttlMs)
          : server.ask(asked, ttlMs, { prolongs, sweepsAfterMs, marksFree });
      this.later(sim.between(0.1, 0.4), () => {
        if (isGranted) {
          acquire.grantSentNs = sentNs;
          this.run.event({ type: 'ok', ...stamps, beganNs, endedNs: sim.nowNs, grantSentNs: sentNs }, 0.2);
          this.work(acquire, asked);
          told?.(true);
          return;
        }
        if (isFirst && queues !== 'jumps') {
          const step = { client: this.name, name: 'queued', clientNs: sim.nowNs, hold: acquire.id };
          this.run.event({ type: 'step', ...step }, 0.2);
        }
        if (sim.nowNs < untilNs) {
          this.later(sim.between(60, 120), () => this.ask(acquire, asked, beganNs, untilNs, false, told));
          return;
        }
        if (queues === 'soundly') sim.after(sim.between(0.1, 0.4), () => server.giveUp(asked));
        this.later(1, () => {
          acquire.overNs = sim.nowNs;
          this.run.event({ type: 'fail', ...stamps, beganNs, endedNs: sim.nowNs, reason: 'held' }, 0.2);
          if (told) told(false);
          else this.later(sim.between(5, 60), () => this.acquire());
        });
      });
    });
  }

  private work(acquire: LivedAcquire, asked: Asked): void {
    const { sim } = this.run.world;
    const { renews, marksFree } = this.program;
    let isOver = false;
    const renew = () => {
      if (isOver && renews === 'soundly') return;
      sim.after(sim.between(0.1, 0.4), () => this.run.world.server.renew(asked, LEASE_MS));
      this.later(LEASE_MS / 3, renew);
    };
    if (renews !== 'never') this.later(LEASE_MS / 3, renew);
    this.later(sim.between(0.1, 0.7) * LEASE_MS, () => {
      isOver = true;
      const id = ++this.ids;
      const about = { client: this.name, id, op: 'release' as const, key: KEY, hold: acquire.id };
      this.run.event({ type: 'invoke', ...about });
      const beganNs = sim.nowNs;
      // It forgets the lock, which its renewal does not, and asks for it no more.
      if (renews !== 'on-and-on')
        sim.after(sim.between(0.1, 0.4), () => this.run.world.server.release(asked, marksFree));
      this.later(1, () => {
        acquire.overNs = sim.nowNs;
        this.run.event({ type: 'ok', ...about, beganNs, endedNs: sim.nowNs }, 0.2);
        if (renews !== 'on-and-on') this.later(sim.between(5, 60), () => this.acquire());
      });
    });
  }
}
