/**
 * A made-up but consistent run, for tests and for looking at a report: Sentinel, 6 clients, 3 keys, 20 s. A failover
 * breaks exclusion on two keys, a paused client is a stale holder on the third, and one fault is refused. Holds, history
 * and observations tell the same story, to the nanosecond.
 */

import { historyOf } from '../../../harness/record/history-table.js';
import { observationsOf } from '../../../harness/record/observations.js';
import type {
  FaultRecord,
  History,
  HistoryBody,
  HistoryEvent,
  Observation,
  ObservationBody,
} from '../../../harness/vocabulary/history.js';
import type { RunConfig } from '../../../harness/vocabulary/run.js';
import type { BlameName, CauseLink, Hold, Results, Violation } from '../../../harness/vocabulary/verdict.js';
import type { HoldTable, ReportInput } from '../../../reports/input.js';

const S = 1e9;
const MS = 1e6;
const LEASE_MS = 5_000;
const EPOCH_WALL_MS = Date.UTC(2026, 2, 14, 9, 26, 53, 589);

/** Small and repeatable; nothing here needs to be random, only uneven. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Staged = { atNs: number; body: HistoryBody; then?: (line: number) => void };

/** Collects what happens in any order, and gives it line numbers by time. */
class Stage {
  private readonly staged: Staged[] = [];

  at(atNs: number, body: HistoryBody, then?: (line: number) => void): void {
    this.staged.push({ atNs: Math.round(atNs), body, ...(then === undefined ? {} : { then }) });
  }

  events(): HistoryEvent[] {
    const sorted = this.staged.sort((a, b) => a.atNs - b.atNs);
    return sorted.map(({ atNs, body, then }, i) => {
      then?.(i);
      return { i, atNs, ...body };
    });
  }
}

interface Grant {
  client: string;
  key: string;
  fromNs: number;
  untilNs: number;
  endedBy?: Hold['endedBy'];
  released?: Hold['released'];
}

export const sampleConfig: RunConfig = {
  version: 2,
  runId: '20260314-092653-sentinel',
  startedAt: '2026-03-14T09:26:53.589Z',
  seed: 42,
  topology: 'sentinel',
  topologyOptions: { nodes: 3, persistence: 'none', minReplicasToWrite: 0, redisConf: [] },
  runtime: 'netns',
  lock: 'set-nx-px',
  cwd: '/tmp',
  workload: 'mutex',
  clients: 6,
  keys: ['lock:0', 'lock:1', 'lock:2'],
  leaseMs: LEASE_MS,
  waitMs: 500,
  hold: { min: 0.05, max: 0.3 },
  careless: false,
  timeLimitMs: 20_000,
  nemesis: ['failover', 'pause:client', 'amnesia'],
  nemesisIntervalMs: 5_000,
  failOn: ['exclusion', 'stale', 'harm', 'liveness'],
  redis: { path: '/usr/bin/redis-server', env: {}, version: '7.0.15', origin: 'PATH' },
  clientArgv: ['node', 'dist/harness/client/main.js', 'set-nx-px'],
  unavailable: { clock: 'no C compiler: install gcc to skew clocks' },
  reproduce: 'npm run torture -- --topology sentinel --seed 42',
};

/** A run as lists of plain objects, which a test may change before a report is made of them. */
export interface PlainInput extends Omit<ReportInput, 'history' | 'observations' | 'holds'> {
  events: HistoryEvent[];
  torn: boolean;
  observations: Observation[];
  holds: Hold[];
}

export function inputOf({ events, torn, observations, holds, ...rest }: PlainInput): ReportInput {
  const history = historyOf(events, torn);
  return { ...rest, history, observations: observationsOf(observations), holds: holdTable(holds, history) };
}

export function holdTable(holds: readonly Hold[], { operations }: History): HoldTable {
  return {
    count: holds.length,
    hold: (k) => holds[k]!,
    client: Int32Array.from(holds, ({ client }) => operations.clients.indexOf(client)),
    key: Int32Array.from(holds, ({ key }) => operations.keys.indexOf(key)),
    fromNs: Float64Array.from(holds, ({ fromNs }) => fromNs),
    untilNs: Float64Array.from(holds, ({ untilNs }) => untilNs),
    grantSentNs: Float64Array.from(holds, ({ grantSentNs }) => grantSentNs),
  };
}

