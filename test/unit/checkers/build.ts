/**
 * Literal histories that read like the story they tell. Times are seconds since the epoch of the run, as in the reports.
 *
 *     const story = new Story().grant('c1', 1, 'lock:0').release('c1', 3).grant('c2', 3.5).release('c2', 4);
 *     mutualExclusion(story.input())
 *
 * Unless told otherwise a granted attempt leaves 2 ms and begins 3 ms before the client has its answer, the harness reads
 * a millisecond later, and leases are 5 s.
 *
 * Where nothing counts but when an operation was called and when it was answered, these two are told:
 *
 *     new Story().acquire('c1', [0, 2]).acquire('c2', [1, 4], { reason: 'held' }).release('c1', [5, 6])
 */

import { historyOf } from '../../../harness/record/history-table.js';
import { observationsOf } from '../../../harness/record/observations.js';
import type { Plan } from '../../../harness/vocabulary/faults.js';
import type {
  Completion,
  FaultRecord,
  History,
  HistoryBody,
  HistoryEvent,
  Observation,
  ObservationBody,
} from '../../../harness/vocabulary/history.js';
import type { LeaseKind, LockMode, LockModel } from '../../../harness/vocabulary/protocol.js';
import type { CheckInput, RunConfig } from '../../../harness/vocabulary/run.js';
import type { Quorum } from '../../../harness/vocabulary/topology.js';

export const LEASE_MS = 5_000;
export const KEY = 'lock:0';
export const EPOCH_WALL_MS = 1_700_000_000_000;
const MS = 0.001;

export function ns(seconds: number): number {
  return Math.round(seconds * 1e9);
}

export interface GrantOptions {
  key?: string;
  leaseMs?: number;
  /** When the harness sent the operation, the client began it, and the granted attempt left. */
  sent?: number;
  began?: number;
  grantSent?: number;
  read?: number;
  /** False: a client that does not stamp. */
  stamps?: boolean;
  validForMs?: number;
  /** Of a read-write lock. */
  mode?: LockMode;
  /** Fencing token. */
  token?: number;
}

/** When the harness sent an operation and when it read the answer, in seconds; without the second it was never answered. */
export type CallTimes = readonly [sent: number, read?: number];

export interface CallOptions {
  /** Given: it failed, and this is why. */
  reason?: string;
  /** `info`: the answer leaves open what came of it. */
  type?: 'ok' | 'fail' | 'info';
  key?: string;
  leaseMs?: number;
  mode?: LockMode;
  token?: number;
}

export interface EndOptions {
  /** The id of the acquire: operations of a client count from 1. Absent: its last that did not fail. */
  hold?: number;
  sent?: number;
  /** How it ended; `never`: no completion is recorded. */
  type?: 'ok' | 'fail' | 'info' | 'never';
  /** Given: it failed, and this is why. */
  reason?: string;
  stamps?: boolean;
  read?: number;
}

/** What happened at a time, in seconds. */
export type Told = { at: number; body: HistoryBody };

type Sample = Extract<ObservationBody, { type: 'sample' }>;
type Stored = Extract<ObservationBody, { type: 'stored' }>;

export class Story {
  private readonly events: { atNs: number; body: HistoryBody }[] = [];
  private readonly observations: Observation[] = [];
  private readonly ids = new Map<string, number>();
  private readonly machineSteps: { atNs: number; ms: number }[] = [];
  private readonly current = new Map<string, { id: number; key: string }>();
  private config: Partial<RunConfig> = {};
  private steps: Plan['steps'] = [];
  private isTorn = false;
  private isOpen = false;
  private model: LockModel = { kind: 'mutex' };

  /** What the clients take the lock for; a mutex unless told. */
  promised(model: LockModel): this {
    this.model = model;
    return this;
  }

  /**
   * `opening`: begins with the event that opens every run. Without it the first event of the test is line 0. `epochWallMs`: what is
   * recorded of the machine's clock, which in truth was at `EPOCH_WALL_MS` then.
   */
  constructor(opening = true, epochWallMs = EPOCH_WALL_MS) {
    if (!opening) return;
    this.event(0, { type: 'run', version: 2, runId: 'literal', seed: 1, epochWallMs });
  }

