/**
 * Writes the folder of a run that never was, of any length, with lines like the recorder's own: for measuring what reading,
 * judging and reporting cost. The lock is a correct one but for the overlaps that were asked for, spread over the run; in
 * each of them a client deletes the key of another, and takes it.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { writeJson } from '../harness/record/store.js';
import { createRandom } from '../harness/runtimes/random.js';
import type { Plan } from '../harness/vocabulary/faults.js';
import type { HistoryBody, Observation, ObservationBody } from '../harness/vocabulary/history.js';
import type { RunConfig } from '../harness/vocabulary/run.js';
import type { Random } from '../harness/vocabulary/time.js';

export interface RecordedRun {
  /** Invoked operations, to the next few. */
  operations: number;
  overlaps: number;
  /** Whether the server's commands and samples are recorded, too. */
  observed: boolean;
  seed: number;
}

const KEYS = ['lock:0', 'lock:1', 'lock:2', 'lock:3'];
const LEASE_MS = 5_000;
const MS = 1e6;
/** Of one turn on one key: an acquire, a refused try and a release. */
const OPERATIONS_A_TURN = 3;
const TURN_MS = 40;
const EPOCH_WALL_MS = 1_795_286_930_890.5396;
const UNLOCK = "\nif redis.call('get', KEYS[1]) == ARGV[1] then\n  return redis.call('del', KEYS[1])\nend\nreturn 0\n";

/** What happens on one key, in the order of time. */
type Moment = { atNs: number; event: HistoryBody } | { atNs: number; observation: ObservationBody };

export function writeRecordedRun(folder: string, run: RecordedRun): void {
  const random = createRandom(run.seed);
  const turns = Math.ceil(run.operations / OPERATIONS_A_TURN / KEYS.length);
  const every = run.overlaps > 0 ? Math.max(1, Math.floor((turns * KEYS.length) / run.overlaps)) : Infinity;
  const happenings = KEYS.map((key, n) => new OnOneKey(key, n, turns, every, random.fork(key)).moments());
  if (run.observed) happenings.push(samples(turns));

  const history = new LineWriter(join(folder, 'history.jsonl'));
  const observations = new LineWriter(join(folder, 'observations.jsonl'));
  let i = 0;
  const record = (atNs: number, body: HistoryBody) => history.write({ i: i++, atNs, ...body });
  beginning(run, record);
  let lastNs = 0;
  for (const moment of merged(happenings)) {
    lastNs = moment.atNs;
    if ('event' in moment) record(moment.atNs, moment.event);
    else if (run.observed)
      observations.write({ atNs: moment.atNs, node: 'r1', ...moment.observation } satisfies Observation);
  }
  record(lastNs + MS, { type: 'recovered', afterMs: 12, missing: [] });
  for (const key of KEYS) record(lastNs + 2 * MS, { type: 'probe', key, client: 'c1', acquired: true, afterMs: 3 });
  record(lastNs + 3 * MS, { type: 'phase', phase: 'end' });
  history.close();
  observations.close();
  writeJson(folder, 'config.json', { ...CONFIG, seed: run.seed });
  writeJson(folder, 'plan.json', { version: 1, seed: run.seed, steps: [] } satisfies Plan);
}

function beginning(run: RecordedRun, record: (atNs: number, body: HistoryBody) => void): void {
  record(30_502_551, { type: 'run', version: 2, runId: CONFIG.runId, seed: run.seed, epochWallMs: EPOCH_WALL_MS });
  record(900 * MS, {
    type: 'deployment',
    topology: 'single',
    runtime: 'netns',
    serverVersion: '7.0.15',
    settings: [],
    quorum: { kind: 'primary' },
  });
  for (let n = 1; n <= 2 * KEYS.length; n++) {
    const client = `c${n}`;
    const address = `10.77.0.${6 + n}`;
    record((900 + n) * MS, {
      type: 'client-up',
      client,
      slot: client,
      host: client,
      address,
      lock: 'set-nx-px',
      features: ['clock', 'extend'],
    });
  }
  record(950 * MS, { type: 'phase', phase: 'warm-up' });
  record(960 * MS, { type: 'phase', phase: 'torture' });
}

/** Two clients that take one key in turn. */
class OnOneKey {
  private readonly clients: readonly [string, string];
  private readonly ids: Record<string, number> = {};

  constructor(
    private readonly key: string,
    private readonly nth: number,
    private readonly turns: number,
    private readonly overlapEvery: number,
    private readonly random: Random,
  ) {
    this.clients = [`c${2 * nth + 1}`, `c${2 * nth + 2}`];
  }

  *moments(): Generator<Moment> {
    for (let turn = 0; turn < this.turns; turn++) {
      const startNs = 1e9 + turn * TURN_MS * MS + this.nth * MS + this.random.int(0, 900_000);
      const overlap = (turn * KEYS.length + this.nth + 1) % this.overlapEvery === 0;
      yield* this.turn(startNs, this.clients[turn % 2]!, this.clients[(turn + 1) % 2]!, overlap);
    }
  }

  private *turn(startNs: number, holder: string, other: string, overlap: boolean): Generator<Moment> {
    const [triesNs, endsNs] = [startNs + (8 + this.random.int(0, 3)) * MS, startNs + (20 + this.random.int(0, 8)) * MS];
    const hold = yield* this.acquire(startNs, holder, true);
    if (overlap) yield this.command(triesNs - 1_000, other, ['del', this.key]);
    const second = yield* this.acquire(triesNs, other, overlap);
    yield* this.release(endsNs, holder, hold, !overlap);
    if (overlap) yield* this.release(endsNs + 6 * MS, other, second, true);
  }

