/** Faults in virtual time, each played alone: what the records say of it, and that it is healed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readMessages } from '../../../harness/record/messages.js';
import type { PlanStep } from '../../../harness/vocabulary/faults.js';
import type { Observation } from '../../../harness/vocabulary/history.js';
import { simulated } from '../../support/simulated.js';

const R1 = { names: ['r1'] };

interface Case {
  step: Omit<PlanStep, 'atMs' | 'fault'>;
  args?: string[];
  proof: RegExp;
  healed: RegExp;
}

const cases: Record<string, Case> = {
  'lost-reply': {
    step: { target: R1, forMs: 900 },
    proof:
      /^nothing passes from r1 to c1, .*; r1 ran [A-Z]+ of c\d after the cut, and \d+ bytes for 10\.77\.0\.\d:\d+ lie unacknowledged in its kernel$/,
    healed: /^all passes again: r1 to c1, .*; r1 ran \d commands of .* unanswered; meanwhile .* of c\d ended info/,
  },
  evict: {
    step: { target: R1, forMs: 2_000 },
    args: ['--maxmemory-policy', 'volatile-ttl'],
    proof: /^evicted_keys of r1 rose by \d+, 1 of them keys of the run$/,
    healed: /^r1 has maxmemory 0 again; \d+ of somebody else's keys deleted, none is left$/,
  },
  lag: {
    step: { target: 'replica', forMs: 900 },
    args: ['--topology', 'replica', '--lease', '470ms'],
    proof: /^nothing passes from r1 to r2, r1 to r3, r2 to r1, r3 to r1$/,
    healed: /^all passes again: /,
  },
  reload: {
    step: { target: 'all', forMs: 1_000 },
    proof: /^pid 100, run id .* became pid 101, run id .*; r1 runs again \(pid 101\) and answers PING$/,
    healed: /^restarted 1 of 1 nodes: r1; r1 answers PING$/,
  },
  strobe: {
    step: { target: R1, forMs: 900, args: { offsetMs: 200, everyMs: 100 } },
    proof: /^r1's program says it is \+20\d ms off the machine's clock; and back: /,
    healed: /^seen where it should be after (\d+) of \1 jumps; /,
  },
  'forget-granted': {
    step: { target: 'minority', forMs: 2_500 },
    args: ['--topology', 'redlock'],
    proof: /r\d \(pid 100\) is dead; r\d runs again \(pid 101\) and answers PING, with 0 keys/,
    healed: /./,
  },
  loss: {
    step: { target: R1, forMs: 900, args: { lossPpm: 200_000, direction: 'in' } },
    proof: /^20 % of the packets lost, and sent again: c1 to r1, c2 to r1, c3 to r1, c4 to r1$/,
    healed: /: as usual, after \d+ messages, \d+ times one lost and sent again$/,
  },
  rate: {
    step: { target: R1, forMs: 900, args: { rateKbps: 2 } },
    proof: /^2 kB\/s at the most: r1 to c1, /,
    healed: /: as usual, after \d+ messages$/,
  },
  reorder: {
    step: { target: R1, forMs: 900, args: { reorderPpm: 300_000, gapMs: 20 } },
    proof: /^30 % of the packets 20 ms late: r1 to c1, /,
    healed: /: as usual, after \d+ messages, \d+ overtaken$/,
  },
  duplicate: {
    step: { target: R1, forMs: 900, args: { duplicatePpm: 300_000 } },
    proof: /^30 % of the packets twice: r1 to c1, /,
    healed: /: as usual, after \d+ messages, \d+ twice$/,
  },
  'slow-disk': {
    step: { target: R1, forMs: 900, args: { syncMs: 30 } },
    args: ['--persistence', 'aof-always'],
    proof: /^a sync takes r1 30 ms$/,
    healed: /^syncs take no time again, after [1-9]\d* of r1$/,
  },
};

test.each(Object.entries(cases))(
  '%s strikes, is proven and is healed',
  async (fault, { step, args, proof, healed }) => {
    const { records } = await simulated(args ?? [], [{ atMs: 600, fault, ...step }]);
    const of = (state: string) => records.filter((one) => one.state === state);
    expect(records.filter(({ state }) => state === 'failed' || state === 'refused')).toEqual([]);
    expect(of('strike')[0]!.proof).toMatch(proof);
    expect(of('heal').at(-1)!.proof).toMatch(healed);
  },
);

/** When clients of ioredis knock at a server that was killed, between two looks of the observer, which come every 20 ms. */
const BACK_BETWEEN_LOOKS_MS = [26, 66];