export function sampleInput(): ReportInput {
  return inputOf(plainSample());
}

/** One run as described above, the same every time. */
export function plainSample(): PlainInput {
  const stage = new Stage();
  const holds: Hold[] = [];
  const roll = dice(7);
  let id = 1;
  stage.at(0, { type: 'run', version: 2, runId: sampleConfig.runId, seed: 42, epochWallMs: EPOCH_WALL_MS });
  for (let n = 1; n <= 6; n++) clientUp(stage, `c${n}`, `c${n}`, (0.9 + n / 50) * S);
  phases(stage);

  const hold = (grant: Grant): Hold => stageHold(stage, holds, grant, id++);
  const early = turns(roll, 1.4, 8.05);
  const late = turns(roll, 15, 18.3, [1, 2, 4, 5, 6]);
  for (const turn of [...early, ...late]) hold(turn);

  // The failover: what r1 grants once it is cut off never reaches r2.
  const aLock0 = hold({ client: 'c2', key: 'lock:0', fromNs: 8.431207 * S, untilNs: 11.2 * S, released: 'info' });
  const bLock0 = hold({ client: 'c5', key: 'lock:0', fromNs: 10.388114 * S, untilNs: 11.93 * S });
  const aLock1 = hold({ client: 'c3', key: 'lock:1', fromNs: 8.512663 * S, untilNs: 10.4419 * S, released: 'info' });
  const bLock1 = hold({ client: 'c1', key: 'lock:1', fromNs: 10.4305 * S, untilNs: 11.6 * S });
  // The pause: c4 sleeps past its lease and wakes up as a holder.
  const paused = hold({ client: 'c4', key: 'lock:2', fromNs: 8.2 * S, untilNs: 14.9 * S, released: 'fail' });
  const taken = hold({ client: 'c6', key: 'lock:2', fromNs: 13.31 * S, untilNs: 14.35 * S });
  hold({ client: 'c6', key: 'lock:0', fromNs: 12.3 * S, untilNs: 13.1 * S });
  hold({ client: 'c2', key: 'lock:1', fromNs: 12.1 * S, untilNs: 13.0 * S });

  refusals(stage, roll);
  stage.at(17.2 * S, { type: 'client-down', client: 'c3', endNs: 17.18 * S, reason: 'process exited with code 1' });
  clientUp(stage, 'c3.2', 'c3', 17.55 * S);
  const faultLines = faults(stage);

  const events = stage.events();
  const observations = servers(holds, { aLock0, bLock0, aLock1, bLock1 });
  const violations = violationsOf({ aLock0, bLock0, aLock1, bLock1, paused, taken }, faultLines, observations);
  return {
    config: structuredClone(sampleConfig),
    plan: {
      version: 1,
      seed: 42,
      steps: [
        { atMs: 6_500, fault: 'failover', target: 'primary', forMs: 5_000, args: { grants: 2 } },
        { atMs: 7_200, fault: 'pause', target: 'holder', forMs: 6_000 },
        { after: { event: 'acquire', count: 40 }, fault: 'amnesia', target: 'majority', forMs: 1_000 },
        { atMs: 14_300, fault: 'kill', target: { names: ['s1', 's2'] }, forMs: 900 },
        { atMs: 60_000, fault: 'kill', target: 'replica', forMs: 500 },
      ],
    },
    events,
    torn: false,
    observations,
    results: resultsOf(violations, holds.length),
    holds,
    settings: [
      { where: 'sentinel.conf', name: 'down-after-milliseconds', value: '500', why: 'a failover within the lease' },
      { where: 'redis.conf', name: 'repl-diskless-sync-delay', value: '0', why: 'replicas are ready at once' },
    ],
    serverVersion: '7.0.15',
  };
}

