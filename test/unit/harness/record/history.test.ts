import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DamagedHistory, parseHistory, readHistory } from '../../../../harness/record/history.js';
import type { History, HistoryEvent } from '../../../../harness/vocabulary/history.js';
import { Story } from '../../checkers/build.js';

const story = new Story().up('c1').grant('c1', 1).renewed('c1', 2).release('c1', 3).whole(4);
const events = [...story.history().all()];
/** Fields that the events above do not have. */
const odd: object[] = [
  { atNs: 5e9, type: 'step', client: 'c1', name: 'after-set', clientNs: 4e9 },
  { atNs: 5e9, type: 'step', client: 'c1', name: 'after-set', clientNs: 4e9, hold: 77 },
  { atNs: 5e9, type: 'lost', client: 'c1', hold: 1, key: 'lock:0', clientNs: -1, reason: 'no answer' },
  { atNs: 5e9, type: 'invoke', client: 'c1', id: 1e15, op: 'clock', key: '' },
  { atNs: 6e9, type: 'info', client: 'c1', id: 1e15, op: 'clock', key: '', wallMs: 1.5, reason: 'timeout' },
  { atNs: 6e9, type: 'invoke', client: 'c1', id: 0, op: 'acquire', key: 'b', leaseMs: 1, waitMs: 0, mode: 'read' },
  { atNs: 6e9, type: 'ok', client: 'c1', id: 0, op: 'acquire', key: 'b', token: 3, validForMs: 0.5, grantSentNs: 9 },
  { atNs: 6e9, type: 'invoke', client: 'c1', id: 1e9, op: 'extend', key: 'b', hold: 0, leaseMs: 2 },
  { atNs: 6e9, type: 'ok', client: 'c1', id: 1e9, op: 'extend', key: 'b', hold: 0, sentNs: 8, validForMs: 2 },
];
const lines = events.map((event) => JSON.stringify(event));
type Line = Record<string, unknown>;
/** The valid history with line `at` (from 0) changed. */
function changed(at: number, change: (event: Line) => Line | string): string[] {
  const result = change({ ...events[at] } as unknown as Line);
  return lines.with(at, typeof result === 'string' ? result : JSON.stringify(result));
}
function at(type: string): number {
  return events.findIndex((event) => event.type === type);
}

/** What a reader gave, in plain data. */
function plain(history: History): { events: HistoryEvent[]; torn: boolean } {
  return { events: [...history.all()], torn: history.torn };
}