test.each([['single'], ['redlock'], ['replica'], ['sentinel'], ['cluster']])(
  'on %s a server that comes back is followed before it hears clients, so that what it had forgotten explains what it grants',
  async (topology) => {
    for (const forMs of BACK_BETWEEN_LOOKS_MS) {
      const kills = [300, 877, 1_454, 2_031].map((atMs) => ({ atMs, fault: 'kill', target: R1, forMs }));
      const args = ['--topology', topology, '--lease', '470ms', '--time-limit', '3.5s', '--faults', 'kill'];
      const { result, records, folder } = await simulated(args, kills);
      // Where a failover goes on, a heal comes after the next strike.
      const states = records.map(({ state }) => state);
      expect(states.sort()).toEqual([...kills.map(() => 'heal'), ...kills.map(() => 'strike')]);
      expect(heardUnseen(folder)).toEqual([]);
      if (topology !== 'single') continue;
      expect(result.found.length).toBeGreaterThan(0);
      expect(result.found.filter(({ cause }) => cause !== 'node-forgot')).toEqual([]);
    }
  },
);

/** What clients asked r1 while nobody followed its commands. */
function heardUnseen(folder: string): (string | undefined)[] {
  const lines = readFileSync(join(folder, 'observations.jsonl'), 'utf8').trim().split('\n');
  const seen: Observation[] = lines.map((line) => JSON.parse(line));
  const watches = seen.flatMap((one) => (one.node === 'r1' && one.type === 'watch' ? [one] : []));
  // The first look at a deployment that gets ready comes before clients do.
  const blind = watches.flatMap(({ watching, atNs }, n) =>
    watching ? [] : [{ fromNs: atNs, untilNs: watches[n + 1]?.atNs ?? Number.POSITIVE_INFINITY }],
  );
  expect(blind.length).toBeGreaterThan(1);
  return readMessages(folder)!.flatMap(({ from, to, arrivedNs, bytes }) =>
    to === 'r1' &&
    from.startsWith('c') &&
    blind.some(({ fromNs, untilNs }) => arrivedNs! > fromNs && arrivedNs! < untilNs)
      ? [bytes]
      : [],
  );
}

test('a client that is stopped in the midst of its code is told to have been stopped until it goes on, also when the run ends meanwhile', async () => {
  const gc: PlanStep = { atMs: 1_400, fault: 'gc', target: 'client', forMs: 900 };
  const { records } = await simulated(['--faults', 'gc', '--time-limit', '2s'], [gc]);
  const stops = records.flatMap(({ effects }) => effects).filter((effect) => effect.kind === 'stopped');
  expect(stops.map(({ sinceNs, untilNs }) => (untilNs === undefined ? 'begun' : untilNs - sinceNs!))).toEqual([
    'begun',
    900e6,
  ]);
  // The run's end had it healed long before.
  expect(records.at(-1)!.beganNs!).toBeLessThan(stops.at(-1)!.untilNs! - 100e6);
});