function clientUp(stage: Stage, client: string, slot: string, atNs: number): void {
  const address = `10.0.0.${20 + Number(slot.slice(1))}`;
  stage.at(atNs, { type: 'client-up', client, slot, host: slot, address, lock: 'set-nx-px', features: ['clock'] });
}

function phases(stage: Stage): void {
  const starts = [
    ['warm-up', 1.2],
    ['torture', 2],
    ['heal', 18.4],
    ['recovery', 18.55],
    ['probe', 19.2],
    ['end', 20.1],
  ] as const;
  for (const [phase, s] of starts) stage.at(s * S, { type: 'phase', phase });
  stage.at(19.19 * S, { type: 'recovered', afterMs: 640, missing: [] });
  for (const [n, key] of sampleConfig.keys.entries())
    stage.at((19.3 + n / 5) * S, { type: 'probe', key, client: `c${n + 1}`, acquired: true, afterMs: 12 + n });
}

/** Clients taking turns on every key, and each on one key at a time. */
function turns(roll: () => number, fromS: number, untilS: number, slots = [1, 2, 3, 4, 5, 6]): Grant[] {
  const grants: Grant[] = [];
  const busyUntil = new Map<string, number>();
  const free = sampleConfig.keys.map((key) => ({ key, atS: fromS + roll() / 10 }));
  for (;;) {
    const next = free.reduce((a, b) => (b.atS < a.atS ? b : a));
    // By a number each: what a comparison that answers at random comes to is another order in each version of Node.
    const client = slots
      .map((n) => ({ name: `c${n}`, place: roll() }))
      .sort((a, b) => a.place - b.place)
      .map(({ name }) => name)
      .find((name) => (busyUntil.get(name) ?? 0) < next.atS - 0.01);
    const longS = 0.2 + roll() * 0.6;
    if (next.atS + longS > untilS) return grants;
    if (client !== undefined) {
      grants.push({
        client,
        key: next.key,
        fromNs: Math.round(next.atS * S),
        untilNs: Math.round((next.atS + longS) * S),
      });
      busyUntil.set(client, next.atS + longS);
    }
    next.atS += longS + 0.004 + roll() / 50;
  }
}

function stageHold(stage: Stage, holds: Hold[], grant: Grant, id: number): Hold {
  const grantSentNs = grant.fromNs - Math.round(0.7 * MS);
  const { client, key } = grant;
  const hold: Hold = {
    client,
    key,
    id,
    fromNs: grant.fromNs,
    untilNs: grant.untilNs,
    endedBy: grant.endedBy ?? 'release',
    grantSentNs,
    leaseEndNs: grantSentNs + LEASE_MS * MS,
    leaseMs: LEASE_MS,
    validForMs: LEASE_MS - 52,
    evidence: [],
    released: grant.released ?? 'ok',
  };
  const note = (line: number) => hold.evidence.push(line);
  const beganNs = grantSentNs - 50_000;
  stage.at(beganNs - 60_000, { type: 'invoke', client, id, op: 'acquire', key, leaseMs: LEASE_MS, waitMs: 500 }, note);
  const ok = { beganNs, endedNs: grant.fromNs, grantSentNs, validForMs: hold.validForMs };
  stage.at(grant.fromNs + 90_000, { type: 'ok', client, id, op: 'acquire', key, ...ok }, note);
  const releaseId = id + 1_000;
  stage.at(grant.untilNs - 40_000, { type: 'invoke', client, id: releaseId, op: 'release', key, hold: id }, note);
  const done = { id: releaseId, op: 'release' as const, key, hold: id, beganNs: grant.untilNs };
  const endedNs = grant.untilNs + 600_000;
  if (hold.released === 'ok') stage.at(endedNs, { type: 'ok', client, ...done, endedNs }, note);
  else if (hold.released === 'fail')
    stage.at(endedNs, { type: 'fail', client, ...done, endedNs, reason: 'not ours any more' }, note);
  else stage.at(endedNs + 300 * MS, { type: 'info', client, ...done, reason: 'ECONNRESET' }, note);
  holds.push(hold);
  return hold;
}