  event(at: number, body: HistoryBody): this {
    this.events.push({ atNs: ns(at), body });
    return this;
  }

  /** Events as `literal.ts` words them, where a test is about their ids, answers and stamps. */
  tell(told: readonly Told[]): this {
    for (const { at, body } of told) this.event(at, body);
    return this;
  }

  /** The same `count` times; `n` counts from 0. */
  times(count: number, tell: (story: this, n: number) => void): this {
    for (let n = 0; n < count; n++) tell(this, n);
    return this;
  }

  up(client: string, features: string[] = [], lease?: LeaseKind): this {
    const host = client.split('.')[0]!;
    return this.event(0.1, {
      type: 'client-up',
      client,
      slot: host,
      host,
      address: '10.77.0.9',
      lock: 'set-nx-px',
      features,
      ...(lease && { lease }),
    });
  }

  down(client: string, at: number, reason = 'killed by the nemesis'): this {
    return this.event(at + MS, { type: 'client-down', client, endNs: ns(at), reason });
  }

  /** `client` has the answer "granted" at `at`. */
  grant(client: string, at: number, options: GrantOptions = {}): this {
    const { key = KEY, leaseMs = LEASE_MS, stamps = true, grantSent = at - 2 * MS } = options;
    const { validForMs, mode, token } = options;
    const { began = grantSent - MS, read = at + MS } = options;
    const { sent = began - MS } = options;
    const id = this.next(client);
    this.current.set(client, { id, key });
    this.event(sent, { type: 'invoke', client, id, op: 'acquire', key, leaseMs, waitMs: 0, ...(mode && { mode }) });
    const own: Completion = stamps ? { beganNs: ns(began), endedNs: ns(at), grantSentNs: ns(grantSent) } : {};
    return this.event(read, {
      type: 'ok',
      client,
      id,
      op: 'acquire',
      key,
      ...own,
      ...(validForMs !== undefined && { validForMs }),
      ...(token !== undefined && { token }),
    });
  }

  /** A try from `from` to `at` that was refused, or whose outcome is unknown. */
  refused(client: string, from: number, at: number, type: 'fail' | 'info' = 'fail', key = KEY): this {
    const id = this.next(client);
    this.event(from, { type: 'invoke', client, id, op: 'acquire', key, leaseMs: LEASE_MS, waitMs: 0 });
    return this.event(at, {
      type,
      client,
      id,
      op: 'acquire',
      key,
      reason: type === 'fail' ? 'held' : 'timeout',
      beganNs: ns(from),
      endedNs: ns(at),
    });
  }

  /** An acquire that is known by its call and its answer alone: no stamps, and no lease unless told. */
  acquire(client: string, [sent, read]: CallTimes, options: CallOptions = {}): this {
    const { key = KEY, reason, type = reason === undefined ? 'ok' : 'fail', leaseMs, mode, token } = options;
    const id = this.next(client);
    if (type !== 'fail') this.current.set(client, { id, key });
    const about = { client, id, op: 'acquire', key } as const;
    this.event(sent, { type: 'invoke', ...about, ...(leaseMs !== undefined && { leaseMs }), ...(mode && { mode }) });
    if (read === undefined) return this;
    const answer = { ...(reason !== undefined && { reason }), ...(token !== undefined && { token }) };
    return this.event(read, { type, ...about, ...answer });
  }

  /** The client's last hold: its release begins at `at`; or it is known by its call and its answer alone. */
  release(client: string, at: number | CallTimes, options: EndOptions = {}): this {
    if (typeof at === 'number') return this.operate('release', client, at, options, undefined);
    const [sent, read] = at;
    const bare = { sent, stamps: false, ...(read === undefined ? { type: 'never' as const } : { read }) };
    return this.operate('release', client, sent, { ...bare, ...options }, undefined);
  }