  private *acquire(atNs: number, client: string, granted: boolean): Generator<Moment, { id: number; value: string }> {
    const id = this.nextId(client);
    const value = `${this.random.int(0, 2 ** 31)}`.padStart(12, '0').padEnd(40, 'e');
    const about = { client, id, op: 'acquire', key: this.key } as const;
    yield { atNs, event: { type: 'invoke', ...about, leaseMs: LEASE_MS, waitMs: 0 } };
    const grantSentNs = atNs + 450_000 + this.random.int(0, 99_999);
    yield this.command(grantSentNs + 310_000, client, ['set', this.key, value, 'PX', String(LEASE_MS), 'NX']);
    const own = { beganNs: grantSentNs - 80_000, endedNs: grantSentNs + 700_000 };
    const validForMs = 4_945 + this.random.int(0, 999_999) / 1e6;
    yield {
      atNs: grantSentNs + 900_000,
      event: granted
        ? { type: 'ok', ...about, ...own, grantSentNs, validForMs }
        : { type: 'fail', ...about, ...own, reason: 'held' },
    };
    return { id, value };
  }

  private *release(
    atNs: number,
    client: string,
    hold: { id: number; value: string },
    found: boolean,
  ): Generator<Moment> {
    const about = { client, id: this.nextId(client), op: 'release', key: this.key, hold: hold.id } as const;
    yield { atNs, event: { type: 'invoke', ...about } };
    const beganNs = atNs + 400_000 + this.random.int(0, 99_999);
    yield this.command(beganNs + 300_000, client, ['eval', UNLOCK, '1', this.key, hold.value]);
    yield this.command(beganNs + 301_000, 'lua', ['get', this.key]);
    if (found) yield this.command(beganNs + 302_000, 'lua', ['del', this.key]);
    const own = { beganNs, endedNs: beganNs + 700_000 };
    yield {
      atNs: beganNs + 900_000,
      event: found ? { type: 'ok', ...about, ...own } : { type: 'fail', ...about, ...own, reason: 'not ours' },
    };
  }

  private command(atNs: number, by: string, argv: string[]): Moment {
    const sent = by === 'lua' ? { source: 'lua' } : { source: `10.77.0.${6 + Number(by.slice(1))}:45184`, client: by };
    return { atNs, observation: { type: 'command', serverWallMs: EPOCH_WALL_MS + atNs / MS, ...sent, argv } };
  }

  private nextId(client: string): number {
    const id = (this.ids[client] ?? 0) + 1;
    this.ids[client] = id;
    return id;
  }
}

function* samples(turns: number): Generator<Moment> {
  const common = { type: 'sample', role: 'primary', offset: 0, skewMs: 0, keys: {} } as const;
  const runId = '5776434c42e555225e06a94ce8339f3a8d402726';
  yield { atNs: 970 * MS, observation: { type: 'watch', watching: true } };
  // In the pauses between two turns, when no client holds.
  for (let turn = 0; turn < turns; turn += 3)
    yield { atNs: 1e9 + (turn + 1) * TURN_MS * MS - 10_000, observation: { ...common, runId } };
}

/** All moments in the order of time. */
function* merged(sources: readonly Generator<Moment>[]): Generator<Moment> {
  const heads = sources.map((source) => source.next());
  for (;;) {
    let first = -1;
    for (const [n, head] of heads.entries()) {
      if (head.done) continue;
      const best = first < 0 ? undefined : heads[first]!;
      if (!best || best.done || head.value.atNs < best.value.atNs) first = n;
    }
    const head = heads[first];
    if (!head || head.done) return;
    yield head.value;
    heads[first] = sources[first]!.next();
  }
}

/** Lines in as few system calls as will do. */
class LineWriter {
  private readonly file: number;
  private lines: string[] = [];

  constructor(path: string) {
    this.file = openSync(path, 'w');
  }

  write(value: object): void {
    if (this.lines.push(JSON.stringify(value)) === 4_096) this.flush();
  }

  close(): void {
    this.flush();
    closeSync(this.file);
  }

  private flush(): void {
    if (this.lines.length > 0) writeSync(this.file, `${this.lines.join('\n')}\n`);
    this.lines = [];
  }
}

const CONFIG: RunConfig = {
  version: 2,
  runId: 'recorded',
  startedAt: '2026-01-01T00:00:00Z',
  seed: 1,
  topology: 'single',
  topologyOptions: { nodes: 1, persistence: 'none', minReplicasToWrite: 0, redisConf: [] },
  runtime: 'netns',
  lock: 'set-nx-px',
  cwd: '/',
  workload: 'mutex',
  clients: 2 * KEYS.length,
  keys: KEYS,
  leaseMs: LEASE_MS,
  waitMs: 0,
  hold: { min: 0.1, max: 0.8 },
  careless: false,
  timeLimitMs: 3_600_000,
  nemesis: [],
  nemesisIntervalMs: 1_000,
  failOn: ['exclusion', 'stale', 'harm', 'liveness'],
  redis: { path: 'redis-server', env: {}, version: '7.0.15', origin: 'PATH' },
  clientArgv: [],
  unavailable: {},
  reproduce: 'npm run bench -- history',
};
