import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { render } from '../../../../cli/live/render.js';
import type { Snapshot } from '../../../../cli/live/run-state.js';

const PLAIN = { columns: 80, rows: 24, colour: false, unicode: false };

const QUIET: Snapshot = {
  atMs: 4_000,
  phase: 'warm-up',
  phaseForMs: 500,
  torture: { elapsedMs: 500, limitMs: 20_000 },
  operations: { perSecond: 3.5, grants: 2, refusals: 1, unknown: 0 },
  faults: [],
  moreFaults: 0,
  keys: [{ key: 'lock:0', holders: [], moreHolders: 0, waiting: 0 }],
  moreKeys: { held: 0, free: 0 },
  holds: 0,
  overlaps: { exclusion: 0, stale: 0 },
};

const BUSY: Snapshot = {
  ...QUIET,
  atMs: 12_400,
  phase: 'torture',
  torture: { elapsedMs: 10_000, limitMs: 20_000 },
  operations: { perSecond: 312.4, grants: 1204, refusals: 833, unknown: 2 },
  faults: [
    { fault: 'failover', targets: ['r1'], forMs: 2_140, leftMs: 3_900, stuck: false },
    { fault: 'pause', targets: ['c1', 'c2', 'c3', 'c4', 'c5'], forMs: 400, leftMs: -10, stuck: false },
    { fault: 'clock', targets: ['r2'], forMs: 9_000, leftMs: -3_000, stuck: true },
  ],
  keys: [
    { key: 'lock:0', holders: [{ client: 'c4', forMs: 800, leaseLeftMs: 4_200 }], moreHolders: 0, waiting: 3 },
    {
      key: 'lock:1',
      holders: [
        { client: 'c2', forMs: 5_100, leaseLeftMs: -100 },
        { client: 'c5.2', forMs: 200, leaseLeftMs: 4_800 },
      ],
      moreHolders: 1,
      waiting: 1,
      contested: 'stale',
    },
    {
      key: 'lock:2',
      holders: [{ client: 'c1', forMs: 3_000, leaseLeftMs: 2_000, releasingMs: 1_500 }],
      moreHolders: 0,
      waiting: 0,
    },
  ],
  moreKeys: { held: 1, free: 11 },
  holds: 5,
  overlaps: { exclusion: 1, stale: 2 },
};

it('a hold that no lease ends says so', () => {
  const holders = [{ client: 'c7', forMs: 60_000 }];
  const keys = [{ key: 'lock:0', holders, moreHolders: 0, waiting: 0 }];
  const [line] = render({ ...BUSY, keys }, PLAIN).filter((text) => text.includes('c7'));
  expect(line).toContain(', no lease');
});

describe('a run on a terminal of 80 by 24', () => {
  it('before anything has happened', () => {
    expect(render(QUIET, PLAIN)).toEqual([
      '-- warm-up 0.5 of 20.0 s #....................... -- at 4.0 s -----------------',
      'clients 3.5 ops/s, 2 granted, 1 refused, 0 unknown, 0 held now',
      'faults  no fault in force',
      'locks   lock:0  free',
      'so far  preliminary: no two holders at once',
    ]);
  });

  it('in full swing', () => {
    expect(render(BUSY, PLAIN)).toEqual([
      '-- torture 10.0 of 20.0 s ############............ -- at 12.4 s ---------------',
      'clients 312 ops/s, 1204 granted, 833 refused, 2 unknown, 5 held now',
      'faults  failover r1 for 2.1 s, 3.9 s to go',
      '        pause c1, c2, c3, c4, 1 more for 0.4 s, being healed',
      '        clock r2 for 9.0 s, could not be healed',
      'locks   lock:0  c4 for 0.8 s, lease 4.2 s left, 3 waiting',
      '        lock:1! c2 for 5.1 s, lease over for 0.1 s, 3 at once',
      '              ! c5.2 for 0.2 s, lease 4.8 s left, and 1 more',
      '        lock:2  c1 for 3.0 s, lease 2.0 s left, told to release 1.5 s ago',
      '        others: 1 held, 11 free',
      'so far  preliminary: 1 exclusion, 2 stale (the checkers decide at the end)',
    ]);
  });

  it('in the phases without a limit, and while it is judged', () => {
    expect(render({ ...QUIET, phase: 'recovery', phaseForMs: 1_300 }, PLAIN)[0]).toBe(
      '-- recovery 1.3 s -- at 4.0 s -------------------------------------------------',
    );
    expect(render({ ...BUSY, phase: 'end', phaseForMs: 3_000 }, PLAIN)).toEqual(['-- judging what was recorded 3.0 s']);
  });

  it('says where overlaps are counted no further', () => {
    expect(render({ ...QUIET, overlaps: { exclusion: 990, stale: 10, more: true } }, PLAIN).at(-1)).toBe(
      'so far  preliminary: 990 exclusion, 10 stale and more (the checkers decide at ~',
    );
  });

  it('says nothing of overlaps where several may hold a lock at once', () => {
    expect(render({ ...QUIET, overlaps: undefined }, PLAIN).join('\n')).not.toContain('so far');
  });
});