  /** An extension that leaves at `at`. */
  extend(client: string, at: number, leaseMs = LEASE_MS, options: EndOptions = {}): this {
    return this.operate('extend', client, at, options, leaseMs);
  }

  renewed(client: string, at: number, leaseMs = LEASE_MS): this {
    const { id, key } = this.holdOf(client);
    return this.event(at + MS, { type: 'renewed', client, hold: id, key, sentNs: ns(at), leaseMs });
  }

  lost(client: string, at: number, read = at + MS, reason?: string): this {
    const { id, key } = this.holdOf(client);
    const why = reason !== undefined && { reason };
    return this.event(read, { type: 'lost', client, hold: id, key, clientNs: ns(at), ...why });
  }

  fault(at: number, step: number, fault: string, state: FaultRecord['state'], record: Partial<FaultRecord> = {}): this {
    return this.event(at, {
      type: 'fault',
      step,
      fault,
      state,
      targets: [],
      did: `${fault} ${state}`,
      effects: [],
      ...record,
    });
  }

  /** A deployment of nodes that know nothing of each other: r1, r2, … */
  independent(count = 5): this {
    const nodes = Array.from({ length: count }, (_, n) => `r${n + 1}`);
    return this.deployed({ kind: 'majority', nodes, majority: Math.floor(count / 2) + 1 });
  }

  /** A deployment in which one server answers for a key. */
  replicated(): this {
    return this.deployed({ kind: 'primary' });
  }

  deployed(quorum: Quorum): this {
    const deployed = { topology: 'any', runtime: 'netns', serverVersion: '7.0.15', settings: [], quorum };
    return this.event(0, { type: 'deployment', ...deployed });
  }

  /** Of a clock that was stepped, what servers stamp after it was is told after this. */
  disturbed(at: number, disturbance: 'harness-stall' | 'wall-clock-step', ms: number): this {
    if (disturbance === 'wall-clock-step') this.machineSteps.push({ atNs: ns(at), ms });
    const lasts = disturbance === 'harness-stall' ? Math.max(0.02, ms / 1_000) : 0.02;
    return this.event(at + lasts, { type: 'disturbance', disturbance, ms, beganNs: ns(at) });
  }

  recovered(at: number, missing: string[] = []): this {
    return this.event(at, { type: 'recovered', afterMs: 10, missing });
  }

  probe(at: number, acquired: boolean, key = KEY): this {
    return this.event(at, {
      type: 'probe',
      key,
      client: 'c1',
      acquired,
      afterMs: 20,
      ...(!acquired && { reason: 'held' }),
    });
  }

  /** What every whole run ends with: recovered, every key had again, the end. */
  whole(at: number): this {
    this.recovered(at);
    for (const key of this.keys()) this.probe(at + 0.1, true, key);
    return this.event(at + 0.2, { type: 'phase', phase: 'end' });
  }

  /** The run was killed, or goes on: its record is not closed. Of others it is where they tell of a deployment. */
  open(): this {
    this.isOpen = true;
    return this;
  }

  torn(): this {
    this.isTorn = true;
    return this;
  }

  configured(config: Partial<RunConfig>): this {
    this.config = { ...this.config, ...config };
    return this;
  }

  planned(...faults: string[]): this {
    this.steps = faults.map((fault, n) => ({ atMs: n * 1_000, forMs: 1_000, fault, target: 'all' }));
    return this;
  }

  // ------------------------------------------------------------------------------------------------- observations

  /** A command as MONITOR shows it; `by` is a client, `lua` for a script's inner command, or `link` for replication. */
  command(at: number, node: string, by: string, argv: string[], skewMs = 0, from = '10.77.0.9:40000'): this {
    const source = by === 'lua' ? 'lua' : by === 'link' ? '10.77.0.1:6379' : from;
    const client = by === 'lua' || by === 'link' || by === 'stranger' ? {} : { client: by };
    const ranNs = ns(at) + Math.min(0, skewMs) * 1e6;
    const steppedMs = this.machineSteps.reduce((sumMs, { atNs, ms }) => (atNs <= ranNs ? sumMs + ms : sumMs), 0);
    const serverWallMs = EPOCH_WALL_MS + at * 1_000 + skewMs + steppedMs;
    return this.observe(at, node, { type: 'command', serverWallMs, source, argv, ...client });
  }

