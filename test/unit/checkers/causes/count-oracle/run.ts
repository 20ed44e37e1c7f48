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
  /** Of a thousand releases so many are long on their way. */
  slowPerMille: number;
  faults: { kind: 'del' | 'restart' | 'jump' | 'jump-back' | 'stranger-returns'; atMs: number; isRecorded: boolean }[];
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
    slowPerMille: one([1, 0], [1, 300]),
    faults: fc.array(
      fc.record({
        kind: one<Setup['faults'][number]['kind']>(
          [1, 'del'],
          [1, 'restart'],
          [1, 'jump'],
          [1, 'jump-back'],
          [1, 'stranger-returns'],
        ),
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

/**
 * What a holder's client knows not: since when the number says less than it should because of it, and why. The number is right as
 * long as it counts all who hold. Who was counted in one that is gone is missing in the next, be it that it still holds, or that it
 * gave back to the next what that had never counted.
 */
interface Holding {
  /** Undefined: the number that is there counts it. */
  missing?: ReadonlySet<string>;
}

/** Why the number said less than the holders were. */
interface Wrong {
  returned: ReadonlySet<string>;
  /** By hold that it did not count. */
  missing: ReadonlyMap<string, ReadonlySet<string> | undefined>;
}

export interface Run {
  input: CheckInput;
  /** By grant: why the number said less than the holders were when it was made. */
  wrong: ReadonlyMap<string, Wrong>;
  /** Whether no command came so near to when the number expired that a millisecond decides, of which no record tells. */
  isTold: boolean;
}

export function play(setup: Setup): Run {
  const sim = new Simulation(setup.noise);
  const events: { atNs: number; body: HistoryBody }[] = [];
  const lines: Observation[] = [];
  const wrong = new Map<string, Wrong>();
  const holding = new Map<string, Holding>();
  /** Why the number that is there says less than it should, beside what it never counted. */
  let returned = new Set<string>();
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
  let isTold = true;
  const expire = () => {
    if (Math.abs(wallMs() - expiresMs) <= 2) isTold = false;
    if (number === undefined || Math.floor(wallMs()) <= expiresMs) return;
    // It would have been there by a clock that nothing had moved.
    const isByClock = sim.nowNs < dueNs;
    const tooShort = setup.ttlFactor < 0.9 ? ['lease-too-short'] : [];
    lose([isByClock ? 'clock-jumped' : 'count-expired', ...tooShort]);
  };
  function lose(why: readonly string[]): void {
    if (number === undefined) return;
    // A number that says what is said by none is no loss.
    const isLoss = (number - absent) * direction > 0;
    const missing = new Set([...returned, ...(isLoss ? why : [])]);
    for (const hold of holding.values()) hold.missing ??= missing;
    number = undefined;
    returned = new Set();
    [expiresMs, dueNs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  }
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
    const missing = new Map([...holding].map(([hold, about]) => [hold, about.missing]));
    wrong.set(`${client} ${id}`, { returned, missing });
    holding.set(`${client} ${id}`, {});
    return true;
  };
  /** Gives back where there is a number. `hold`: undefined where there is nothing to give back. */
  const giveBack = (client: string | undefined, source: string, hold?: string) => {
    if (isDown) return;
    command(client, source, ['EVALSHA', 'return', '1', KEY]);
    expire();
    inner('exists', KEY);
    const { missing } = holding.get(hold ?? '') ?? {};
    holding.delete(hold ?? '');
    if (number === undefined) return;
    const extra = client === undefined ? [] : ['returned-too-often'];
    returned = new Set([...returned, ...(hold === undefined ? extra : (missing ?? []))]);
    inner(direction > 0 ? 'decr' : 'incr', KEY);
    number -= direction;
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
      const onItsWayMs = setup.slowPerMille > 0 && sim.chance() * 1_000 < setup.slowPerMille ? sim.between(5, 400) : 0;
      sim.after(onItsWayMs + sim.between(0.1, 0.4), () => giveBack(name, source, `${name} ${hold}`));
      // A timer of it that nobody stopped.
      if (isTwice) sim.after(sim.between(5, 300), () => giveBack(name, source));
      sim.after(onItsWayMs + 1, () => {
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
      if (kind === 'stranger-returns') giveBack(undefined, stranger);
      else if (kind === 'del' && !isDown) {
        expire();
        command(undefined, stranger, ['DEL', KEY]);
        lose([]);
      } else if (kind === 'jump' || kind === 'jump-back') {
        const jumpMs = kind === 'jump' ? 700 : -700;
        offsetMs += jumpMs;
        if (isRecorded) struck('jump', [{ kind: 'clock-jumped', who: ['r1'], offsetMs: jumpMs }]);
      } else if (kind === 'restart' && !isDown) {
        expire();
        watch(false);
        lose([]);
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
  return { input, wrong, isTold };
}

/**
 * Why one client more was counted in than there are permits: what the number lacked of those who held, and what was given back to it
 * that it had not counted. The names of causes, beside what has none.
 */
export function trueCauses(holds: readonly { client: string; id: number }[], { wrong }: Run): Set<string> {
  const counts = [...wrong];
  const names = holds.map(({ client, id }) => `${client} ${id}`);
  const last = Math.max(...names.map((name) => counts.findIndex(([hold]) => hold === name)));
  const { returned, missing } = counts[last]![1];
  return new Set([...returned, ...names.flatMap((name) => [...(missing.get(name) ?? [])])]);
}