/** Refused tries everywhere, and unclear ones while the primary is gone. */
function refusals(stage: Stage, roll: () => number): void {
  for (let n = 0; n < 90; n++) {
    const atNs = (1.5 + roll() * 16.8) * S;
    const id = 2_000 + n;
    const client = `c${1 + Math.floor(roll() * 6)}`;
    const key = sampleConfig.keys[Math.floor(roll() * 3)]!;
    stage.at(atNs - 400 * MS, { type: 'invoke', client, id, op: 'acquire', key, leaseMs: LEASE_MS, waitMs: 500 });
    const gone = atNs > 9.2 * S && atNs < 10.3 * S;
    if (gone) stage.at(atNs, { type: 'info', client, id, op: 'acquire', key, reason: 'Connection is closed' });
    else
      stage.at(atNs, {
        type: 'fail',
        client,
        id,
        op: 'acquire',
        key,
        reason: 'held',
        beganNs: atNs - 399 * MS,
        endedNs: atNs - MS,
      });
  }
}

interface FaultLines {
  cut: number;
  kill: number;
  pause: number;
  resumed: number;
}

/** Line numbers are known once `stage.events()` ran: the result is filled in then. */
function faults(stage: Stage): FaultLines {
  const lines: FaultLines = { cut: 0, kill: 0, pause: 0, resumed: 0 };
  const at = (s: number, record: Omit<FaultRecord, 'effects'> & Partial<FaultRecord>, then?: (line: number) => void) =>
    stage.at(s * S, { type: 'fault', effects: [], ...record }, then);
  const others = ['r2', 'r3', 's1', 's2', 's3'];
  const cut = others.flatMap((to): [string, string][] => [
    ['r1', to],
    [to, 'r1'],
  ]);
  const failover = { step: 0, fault: 'failover', targets: ['r1'] };
  at(
    8.3,
    {
      ...failover,
      state: 'phase',
      targets: ['r1'],
      did: 'cut r1 -x- r2, r3, s1, s2, s3',
      effects: [{ kind: 'cut', pairs: cut }],
      proof: '10 blackhole routes read back',
    },
    (line) => {
      lines.cut = line;
    },
  );
  at(
    9.15,
    {
      ...failover,
      state: 'strike',
      did: 'SIGKILL to r1 after 2 grants on it',
      proof: 'r1: process state dead',
      effects: [{ kind: 'killed', who: ['r1'] }],
    },
    (line) => {
      lines.kill = line;
    },
  );
  at(13.2, {
    ...failover,
    state: 'heal',
    did: 'routes removed, r1 started again',
    proof: 'no blackhole route; r1 is a replica of r2, link up',
  });
  const pause = { step: 1, fault: 'pause', targets: ['c4'] };
  at(
    9.4,
    {
      ...pause,
      state: 'strike',
      did: 'SIGSTOP to c4',
      proof: 'c4: process state T (stopped)',
      effects: [{ kind: 'stopped', who: ['c4'] }],
    },
    (line) => {
      lines.pause = line;
    },
  );
  at(14.85, { ...pause, state: 'heal', did: 'SIGCONT to c4', proof: 'c4: process state S' }, (line) => {
    lines.resumed = line;
  });
  at(15.6, {
    step: 2,
    fault: 'amnesia',
    state: 'refused',
    targets: [],
    did: 'nothing: 2 of 3 nodes would forget at once',
    proof: 'never more than a minority forgets',
  });
  const kill = { step: 3, fault: 'kill', targets: ['s1', 's2'] };
  at(16.3, {
    ...kill,
    state: 'strike',
    did: 'SIGKILL to s1, s2',
    proof: 's1, s2: process state dead',
    effects: [{ kind: 'killed', who: ['s1', 's2'] }],
  });
  at(17.2, { ...kill, state: 'heal', did: 's1, s2 started again', proof: 'both answer PING' });
  return lines;
}