  /** The take of a SET NX PX lock. */
  take(at: number, node: string, client: string, value = `value-of-${client}`, skewMs = 0, ttlMs = LEASE_MS): this {
    return this.command(at, node, client, ['SET', KEY, value, 'PX', String(ttlMs), 'NX'], skewMs);
  }

  /** The take of a lock that counts its fencing tokens in the same script. */
  takeCounted(at: number, node: string, client: string, counter = `{${KEY}}:fence`): this {
    const value = `value-of-${client}`;
    this.command(at, node, client, ['EVAL', 'abc', '2', KEY, counter, value, String(LEASE_MS)]);
    this.command(at, node, 'lua', ['exists', KEY]);
    this.command(at, node, 'lua', ['incr', counter]);
    return this.command(at, node, 'lua', ['set', KEY, value, 'PX', String(LEASE_MS)]);
  }

  /** A compare-and-delete that found its value. */
  unlock(at: number, node: string, client: string, value = `value-of-${client}`, skewMs = 0): this {
    this.command(at, node, client, ['EVALSHA', 'abc', '1', KEY, value], skewMs);
    this.command(at, node, 'lua', ['get', KEY], skewMs);
    return this.command(at, node, 'lua', ['del', KEY], skewMs);
  }

  sample(at: number, node: string, fields: Partial<Sample> & { owner?: string; pttlMs?: number } = {}): this {
    const { owner, pttlMs = LEASE_MS, ...rest } = fields;
    const keys: Sample['keys'] = owner === undefined ? {} : { [KEY]: { owner, pttlMs } };
    return this.observe(at, node, {
      type: 'sample',
      role: 'primary',
      offset: 0,
      runId: 'run-1',
      skewMs: 0,
      keys,
      ...rest,
    });
  }

  /** Samples so near to each other, from an instant up to another, that nothing can have become of the node unseen. */
  looks(from: number, until: number, node: string, fields: Parameters<Story['sample']>[2] = {}): this {
    const count = Math.ceil((until - from) / 0.1 - 1e-6);
    return this.times(count, (story, n) => story.sample(from + n / 10, node, fields));
  }

  watch(at: number, node: string, watching = true): this {
    return this.observe(at, node, { type: 'watch', watching });
  }

  evicted(at: number, node: string, key = KEY): this {
    return this.observe(at, node, { type: 'evicted', key });
  }

  /** What a service that is not Redis says that it has stored; the client is whose owner value it is. */
  stored(at: number, node: string, position: number, owner: string | undefined, fields: Partial<Stored> = {}): this {
    const client = owner?.split(':')[0];
    const whose = owner !== undefined && { owner, client: client! };
    return this.observe(at, node, { type: 'stored', key: KEY, log: 'log', position, ...whose, ...fields });
  }

  /** What such a server takes itself for. */
  role(at: number, node: string, role: 'primary' | 'replica', runId = '1', term = 1): this {
    return this.observe(at, node, { type: 'role', role, term, runId });
  }

  private observe(at: number, node: string, body: ObservationBody): this {
    this.observations.push({ atNs: ns(at), node, ...body });
    return this;
  }

  // -------------------------------------------------------------------------------------------------- the finished story

  history(): History {
    const ordered = this.events.map((event, n) => ({ ...event, n })).sort((a, b) => a.atNs - b.atNs || a.n - b.n);
    const events = ordered.map(({ atNs, body }, i): HistoryEvent => ({ i, atNs, ...body }));
    const closes = !this.isOpen && events.some(({ type }) => type === 'deployment');
    if (closes && !events.some(({ type }) => type === 'closed')) {
      const observations = this.observations.length;
      events.push({ i: events.length, atNs: events.at(-1)!.atNs, type: 'closed', observations });
    }
    return historyOf(events, this.isTorn);
  }