describe('colour and characters', () => {
  it('two holders at once are red', () => {
    const lines = render(BUSY, { ...PLAIN, colour: true });
    const red = lines.filter((line) => line.includes('\u001b[1;31m'));
    expect(red.map((line) => stripVTControlCharacters(line).trim().slice(0, 19))).toEqual([
      'clock r2 for 9.0 s,',
      'lock:1! c2 for 5.1 ',
      '! c5.2 for 0.2 s, l',
      'so far  preliminary',
    ]);
    expect(lines.map((line) => stripVTControlCharacters(line))).toEqual(render(BUSY, PLAIN));
  });

  it('lines are drawn where the locale allows', () => {
    expect(render(BUSY, { ...PLAIN, unicode: true })[0]).toBe(
      '── torture 10.0 of 20.0 s ████████████░░░░░░░░░░░░ ── at 12.4 s ───────────────',
    );
  });

  it('no name acts on the terminal', () => {
    const evil = '\u001b[2Jx\r\n\u009b1m\u202ey\u7684';
    const lines = render(
      {
        ...QUIET,
        faults: [{ fault: evil, targets: [evil], forMs: 1, stuck: false }],
        keys: [{ key: evil, holders: [{ client: evil, forMs: 1, leaseLeftMs: 1 }], moreHolders: 0, waiting: 0 }],
      },
      PLAIN,
    );
    for (const line of lines) expect(line).toMatch(/^[\x20-\x7e]*$/);
    expect(lines.join('\n')).toContain('?[2Jx???1m?y?');
  });
});

describe('small terminals', () => {
  it('40 columns: no labels, lines cut', () => {
    expect(render(BUSY, { ...PLAIN, columns: 40 })).toEqual([
      '-- torture 10.0 of 20.0 s ######...... ',
      '312 ops/s, 1204 granted, 833 refused, ~',
      'failover r1 for 2.1 s, 3.9 s to go',
      'pause c1, c2, c3, c4, 1 more for 0.4 s~',
      'clock r2 for 9.0 s, could not be healed',
      'lock:0  c4 for 0.8 s, lease 4.2 s left~',
      'lock:1! c2 for 5.1 s, lease over for 0~',
      '      ! c5.2 for 0.2 s, lease 4.8 s le~',
      'lock:2  c1 for 3.0 s, lease 2.0 s left~',
      'others: 1 held, 11 free',
      'preliminary: 1 exclusion, 2 stale (the~',
    ]);
  });

  it('few rows: what matters most stays', () => {
    const first = (rows: number) => render(BUSY, { ...PLAIN, rows }).map((line) => line.slice(0, 22).trimEnd());
    expect(first(5)).toEqual(['-- torture 10.0 of 20.']);
    expect(first(6)).toEqual(['-- torture 10.0 of 20.', 'so far  preliminary: 1']);
    expect(first(7)).toEqual(['-- torture 10.0 of 20.', 'clients 312 ops/s, 120', 'so far  preliminary: 1']);
    // Two holders at once before everybody else.
    expect(first(12)).toEqual([
      '-- torture 10.0 of 20.',
      'clients 312 ops/s, 120',
      'faults  failover r1 fo',
      '        2 more faults',
      'locks   lock:1! c2 for',
      '              ! c5.2 f',
      '        others: 3 held',
      'so far  preliminary: 1',
    ]);
  });

  it('never wider or higher than the terminal', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 1, max: 30 }), (columns, rows) => {
        for (const snapshot of [QUIET, BUSY]) {
          const lines = render(snapshot, { columns, rows, colour: true, unicode: true });
          expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 4));
          for (const line of lines)
            expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(Math.max(1, columns - 1));
        }
      }),
    );
  });
});
