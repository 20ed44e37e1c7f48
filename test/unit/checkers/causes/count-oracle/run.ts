/**
 * A run of a semaphore that keeps its permits in one number: a small model of the server and its clients with their mistakes, the
 * record of it, and what is known of every grant. It shares no code with what reads the record.
 */
import fc from 'fast-check';
import { historyOf } from '../../../../../harness/record/history-table.js';
import { observationsOf } from '../../../../../harness/record/observations.js';
import type { FaultEffect, HistoryBody, HistoryEvent, Observation } from '../../../../../harness/vocabulary/history.js';
import type { CheckInput } from '../../../../../harness/vocabulary/run.js';
import { literalConfig } from '../../build.js';
import { one } from '../oracle/drawing.js';
import { OPENING } from '../oracle/recording.js';
import { EPOCH_WALL_MS, MS, Simulation } from '../oracle/simulation.js';

const KEY = 'lock:0';
const LEASE_MS = 1_000;
const LENGTH_MS = 4_000;

export interface Setup {
  clients: number;
  permits: number;
  /** The number is of those that are out, or of those that are free. */
  counts: 'out' | 'free';
  /** Whose time it is given: nobody's, each grant's, or the first one's, which found no number. */
  timed: 'never' | 'each' | 'first';
  ttlFactor: number;
  /** Of a thousand releases so many are carried out twice. */
  twicePerMille: number;
  faults: { kind: 'del' | 'restart' | 'jump' | 'stranger-returns'; atMs: number; isRecorded: boolean }[];
  latePerMille: number;
  breaks: { atMs: number; forMs: number }[];
  noise: number;
}

export function setups(isWhole: boolean): fc.Arbitrary<Setup> {
  const atMs = fc.integer({ min: 50, max: LENGTH_MS });
  return fc.record<Setup>({
    clients: fc.integer({ min: 2, max: 5 }),
    permits: fc.integer({ min: 1, max: 3 }),
    counts: one([1, 'out'], [1, 'free']),
    timed: one([2, 'never'], [2, 'each'], [3, 'first']),
    ttlFactor: one([5, 1], [1, 0.4], [1, 2]),
    twicePerMille: one([1, 0], [1, 200]),
    faults: fc.array(
      fc.record({
        kind: one<Setup['faults'][number]['kind']>([1, 'del'], [1, 'restart'], [1, 'jump'], [1, 'stranger-returns']),
        atMs,
        isRecorded: one([3, true], [1, false]),
      }),
      { maxLength: 1 },
    ),
    latePerMille: isWhole ? fc.constant(0) : one([2, 0], [1, 50]),
    breaks: isWhole
      ? fc.constant([])
      : fc.array(fc.record({ atMs, forMs: fc.integer({ min: 20, max: 400 }) }), { maxLength: 2 }),
    noise: fc.noShrink(fc.nat()),
  });
}

/** What became of the number. */
type Happened =
  | { how: 'counted'; client: string; id: number; ns: number }
  | { how: 'returned'; client: string; isExtra: boolean; ns: number }
  /** `byClock`: it would have been there by a clock that nothing had moved. */
  | { how: 'expired'; byClock: boolean; ns: number }
  | { how: 'lost'; ns: number };

export interface Run {
  input: CheckInput;
  happened: readonly Happened[];
  setup: Setup;
}

