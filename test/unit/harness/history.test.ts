import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DamagedHistory, parseHistory, readHistory, readObservations } from '../../../harness/history.js';
import { Story } from '../checkers/build.js';

const events = new Story().up('c1').grant('c1', 1).renewed('c1', 2).release('c1', 3).whole(4).history().events;
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

describe('parseHistory', () => {
  it('gives back what was written', () => {
    expect(parseHistory(lines)).toEqual({ events, torn: false });
  });

  it('leaves out a last line that cannot be parsed, and says so', () => {
    expect(parseHistory([...lines, '{"i":9,"atN'])).toEqual({ events, torn: true });
  });

  it('takes nonsense of a client that stamps for what it is: the business of the checkers', () => {
    const history = parseHistory(changed(at('ok'), (event) => ({ ...event, beganNs: -5, endedNs: 1e18 })));
    expect(history.events[at('ok')]).toMatchObject({ beganNs: -5 });
  });

  const damage: [name: string, lines: string[], line: number, problem: RegExp][] = [
    ['an empty file', [], 1, /no run header/],
    [
      'no run header',
      lines.slice(1).map((line, i) => line.replace(/"i":\d+/, `"i":${i}`)),
      1,
      /no run header .*client-up/,
    ],
    ['another version', changed(0, (event) => ({ ...event, version: 2 })), 1, /"version" is 2, not one of 1/],
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
    expect(await readHistory(path)).toEqual({ events, torn: false });
  });

  it('reads lines that are split over chunks, and characters too', async () => {
    const reason = 'ü€😀'.repeat(50_000);
    const many = new Story()
      .event(1, { type: 'client-down', client: 'c1', endNs: 0, reason })
      .event(2, { type: 'client-down', client: 'c2', endNs: 0, reason });
    const written = many.history().events;
    await writeFile(path, written.map((event) => `${JSON.stringify(event)}\n`).join(''));
    expect((await readHistory(path)).events).toEqual(written);
  });

  it('leaves out whatever follows the last line break, wherever the harness was killed', async () => {
    const whole = `${lines.join('\n')}\n`;
    const lastLine = whole.lastIndexOf('\n', whole.length - 2) + 1;
    for (const length of [lastLine + 1, lastLine + 20, whole.length - 2, whole.length - 1]) {
      await writeFile(path, whole.slice(0, length));
      expect(await readHistory(path), `cut at ${length}`).toEqual({ events: events.slice(0, -1), torn: true });
    }
    await writeFile(path, whole.slice(0, lastLine));
    expect(await readHistory(path)).toEqual({ events: events.slice(0, -1), torn: false });
  });

  it('names the file and line of damage', async () => {
    await writeFile(path, `${changed(2, () => 'rubbish').join('\n')}\n`);
    await expect(readHistory(path)).rejects.toThrow(`${path}, line 3: not JSON`);
  });

  it('reads observations, forgives their torn end, and takes a missing file for no observations', async () => {
    const { observations } = new Story().watch(0, 'r1').take(1, 'r1', 'c1').sample(1.1, 'r1', { owner: 'x' }).input();
    expect(await readObservations(join(folder, 'observations.jsonl'))).toEqual([]);
    await writeFile(path, observations.map((one) => `${JSON.stringify(one)}\n`).join(''));
    await appendFile(path, '{"atNs":12');
    expect(await readObservations(path)).toEqual(observations);
  });

  it.each([
    ['no node', '{"atNs":1,"type":"watch","watching":true}', /"node" is missing/],
    ['a role that is none', '{"atNs":1,"node":"r1","type":"sample","role":"king"}', /"role" is "king"/],
    [
      'keys without owners',
      '{"atNs":1,"node":"r1","type":"sample","role":"primary","offset":0,"runId":"","skewMs":0,"keys":{"a":{}}}',
      /"keys" is not a string/,
    ],
  ])('refuses an observation with %s', async (_name, line, problem) => {
    await writeFile(path, `${line}\n${line}\n`);
    await expect(readObservations(path)).rejects.toThrow(problem);
    await expect(readObservations(path)).rejects.toThrow(`${path}, line 1:`);
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