/** What the three nodes believed: r1 until it is killed, r2 without the two last grants, r3 behind r2. */
function servers(
  holds: readonly Hold[],
  story: Record<'aLock0' | 'bLock0' | 'aLock1' | 'bLock1', Hold>,
): Observation[] {
  const out: Observation[] = [];
  const lost = new Set([story.aLock0, story.aLock1]);
  const say = (node: string, atNs: number, body: ObservationBody) =>
    out.push({ node, atNs: Math.round(atNs), ...body });
  const storedFor = (hold: Hold) => `${hold.client}-${hold.id}-`.padEnd(40, '5f0c9ab2');
  const isPrimary = (node: string, ns: number) => (ns < 9.9 * S ? node === 'r1' : node === 'r2');
  const knows = (node: string, hold: Hold, atNs: number) => {
    if (node === 'r1') return atNs < 9.15 * S || atNs > 12.9 * S;
    return !lost.has(hold);
  };
  const keyEnd = (hold: Hold) => (hold.released === 'ok' ? hold.untilNs + 0.3 * MS : hold.leaseEndNs);
  for (const hold of holds) {
    for (const node of ['r1', 'r2', 'r3']) {
      const primary = isPrimary(node, hold.fromNs);
      const source = primary ? `10.0.0.${20 + Number(hold.client.slice(1, 2))}:4${hold.id}` : '10.0.0.11:6379';
      const client = primary ? { client: hold.client } : {};
      const at = (ns: number) => ({ type: 'command' as const, serverWallMs: EPOCH_WALL_MS + ns / MS, source });
      const setNs = hold.grantSentNs + 0.3 * MS;
      if (knows(node, hold, setNs))
        say(node, setNs, { ...at(setNs), ...client, argv: ['set', hold.key, storedFor(hold), 'PX', '5000', 'NX'] });
      if (hold.released !== 'ok' || !knows(node, hold, keyEnd(hold))) continue;
      const script = 'if redis.call("get",KEYS[1])==ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end';
      if (primary)
        say(node, keyEnd(hold) - 1_000, {
          ...at(keyEnd(hold)),
          ...client,
          argv: ['eval', script, '1', hold.key, storedFor(hold)],
        });
      say(node, keyEnd(hold), { ...at(keyEnd(hold)), source: primary ? 'lua' : source, argv: ['del', hold.key] });
    }
  }
  for (let ns = 1.2 * S; ns < 20.1 * S; ns += 100 * MS) {
    for (const node of ['r1', 'r2', 'r3']) {
      if (node === 'r1' && ns > 9.15 * S && ns < 12.9 * S) continue;
      const primary = isPrimary(node, ns);
      const keys: Record<string, { owner: string; pttlMs: number }> = {};
      for (const hold of holds) {
        if (hold.grantSentNs + 0.3 * MS > ns || keyEnd(hold) <= ns || !knows(node, hold, ns)) continue;
        if (node === 'r1' && ns > 12.9 * S && lost.has(hold)) continue;
        keys[hold.key] = { owner: storedFor(hold), pttlMs: Math.round((hold.leaseEndNs - ns) / MS) };
      }
      const cutOff = node !== 'r1' && ns > 8.3 * S && ns < 10.1 * S && !primary;
      say(node, ns, {
        type: 'sample',
        role: primary ? 'primary' : 'replica',
        offset: Math.round(ns / MS),
        ...(primary ? {} : { linkUp: !cutOff }),
        runId: node === 'r1' && ns > 12.9 * S ? 'r1-second' : `${node}-first`,
        skewMs: 0.2,
        keys,
      });
    }
  }
  say('r1', 9.151 * S, { type: 'watch', watching: false, reason: 'read ECONNRESET' });
  say('r1', 12.91 * S, { type: 'watch', watching: true });
  return out.sort((a, b) => a.atNs - b.atNs);
}

interface Cast {
  aLock0: Hold;
  bLock0: Hold;
  aLock1: Hold;
  bLock1: Hold;
  paused: Hold;
  taken: Hold;
}