describe('parseHistory', () => {
  it('gives back what was written', () => {
    expect(plain(parseHistory(lines))).toEqual({ events, torn: false });
  });

  it('gives back every field, and has the last event to be recorded as its end', () => {
    const all = [...events, ...odd.map((event, n) => ({ i: events.length + n, ...event }))];
    const history = parseHistory(all.map((event) => JSON.stringify(event)));
    expect([...history.all()]).toEqual(all);
    expect(history).toMatchObject({ length: all.length, endNs: 6e9 });
    expect(history.event(all.length)).toBeUndefined();
    expect(history.event(-1)).toBeUndefined();
  });

  it('leaves out a last line that cannot be parsed, and says so', () => {
    expect(plain(parseHistory([...lines, '{"i":9,"atN']))).toEqual({ events, torn: true });
  });

  it('accepts nonsensical stamps of a client: the checkers judge them', () => {
    const history = parseHistory(changed(at('ok'), (event) => ({ ...event, beganNs: -5, endedNs: 1e18 })));
    expect(history.event(at('ok'))).toMatchObject({ beganNs: -5 });
  });

  const damage: [name: string, lines: string[], line: number, problem: RegExp][] = [
    ['an empty file', [], 1, /no run header/],
    [
      'no run header',
      lines.slice(1).map((line, i) => line.replace(/"i":\d+/, `"i":${i}`)),
      1,
      /no run header .*client-up/,
    ],
    ['another version', changed(0, (event) => ({ ...event, version: 3 })), 1, /it is of version 3; .*reads 1 and 2/],
    [
      'a version that is none',
      changed(0, (event) => ({ ...event, version: 'x' })),
      1,
      /"version" is "x", not one of 2/,
    ],
    [
      'a second run header',
      [...lines, JSON.stringify({ ...events[0], i: lines.length })],
      lines.length + 1,
      /a second run header/,
    ],
    ['an unparsable line before the last', changed(3, () => '{"i":3,"at'), 4, /not JSON/],
    ['a line that is no object', changed(3, () => '[]'), 4, /not a JSON object/],
    ['a wrong i', changed(2, (event) => ({ ...event, i: 7 })), 3, /"i" is 7, expected 2/],
    ['a line left out', lines.toSpliced(2, 1), 3, /"i" is 3, expected 2/],
    ['a missing stamp', changed(2, ({ atNs, ...event }) => event), 3, /"atNs" is missing/],
    ['a negative stamp', changed(2, (event) => ({ ...event, atNs: -1 })), 3, /"atNs" is negative/],
    ['a stamp that is no number', changed(2, (event) => ({ ...event, atNs: '1' })), 3, /"atNs" is not a number/],
    ['an unknown type', changed(2, (event) => ({ ...event, type: 'grant' })), 3, /unknown type "grant"/],
    [
      'a type that objects have by nature',
      changed(2, (event) => ({ ...event, type: 'toString' })),
      3,
      /unknown type "toString"/,
    ],
    ['no type', changed(2, ({ type, ...event }) => event), 3, /"type" is missing/],
    [
      'a kind of lease that is not known',
      changed(at('client-up'), (event) => ({ ...event, lease: 'for ever' })),
      at('client-up') + 1,
      /"lease" is /,
    ],
    [
      'a place that ends at no time that is known',
      changed(at('client-up'), (event) => ({ ...event, deadlines: { place: 'soon' } })),
      at('client-up') + 1,
      /"deadlines" is not when places and permits end/,
    ],
    [
      'an unknown operation',
      changed(at('invoke'), (event) => ({ ...event, op: 'steal' })),
      at('invoke') + 1,
      /"op" is "steal", not one of/,
    ],
    [
      'an acquire without a lease',
      changed(at('invoke'), ({ leaseMs, ...event }) => event),
      at('invoke') + 1,
      /"leaseMs" of an acquire is missing/,
    ],
    [
      'a completion without its invoke',
      changed(at('ok'), (event) => ({ ...event, id: 99 })),
      at('ok') + 1,
      /operation 99 of c1 completes without an invoke/,
    ],
    [
      'two completions for one invoke',
      [...lines, JSON.stringify({ ...events[at('ok')], i: lines.length })],
      lines.length + 1,
      /operation 1 of c1 completes a second time/,
    ],
    [
      'one id for two invokes',
      [...lines, JSON.stringify({ ...events[at('invoke')], i: lines.length })],
      lines.length + 1,
      /invokes operation 1 a second time/,
    ],
    [
      'a completion of another key',
      changed(at('ok'), (event) => ({ ...event, key: 'lock:9' })),
      at('ok') + 1,
      /completes as another than line 3 invoked/,
    ],
    [
      'a client that comes up twice',
      [...lines, JSON.stringify({ ...events[at('client-up')], i: lines.length })],
      lines.length + 1,
      /c1 came up twice/,
    ],
    [
      'a key that is no string',
      changed(at('renewed'), (event) => ({ ...event, key: 4 })),
      at('renewed') + 1,
      /"key" is not a string/,
    ],
    [
      'a mode that is none',
      changed(at('invoke'), (event) => ({ ...event, mode: 'exclusive' })),
      at('invoke') + 1,
      /"mode" is "exclusive", not one of "read", "write"/,
    ],
    [
      'a version that is no number',
      changed(at('ok'), (event) => ({ ...event, version: '1' })),
      at('ok') + 1,
      /"version" is not a number/,
    ],
    [
      'an unknown phase',
      changed(at('phase'), (event) => ({ ...event, phase: 'supper' })),
      at('phase') + 1,
      /"phase" is "supper"/,
    ],
  ];
  it.each(damage)('refuses %s, naming file and line', (_name, damaged, line, problem) => {
    const error = caught(() => parseHistory(damaged, 'runs/1/history.jsonl'));
    expect(error).toBeInstanceOf(DamagedHistory);
    expect((error as Error).message).toMatch(problem);
    expect((error as Error).message).toMatch(new RegExp(`^runs/1/history.jsonl, line ${line}: [^\n]+$`));
  });

  it('refuses a release of a hold that was never acquired, and one without a hold', () => {
    const release = events.findIndex((event) => event.type === 'invoke' && event.op === 'release');
    expect(() => parseHistory(changed(release, (event) => ({ ...event, hold: 8 })))).toThrow(
      /release of hold 8, which c1 never tried to acquire/,
    );
    expect(() => parseHistory(changed(release, ({ hold, ...event }) => event))).toThrow(
      /"hold" of a release is missing/,
    );
    expect(() => parseHistory(changed(release, (event) => ({ ...event, key: 'lock:9' })))).toThrow(
      /names key "lock:9", but it was acquired as "lock:0"/,
    );
  });
});