export function play(setup: Setup): Run {
  const sim = new Simulation(setup.noise);
  const events: { atNs: number; body: HistoryBody }[] = [];
  const lines: Observation[] = [];
  const happened: Happened[] = [];
  const direction = setup.counts === 'out' ? 1 : -1;
  const absent = setup.counts === 'out' ? 0 : setup.permits;
  let number: number | undefined;
  let expiresMs = Number.POSITIVE_INFINITY;
  let dueNs = Number.POSITIVE_INFINITY;
  let offsetMs = 0;
  let runId = 'run-1';
  let isDown = false;
  let isWatched = true;
  let readNs = 0;
  let steps = 0;

  const event = (body: HistoryBody, afterMs = 0) => events.push({ atNs: Math.round(sim.nowNs + afterMs * MS), body });
  const line = (body: object, atNs = sim.nowNs) =>
    lines.push({ atNs: Math.round(atNs), node: 'r1', ...body } as Observation);
  const wallMs = () => EPOCH_WALL_MS + sim.nowNs / MS + offsetMs;
  const command = (client: string | undefined, source: string, argv: string[]) => {
    if (!isWatched) return;
    const isLate = sim.chance() * 1_000 < setup.latePerMille;
    readNs = Math.max(readNs, Math.round(sim.nowNs + (isLate ? sim.between(1, 300) : sim.between(0.05, 0.3)) * MS));
    line({ type: 'command', serverWallMs: wallMs(), source, ...(client && { client }), argv }, readNs);
  };
  const inner = (...argv: string[]) => command(undefined, 'lua', argv);
  const watch = (watching: boolean) => {
    if (isWatched === watching || isDown) return;
    isWatched = watching;
    readNs = Math.max(readNs, sim.nowNs);
    line({ type: 'watch', watching }, readNs);
    if (watching) look();
  };
  const expire = () => {
    if (number === undefined || Math.floor(wallMs()) <= expiresMs) return;
    // A number that says what is said by none is no loss.
    if (number !== absent) happened.push({ how: 'expired', byClock: sim.nowNs < dueNs, ns: sim.nowNs });
    number = undefined;
    [expiresMs, dueNs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  };
  function look(): void {
    if (isDown) return;
    expire();
    const pttlMs = Number.isFinite(expiresMs) ? Math.max(0, Math.round(expiresMs - wallMs())) : -1;
    const keys = number === undefined ? {} : { [KEY]: { owner: String(number), pttlMs, type: 'string' } };
    const bounds = [Math.floor(wallMs()), Math.ceil(wallMs() + 1)];
    const empty = number === undefined ? { isEmpty: true } : {};
    line(
      { type: 'sample', role: 'primary', offset: 0, runId, skewMs: offsetMs, wallMs: bounds, ...empty, keys },
      sim.nowNs + 1 * MS,
    );
  }
  const lookNowAndThen = () => {
    look();
    sim.after(sim.between(100, 112), lookNowAndThen);
  };

  /** A script that counts its client in, where there is room. */
  const take = (client: string, id: number, source: string): boolean => {
    if (isDown) return false;
    command(client, source, ['EVALSHA', 'take', '1', KEY, String(setup.permits)]);
    expire();
    inner('get', KEY);
    const was = number ?? absent;
    if (direction > 0 ? was >= setup.permits : was <= 0) return false;
    if (setup.counts === 'out') inner('incr', KEY);
    else if (number === undefined) inner('set', KEY, String(absent - 1));
    else inner('decr', KEY);
    const isTimed = setup.timed === 'each' || (setup.timed === 'first' && number === undefined);
    number = was + direction;
    if (isTimed) {
      const ttlMs = Math.round(LEASE_MS * setup.ttlFactor);
      inner('pexpire', KEY, String(ttlMs));
      expiresMs = Math.floor(wallMs()) + ttlMs;
      dueNs = sim.nowNs + ttlMs * MS;
    }
    happened.push({ how: 'counted', client, id, ns: sim.nowNs });
    return true;
  };
  /** Gives back where there is a number. */
  const giveBack = (client: string | undefined, source: string, isExtra: boolean) => {
    if (isDown) return;
    command(client, source, ['EVALSHA', 'return', '1', KEY]);
    expire();
    inner('exists', KEY);
    if (number === undefined) return;
    inner(direction > 0 ? 'decr' : 'incr', KEY);
    number -= direction;
    if (client !== undefined) happened.push({ how: 'returned', client, isExtra, ns: sim.nowNs });
  };

  const client = (name: string, source: string) => {
    let ids = 0;
    const acquire = () => {
      if (sim.nowNs > LENGTH_MS * MS) return;
      const id = ++ids;
      const about = { client: name, id, op: 'acquire' as const, key: KEY };
      event({ type: 'invoke', ...about, leaseMs: LEASE_MS, waitMs: 0 });
      const beganNs = sim.nowNs;
      sim.after(sim.between(0.1, 0.4), () => {
        const isGranted = take(name, id, source);
        sim.after(sim.between(0.1, 0.4), () => {
          const stamps = { beganNs, endedNs: sim.nowNs };
          if (isGranted) {
            event({ type: 'ok', ...about, ...stamps, grantSentNs: beganNs }, 0.2);
            sim.after(sim.between(0.1, 0.95) * LEASE_MS, () => release(id));
          } else {
            event({ type: 'fail', ...about, ...stamps, reason: 'held' }, 0.2);
            sim.after(sim.between(10, 120), acquire);
          }
        });
      });
    };
    const release = (hold: number) => {
      const about = { client: name, id: ++ids, op: 'release' as const, key: KEY, hold };
      event({ type: 'invoke', ...about });
      const beganNs = sim.nowNs;
      const isTwice = sim.chance() * 1_000 < setup.twicePerMille;
      sim.after(sim.between(0.1, 0.4), () => giveBack(name, source, false));
      // A timer of it that nobody stopped.
      if (isTwice) sim.after(sim.between(5, 300), () => giveBack(name, source, true));
      sim.after(1, () => {
        event({ type: 'ok', ...about, beganNs, endedNs: sim.nowNs }, 0.2);
        sim.after(sim.between(5, 120), acquire);
      });
    };
    sim.after(sim.between(20, 60), acquire);
  };

  event(OPENING);
  const deployed = { topology: 'single', runtime: 'netns', serverVersion: '7.0.15', settings: [] };
  event({ type: 'deployment', ...deployed, quorum: { kind: 'primary' } });
  for (let n = 1; n <= setup.clients; n++) {
    const [name, address] = [`c${n}`, `10.77.0.${20 + n}`];
    const up = { client: name, slot: name, host: name, address, lock: 'oracle', features: [] };
    event({ type: 'client-up', ...up });
    client(name, `${address}:40000`);
  }
  line({ type: 'watch', watching: true });
  lookNowAndThen();
  const struck = (fault: string, effects: FaultEffect[]) => {
    const record = { type: 'fault' as const, step: steps++, fault, targets: ['r1'], beganNs: sim.nowNs };
    event({ ...record, state: 'strike', did: `${fault} of r1`, effects }, 0.2);
    return () => event({ ...record, state: 'heal', did: `healed ${fault}`, beganNs: sim.nowNs, effects: [] }, 0.2);
  };
  for (const { kind, atMs, isRecorded } of setup.faults)
    sim.after(atMs, () => {
      const stranger = '10.77.0.99:51000';
      if (kind === 'stranger-returns') giveBack(undefined, stranger, false);
      else if (kind === 'del' && !isDown) {
        expire();
        command(undefined, stranger, ['DEL', KEY]);
        if (number !== undefined && number !== absent) happened.push({ how: 'lost', ns: sim.nowNs });
        number = undefined;
      } else if (kind === 'jump') {
        offsetMs += 700;
        if (isRecorded) struck('jump', [{ kind: 'clock-jumped', who: ['r1'], offsetMs: 700 }]);
      } else if (kind === 'restart' && !isDown) {
        expire();
        watch(false);
        if (number !== undefined && number !== absent) happened.push({ how: 'lost', ns: sim.nowNs });
        [number, expiresMs, dueNs] = [undefined, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
        runId = `${runId}+`;
        isDown = true;
        const who = ['r1'];
        const heal = struck('kill', [
          { kind: 'killed', who },
          { kind: 'forgot', who },
        ]);
        sim.after(3, () => {
          isDown = false;
          heal();
          watch(true);
        });
      }
    });
  for (const { atMs, forMs } of setup.breaks) {
    sim.after(atMs, () => watch(false));
    sim.after(atMs + forMs, () => watch(true));
  }
  sim.run((LENGTH_MS + 2_500) * MS);
  event({ type: 'phase', phase: 'end' });
  event({ type: 'closed', observations: lines.length });

  const byTime = <T extends { atNs: number }>(all: readonly T[]) =>
    all
      .map((what, n) => ({ what, n }))
      .sort((a, b) => a.what.atNs - b.what.atNs || a.n - b.n)
      .map(({ what }) => what);
  const input: CheckInput = {
    history: historyOf(
      byTime(events).map(({ atNs, body }, i): HistoryEvent => ({ i, atNs, ...body })),
      false,
    ),
    observations: observationsOf(byTime(lines)),
    config: { ...literalConfig, topology: 'single', keys: [KEY], leaseMs: LEASE_MS },
    plan: { version: 1, seed: 1, steps: [] },
    model: { kind: 'semaphore', permits: setup.permits },
  };
  return { input, happened, setup };
}

/** Why one client more was counted in than there are permits: all that befell the number while the others held. */
export function trueCauses(holds: readonly { client: string; id: number }[], { happened, setup }: Run): Set<string> {
  const found = new Set<string>();
  const places = holds.map(({ client, id }) =>
    happened.findIndex((one) => one.how === 'counted' && one.client === client && one.id === id),
  );
  const last = Math.max(...places);
  const first = Math.min(...places);
  for (const [at, one] of happened.entries()) {
    if (at >= last) break;
    if (at > first && one.how === 'expired') {
      found.add(one.byClock ? 'clock-jumped' : 'count-expired');
      if (setup.ttlFactor < 0.9) found.add('lease-too-short');
    }
    if (one.how === 'returned' && one.isExtra) found.add('returned-too-often');
    // What came before there was a new number is gone with the old one.
    if (one.how === 'expired' || one.how === 'lost') found.delete('returned-too-often');
  }
  return found;
}