function violationsOf(cast: Cast, at: FaultLines, observations: readonly Observation[]): Violation[] {
  const setBy = (node: string, hold: Hold) =>
    observations.findIndex(
      (one) => one.node === node && one.type === 'command' && one.client === hold.client && one.atNs > hold.grantSentNs,
    );
  const promoted = observations.findIndex(
    (one) => one.node === 'r2' && one.type === 'sample' && one.role === 'primary',
  );
  const failover = (a: Hold, b: Hold): Violation => {
    const chain: CauseLink[] = [
      { atNs: 8.3 * S, text: 'r1 was cut from r2, r3 and the Sentinels', history: at.cut },
      { atNs: a.grantSentNs + 300_000, text: `r1 stored ${a.key} for ${a.client}`, observation: setBy('r1', a) },
      { atNs: 9.15 * S, text: 'r1 was killed', history: at.kill },
      { atNs: observations[promoted]!.atNs, text: `r2 was primary, and did not have ${a.key}`, observation: promoted },
      { atNs: b.grantSentNs + 300_000, text: `r2 stored ${b.key} for ${b.client}`, observation: setBy('r2', b) },
    ];
    return overlap('exclusion', 'deployment', a, b, {
      name: 'failover-lost-write',
      phrase: 'failover lost the write',
      sentence: `r2 was promoted without ${a.client}'s lock, which only r1 had, and granted it to ${b.client}`,
      chain,
    });
  };
  return [
    failover(cast.aLock0, cast.bLock0),
    failover(cast.aLock1, cast.bLock1),
    overlap('stale', 'lease', cast.paused, cast.taken, {
      name: 'client-paused',
      phrase: 'the client was paused',
      sentence: `c4 was stopped from 9.400 s to 14.850 s, its lease ended at ${(cast.paused.leaseEndNs / S).toFixed(3)} s, and it began its release only when it ran again`,
      chain: [
        { atNs: 9.4 * S, text: 'c4 was stopped', history: at.pause },
        { atNs: cast.paused.leaseEndNs, text: 'the lease of c4 ended' },
        { atNs: cast.taken.fromNs, text: 'c6 was granted lock:2', history: cast.taken.evidence[1]! },
        { atNs: 14.85 * S, text: 'c4 ran again', history: at.resumed },
      ],
    }),
  ];
}

function overlap(name: Violation['class'], on: BlameName, a: Hold, b: Hold, cause: Violation['cause']): Violation {
  const fromNs = Math.max(a.fromNs, b.fromNs);
  const untilNs = Math.min(a.untilNs, b.untilNs);
  const held = (hold: Hold) =>
    `${hold.client} certainly held (${(hold.fromNs / S).toFixed(3)} s, ${(hold.untilNs / S).toFixed(3)} s)`;
  return {
    class: name,
    kind: 'overlap',
    key: a.key,
    fromNs,
    untilNs,
    holds: [a, b],
    evidence: [...a.evidence, ...b.evidence].sort((x, y) => x - y),
    proof: `${held(a)}; ${held(b)}; overlap ≥ ${((untilNs - fromNs) / MS).toFixed(3)} ms.`,
    cause,
    blame: { on, theory: `What ${on} means.`, link: `https://example.org/${on}` },
  };
}