describe('reads and writes of a resource', () => {
  const header = { atNs: 0, type: 'run', version: 1, runId: 'r', seed: 1, epochWallMs: 1 };
  const acquire = { atNs: 1, type: 'invoke', client: 'c1', id: 1, op: 'acquire', key: 'lock:0', leaseMs: 5 };
  const write = { atNs: 2, type: 'invoke', client: 'c1', id: 2, op: 'write', key: 'lock:0', hold: 1, value: 7 };
  const written = { atNs: 3, type: 'ok', client: 'c1', id: 2, op: 'write', key: 'lock:0', hold: 1, version: 3 };
  const parsed = (...events: object[]) => parseHistory(events.map((event, i) => JSON.stringify({ i, ...event })));
  const read = { ...write, op: 'read', value: undefined };

  it('are parsed', () => {
    const history = parsed(header, acquire, write, written);
    expect(history.event(2)).toEqual({ i: 2, ...write });
    expect(history.event(3)).toEqual({ i: 3, ...written });
  });

  it.each([
    ['a write without a hold', { ...write, hold: undefined }, /"hold" of a write is missing/],
    ['a write under a hold that never was', { ...write, hold: 8 }, /write of hold 8, which c1 never tried to acquire/],
    ['a read under a hold that never was', { ...read, hold: 8 }, /read of hold 8, which c1 never tried to acquire/],
    ["a write under another's hold", { ...write, client: 'c2' }, /write of hold 1, which c2 never tried to acquire/],
    ['a write of another key', { ...write, key: 'b' }, /names key "b", but it was acquired as "lock:0"/],
    ['a write of nothing', { ...write, value: undefined }, /"value" of a write is missing/],
    ['a write of what is no number', { ...write, value: '7' }, /"value" is not a number/],
  ])('refuses %s', (_name, event, problem) => {
    expect(() => parsed(header, acquire, event)).toThrow(problem);
  });

  it('are no holds', () => {
    const nested = { ...read, id: 3, hold: 2 };
    expect(() => parsed(header, acquire, write, nested)).toThrow(/read of hold 2, which c1 never tried to acquire/);
  });
});

describe('files', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'history-'));
    path = join(folder, 'history.jsonl');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('reads a history back', async () => {
    await writeFile(path, `${lines.join('\n')}\n`);
    expect(plain(await readHistory(path))).toEqual({ events, torn: false });
  });

  it('reads lines that are split over chunks, and characters too', async () => {
    const reason = 'ü€😀'.repeat(150_000);
    const many = new Story()
      .event(1, { type: 'client-down', client: 'c1', endNs: 0, reason })
      .event(2, { type: 'client-down', client: 'c2', endNs: 0, reason });
    const written = [...many.history().all()];
    await writeFile(path, written.map((event) => `${JSON.stringify(event)}\n`).join(''));
    expect(plain(await readHistory(path)).events).toEqual(written);
  });

  it('leaves out whatever follows the last line break, wherever the harness was killed', async () => {
    const whole = `${lines.join('\n')}\n`;
    const lastLine = whole.lastIndexOf('\n', whole.length - 2) + 1;
    for (const length of [lastLine + 1, lastLine + 20, whole.length - 2, whole.length - 1]) {
      await writeFile(path, whole.slice(0, length));
      expect(plain(await readHistory(path)), `cut at ${length}`).toEqual({ events: events.slice(0, -1), torn: true });
    }
    await writeFile(path, whole.slice(0, lastLine));
    expect(plain(await readHistory(path))).toEqual({ events: events.slice(0, -1), torn: false });
  });

  it('names the file and line of damage', async () => {
    await writeFile(path, `${changed(2, () => 'rubbish').join('\n')}\n`);
    await expect(readHistory(path)).rejects.toThrow(`${path}, line 3: not JSON`);
  });
});

function caught(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}