describe('a slow disk', () => {
  const SYNC_MS = 60;
  const slowed = (persistence: string, more: PlanStep[] = [], args: string[] = []) =>
    simulated(
      ['--persistence', persistence, '--faults', 'slow-disk', '--time-limit', '3.5s', ...args],
      [{ atMs: 600, fault: 'slow-disk', target: R1, forMs: 1_500, args: { syncMs: SYNC_MS } }, ...more],
    );

  test('has a server that syncs always answer so much later, and answer nobody meanwhile; afterwards as before', async () => {
    const { result, records, folder } = await slowed('aof-always');
    const [from, until] = records.map(({ atNs }) => atNs) as [number, number];
    const waits = waitsForGrants(folder);
    const within = waits.filter(({ sentNs }) => sentNs > from && sentNs < until - SYNC_MS * 1e6);
    expect(within.length).toBeGreaterThan(3);
    expect(Math.min(...within.map(({ ms }) => ms))).toBeGreaterThanOrEqual(SYNC_MS);
    const outside = waits.filter(({ sentNs }) => sentNs < from - 5e6 || sentNs > until + 2 * SYNC_MS * 1e6);
    expect(outside.length).toBeGreaterThan(3);
    expect(Math.max(...outside.map(({ ms }) => ms))).toBeLessThan(5);
    expect(result.found).toEqual([]);
    expect((await slowed('aof-always')).result.digest).toBe(result.digest);
  });

  test('has one that syncs every second answer as ever: a thread of it waits', async () => {
    const { result, records, folder } = await slowed('aof-everysec');
    expect(records.at(-1)!.proof).toMatch(/^syncs take no time again, after [1-3] of r1$/);
    expect(Math.max(...waitsForGrants(folder).map(({ ms }) => ms))).toBeLessThan(5);
    expect((await slowed('aof-everysec')).result.digest).toBe(result.digest);
  });

  test('has one that syncs every second write only when the last sync is over, so that a power cut takes more', async () => {
    // It came between a second's sync and half a second after.
    const lost = async (faults: PlanStep[]) => {
      const cut: PlanStep = { atMs: 1_750, fault: 'power-cut', target: R1, forMs: 50 };
      const flags = ['--persistence', 'aof-everysec', '--lease', '470ms', '--time-limit', '3.5s'];
      const { records } = await simulated(flags, [...faults, cut]);
      const files = records
        .flatMap(({ effects }) => effects)
        .flatMap((one) => (one.kind === 'lost-power' ? one.files : []));
      return files.find(({ name }) => name.endsWith('.incr.aof'))!;
    };
    const fast = await lost([]);
    const slow = await lost([{ atMs: 300, fault: 'slow-disk', target: R1, forMs: 2_900, args: { syncMs: 500 } }]);
    expect(slow.writtenBytes).toBeLessThan(fast.writtenBytes);
    expect(slow.durableBytes).toBeLessThan(fast.durableBytes);
  });

  test('outlives a kill: a server that starts again syncs as slowly', async () => {
    const { records, folder } = await slowed('aof-always', [{ atMs: 900, fault: 'kill', target: R1, forMs: 100 }]);
    const back = records.find(({ fault, state }) => fault === 'kill' && state === 'heal')!.atNs;
    const healed = records.find(({ fault, state }) => fault === 'slow-disk' && state === 'heal')!.atNs;
    const within = waitsForGrants(folder).filter(({ sentNs }) => sentNs > back && sentNs < healed - SYNC_MS * 1e6);
    expect(within.length).toBeGreaterThan(1);
    expect(Math.min(...within.map(({ ms }) => ms))).toBeGreaterThanOrEqual(SYNC_MS);
  });

  test('is refused where a server keeps no log', async () => {
    const { records } = await slowed('none');
    expect(records).toMatchObject([{ state: 'refused', proof: expect.stringContaining('keep no log') }]);
  });
});

/** How long clients waited for each answer that granted them the lock. */
function waitsForGrants(folder: string): { sentNs: number; ms: number }[] {
  const all = readMessages(folder)!;
  return all.flatMap(({ connection, from, to, sentNs, bytes }, n) => {
    if (to !== 'r1' || !from.startsWith('c') || !/^\*\d+\r\n\$3\r\nset/i.test(bytes ?? '')) return [];
    const answer = all.slice(n).find((one) => one.connection === connection && one.isBack);
    return answer?.bytes === '+OK\r\n' ? [{ sentNs, ms: (answer.arrivedNs! - sentNs) / 1e6 }] : [];
  });
}