function resultsOf(violations: Violation[], holds: number): Results {
  return {
    version: 2,
    runId: sampleConfig.runId,
    verdict: 'violated',
    exitStatus: 1,
    words: {
      verdict:
        'VIOLATED: not safe on sentinel (a failover lost 2 grants), and 1 holder outslept its lease; no other mistake of the lock found',
      lock: 'no mistake of its own was found in only 9 holds that a fault struck, which is weak: up to 28 % of such may go wrong, at 95 % confidence.',
      deployment: 'Redis lost 2 grants in a failover. No lock on sentinel is safe in every failover.',
      leases: '1 holder outslept its own; fencing contains it.',
      stronger: 'npm run torture -- --topology sentinel --seed 42 --times 20',
    },
    headline: 'Exclusion was broken twice and one stale holder was found on set-nx-px over sentinel',
    reasons: ['The planned amnesia was refused: 2 of 3 nodes would have forgotten at once.'],
    violations,
    checkers: [
      {
        checker: 'mutual-exclusion',
        properties: [
          {
            class: 'exclusion',
            holds: 'No lock was held by more clients at once than it allows, while their leases ran',
            broken: 'A lock was held by more clients at once than it allows, while their leases ran',
          },
          {
            class: 'stale',
            holds: 'No client acted as a holder past its lease beside another holder',
            broken: 'A client acted as a holder past its lease beside another holder',
          },
        ],
        verdict: 'invalid',
        notes: ['decided by the sweep over cores; no search was needed'],
        violations,
        stats: { holds, keys: 3, overlaps: 3, strikes: 2, struckHolds: 9 },
      },
      { checker: 'vacuity', verdict: 'valid', notes: [], violations: [], stats: { contendedHolds: 41 } },
      {
        checker: 'liveness',
        properties: [
          {
            class: 'liveness',
            holds: 'After everything was healed, every lock could be acquired again',
            broken: 'After everything was healed, a lock could not be acquired again',
          },
        ],
        verdict: 'valid',
        notes: ['every key could be acquired again'],
        violations: [],
        stats: { slowestProbeMs: 14.25 },
      },
    ],
    found: countByClass(violations),
    readings: [],
    strength: '1 of 2 strikes violated',
    stats: { holds, operations: 292 },
    reproduce: sampleConfig.reproduce,
  };
}

function countByClass(violations: readonly Violation[]): Results['found'] {
  const found: Results['found'] = {};
  for (const { class: name } of violations) found[name] = (found[name] ?? 0) + 1;
  return found;
}

/** A long run: thousands of holds, of which the first `broken` overlap the hold before them on their key. */
export function longInput(wanted: number, broken: number): ReportInput {
  const input = plainSample();
  const stage = new Stage();
  const holds: Hold[] = [];
  stage.at(0, { type: 'run', version: 2, runId: sampleConfig.runId, seed: 42, epochWallMs: EPOCH_WALL_MS });
  for (let n = 1; n <= 6; n++) clientUp(stage, `c${n}`, `c${n}`, 0.5 * S);
  stage.at(1 * S, { type: 'phase', phase: 'torture' });
  const violations: Violation[] = [];
  for (let n = 0; n < wanted; n++) {
    const key = sampleConfig.keys[n % 3]!;
    const early = n >= 3 && violations.length < broken ? 40 * MS : 0;
    const fromNs = 1 * S + n * 50 * MS - early;
    const client = `c${1 + (n % 6)}`;
    const hold = stageHold(stage, holds, { client, key, fromNs, untilNs: 1 * S + n * 50 * MS + 130 * MS }, n + 1);
    const before = holds[n - 3];
    if (early === 0 || before === undefined) continue;
    violations.push(
      overlap('exclusion', 'unexplained', before, hold, {
        name: 'unexplained',
        sentence: 'the cause is unknown',
        chain: [],
      }),
    );
    const refused = { client, id: wanted * 2 + n, op: 'acquire', key } as const;
    stage.at(hold.untilNs - MS, { type: 'invoke', ...refused, leaseMs: LEASE_MS });
    stage.at(hold.untilNs, { type: 'fail', ...refused, reason: 'held' });
  }
  const untilNs = 1 * S + wanted * 50 * MS;
  stage.at(untilNs, { type: 'phase', phase: 'end' });
  const observations: Observation[] = [];
  for (let ns = 1 * S; ns < untilNs; ns += 200 * MS)
    for (const node of ['r1', 'r2', 'r3']) {
      const keys = Object.fromEntries(
        sampleConfig.keys.map((key, at) => [
          key,
          { owner: `value-${Math.floor(ns / (150 * MS)) * 3 + at}`, pttlMs: 4_000 },
        ]),
      );
      const role = node === 'r1' ? 'primary' : 'replica';
      observations.push({ node, atNs: ns, type: 'sample', role, offset: ns, runId: node, skewMs: 0, keys });
    }
  return inputOf({
    ...input,
    plan: { version: 1, seed: 42, steps: [] },
    events: stage.events(),
    torn: false,
    observations,
    holds,
    results: resultsOf(violations, wanted),
  });
}