  input(): CheckInput {
    const observations = this.observations
      .map((one, n) => ({ one, n }))
      .sort((a, b) => a.one.atNs - b.one.atNs || a.n - b.n);
    return {
      history: this.history(),
      observations: observationsOf(observations.map(({ one }) => one)),
      config: { ...literalConfig, keys: this.keys(), ...this.config },
      plan: { version: 1, seed: 1, steps: this.steps },
      model: this.model,
    };
  }

  private operate(
    op: 'release' | 'extend',
    client: string,
    at: number,
    options: EndOptions,
    leaseMs: number | undefined,
  ): this {
    const { sent = at - MS, reason, type = reason === undefined ? 'ok' : 'fail', stamps = true } = options;
    const { read = at + 3 * MS } = options;
    const { id: hold, key } = options.hold === undefined ? this.holdOf(client) : { id: options.hold, key: KEY };
    const id = this.next(client);
    this.event(sent, { type: 'invoke', client, id, op, key, hold, ...(leaseMs !== undefined && { leaseMs }) });
    if (type === 'never') return this;
    const own: Completion = stamps ? { beganNs: ns(at), endedNs: ns(at + MS) } : {};
    return this.event(read, { type, client, id, op, key, hold, ...own, ...(reason !== undefined && { reason }) });
  }

  private next(client: string): number {
    const id = (this.ids.get(client) ?? 0) + 1;
    this.ids.set(client, id);
    return id;
  }

  private holdOf(client: string) {
    const hold = this.current.get(client);
    if (!hold) throw new Error(`the story has no hold of ${client}`);
    return hold;
  }

  private keys(): string[] {
    return [...new Set(this.events.flatMap(({ body }) => (body.type === 'invoke' ? [body.key] : [])).concat(KEY))];
  }
}

export const literalConfig: RunConfig = {
  version: 2,
  runId: 'literal',
  startedAt: '2026-01-01T00:00:00Z',
  seed: 1,
  topology: 'sentinel',
  topologyOptions: { nodes: 3, persistence: 'none', minReplicasToWrite: 0, redisConf: [] },
  runtime: 'netns',
  lock: 'set-nx-px',
  cwd: '/tmp',
  workload: 'mutex',
  clients: 2,
  keys: [KEY],
  leaseMs: LEASE_MS,
  waitMs: 0,
  hold: { min: 0.1, max: 0.8 },
  careless: false,
  timeLimitMs: 20_000,
  nemesis: [],
  nemesisIntervalMs: 1_000,
  failOn: ['exclusion', 'stale', 'harm', 'liveness'],
  redis: { path: 'redis-server', env: {}, version: '7.0.15', origin: 'PATH' },
  clientArgv: [],
  unavailable: {},
  reproduce: 'npm run torture -- --seed 1',
};

/** `count` holds of 0.8 s, one a second, by c1 and c2 in turn; each is refused while the other holds. */
export function turns(count = 12): Story {
  const story = new Story().up('c1').up('c2');
  for (let n = 0; n < count; n++) {
    const [holder, other] = n % 2 === 0 ? ['c1', 'c2'] : ['c2', 'c1'];
    story
      .grant(holder!, n + 1)
      .refused(other!, n + 1.2, n + 1.3)
      .release(holder!, n + 1.8);
  }
  return story;
}

/** Of c1 and c2, whose lock is fair; `deadline`: it says that a place in its queue lasts for a lease. */
export function fairStory(deadline: boolean | 'never'): Story {
  const story = new Story().promised({ kind: 'fair' });
  for (const client of ['c1', 'c2']) {
    const where = { client, slot: client, host: client, address: '10.77.0.9' };
    const says = {
      lock: 'fair',
      features: [],
      ...(deadline && { deadlines: { place: deadline === 'never' ? deadline : ('lease' as const) } }),
    };
    story.event(0.05, { type: 'client-up', ...where, ...says });
  }
  return story;
}
