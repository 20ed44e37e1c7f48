/** Files in Jepsen's form become histories: a few events each, then a property about whatever was recorded. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it, test } from 'vitest';
import { type ImportOptions, importHistory } from '../../../../../harness/record/import/index.js';
import type { HistoryEvent } from '../../../../../harness/vocabulary/history.js';
import { Story } from '../../../checkers/build.js';

const folder = mkdtempSync(join(tmpdir(), 'import-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'history.edn');

function imported(text: string, options: ImportOptions = {}) {
  writeFileSync(file, text);
  return importHistory(file, options);
}

async function events(text: string, options: ImportOptions = {}): Promise<HistoryEvent[]> {
  return [...(await imported(text, options)).history.all()];
}

function damage(text: string, options: ImportOptions = {}): Promise<string> {
  return imported(text, options).then(
    () => 'nothing was wrong',
    (error) => {
      expect(error.name).toBe('DamagedHistory');
      return error.message.replace(`${file}, `, '');
    },
  );
}

const ONE_SECTION = `
{:type :invoke, :f :acquire, :value nil, :process 0, :time 100, :index 0}
{:type :ok, :f :acquire, :value nil, :process 0, :time 200, :index 1}
{:type :invoke, :f :release, :value nil, :process 0, :time 300, :index 2}
{:type :ok, :f :release, :value nil, :process 0, :time 400, :index 3}
`;
const SECTION_EVENTS = [
  { i: 0, atNs: 100, type: 'invoke', client: 'process 0', id: 0, op: 'acquire', key: 'lock' },
  { i: 1, atNs: 200, type: 'ok', client: 'process 0', id: 0, op: 'acquire', key: 'lock' },
  { i: 2, atNs: 300, type: 'invoke', client: 'process 0', id: 1, op: 'release', key: 'lock', hold: 0 },
  { i: 3, atNs: 400, type: 'ok', client: 'process 0', id: 1, op: 'release', key: 'lock', hold: 0 },
];

describe('one section', () => {
  const asJson = [...ONE_SECTION.matchAll(/:type :(\w+), :f :(\w+).*:process 0, :time (\d+), :index (\d)/g)].map(
    ([, type, f, time, index]) => ({ type, f, value: null, process: 0, time: Number(time), index: Number(index) }),
  );

  test.each([
    ['as EDN, an event a line', ONE_SECTION],
    ['as EDN, in a vector', `[${ONE_SECTION}]`],
    ['as EDN records', ONE_SECTION.replaceAll('{', '#jepsen.history.Op{')],
    ['with strings for keywords', ONE_SECTION.replace(/ :(invoke|ok|acquire|release)/g, ' "$1"')],
    ['as lock and unlock', ONE_SECTION.replaceAll(':acquire', ':try-lock').replaceAll(':release', ':unlock')],
    ['as JSON, an event a line', asJson.map((event) => JSON.stringify(event)).join('\n')],
    ['as JSON, in an array', JSON.stringify(asJson, null, 2)],
    ['as JSON with a byte order mark', `\ufeff${JSON.stringify(asJson)}`],
  ])('%s', async (_, text) => {
    expect(await events(text)).toEqual(SECTION_EVENTS);
  });

  it('tells where each event stands in the file', async () => {
    const { place, format, isMeasured, notes } = await imported(ONE_SECTION.replace(':index 3', ':index 7'));
    expect([0, 3].map(place)).toEqual([
      { line: 2, index: 0 },
      { line: 5, index: 7 },
    ]);
    expect({ format, isMeasured, notes }).toEqual({ format: 'edn', isMeasured: true, notes: [] });
  });

  it('with a lease that the user gives', async () => {
    const [acquire, granted, release] = await events(ONE_SECTION, { leaseMs: 5000 });
    expect(acquire).toEqual({ ...SECTION_EVENTS[0], leaseMs: 5000 });
    expect([granted, release]).toEqual(SECTION_EVENTS.slice(1, 3));
  });
});

/** `0i acquire`: process 0 invokes an acquire; `k` completes it ok, `f` fail, `n` info. Places are the times. */
function story(...lines: string[]): string {
  const types: Record<string, string> = { i: 'invoke', k: 'ok', f: 'fail', n: 'info' };
  return lines
    .map((line) => /^(\d+)([ikfn]) (\S+) ?(.*)$/.exec(line)!)
    .map(([, process, type, f, rest]) => `{:process ${process}, :type :${types[type!]}, :f :${f} ${rest}}`)
    .join('\n');
}

async function holds(...lines: string[]): Promise<string[]> {
  const all = await events(story(...lines));
  return all
    .filter(({ type }) => type === 'invoke')
    .map((event) => `${(event as { id: number }).id} ends ${(event as { hold?: number }).hold}`);
}

describe('a release ends', () => {
  it("its process's latest hold, as with reentrant locks", async () => {
    expect(
      await holds(
        ...['0i acquire', '0k acquire', '0i acquire', '0k acquire'],
        ...['0i release', '0k release', '0i release', '0k release'],
      ),
    ).toEqual(['0 ends undefined', '1 ends undefined', '2 ends 1', '3 ends 0']);
  });

  it('the hold of the same key', async () => {
    expect(
      await holds(
        ...['0i acquire :value [:a nil]', '0k acquire :value [:a nil]', '0i acquire :value [:b nil]', '0k acquire'],
        ...['0i release :value [:a nil]'],
      ),
    ).toEqual(['0 ends undefined', '1 ends undefined', '2 ends 0']);
  });

  it('the same hold again, if it failed', async () => {
    expect(
      await holds('0i acquire', '0k acquire', '0i release', '0f release :error :timeout', '0i release', '0k release'),
    ).toEqual(['0 ends undefined', '1 ends 0', '2 ends 0']);
  });

  it('nothing, where nothing is held: never acquired, refused, or released already', async () => {
    expect(await holds('0i release', '0k release')).toEqual(['0 ends undefined']);
    expect(await holds('0i acquire', '0f acquire', '0i release', '0f release')).toEqual([
      '0 ends undefined',
      '1 ends undefined',
    ]);
    expect(await holds('0i acquire', '0k acquire', '0i release', '0k release', '0i release')).toEqual([
      '0 ends undefined',
      '1 ends 0',
      '2 ends undefined',
    ]);
  });

  it('a hold that may have been granted, by a process that goes on', async () => {
    const text = story('0i acquire', '0n acquire :error :timeout', '0i release', '0k release');
    const { history, notes } = await imported(text);
    expect(history.event(2)).toMatchObject({ op: 'release', hold: 0 });
    expect(notes.at(-1)).toMatch(/^process 0 goes on after an operation of unknown outcome \(line 2\)/);
  });

  it('the latest hold of its mode', async () => {
    expect(
      await holds(
        ...['0i read-lock', '0k read-lock', '0i write-lock', '0k write-lock'],
        ...['0i read-unlock', '0k read-unlock', '0i release', '0k release'],
      ),
    ).toEqual(['0 ends undefined', '1 ends undefined', '2 ends 0', '3 ends 1']);
  });
});

describe('what an event says', () => {
  it('the key: its own, that of an independent value, or none', async () => {
    const keys = async (text: string) => (await events(text)).map((event) => (event as { key: string }).key);
    expect(await keys(story('0i acquire :value [3 nil]', '0k acquire :value [3 nil]'))).toEqual(['3', '3']);
    expect(await keys(story('0i acquire :key "a b"', '0n acquire'))).toEqual(['a b', 'a b']);
    expect(await keys(story('0i acquire :value {:k 1}', '0f acquire :value nil'))).toEqual(['lock', 'lock']);
  });

  it('the token: a fence or token in it, never the value that was handed in', async () => {
    const token = async (invoked: string, answered: string, options: ImportOptions = {}) =>
      ((await events(story(`0i acquire ${invoked}`, `0k acquire ${answered}`), options))[1] as { token?: number })
        .token;
    const fenced: ImportOptions = { model: { kind: 'fenced' } };
    expect(await token(':value "u"', ':value {:client "n1", :fence 5, :uid "u"}')).toBe(5);
    expect(await token(':value "u"', ':value {:client "n1", :fence 0, :uid "u"}')).toBeUndefined();
    expect(await token('', ':token 0')).toBe(0);
    expect(await token(':value [:k nil]', ':value [:k {:token 7}]')).toBe(7);
    expect(await token(':value nil', ':value 9')).toBeUndefined();
    expect(await token(':value nil', ':value 9', fenced)).toBe(9);
    expect(await token(':value 9', ':value 9', fenced)).toBeUndefined();
    expect(await token(':value [:k nil]', ':value [:k 9]', fenced)).toBe(9);
  });

  it('counts integers that may be tokens', async () => {
    const text = story('0i acquire', '0k acquire :value 9', '1i acquire :value 3', '1k acquire :value 3');
    expect((await imported(text)).bareTokens).toBe(1);
  });

  it('the reason, and the words of other tools for "never sent"', async () => {
    const reason = async (error: string) =>
      ((await events(story('0i release', `0f release :error ${error}`)))[1] as { reason?: string }).reason;
    expect(await reason(':not-held')).toBe('not-held');
    expect(await reason('[:duplicate "no such key"]')).toBe('duplicate no such key');
    expect(await reason('"held"')).toBe('held');
    expect(await reason(':client-down')).toBe('unreachable');
    expect(await reason('nil')).toBeUndefined();
  });

  it('the mode, in its name or beside it', async () => {
    const mode = async (text: string) => ((await events(text))[0] as { mode?: string }).mode;
    expect(await mode(story('0i read-lock'))).toBe('read');
    expect(await mode(story('0i acquire :mode :write'))).toBe('write');
    expect(await mode(story('0i acquire :mode nil'))).toBeUndefined();
    expect(await mode(story('0i acquire :mode "exclusive"'))).toBeUndefined();
  });

  it('the process: a number or, in JSON, a name', async () => {
    const line = (process: unknown) => JSON.stringify({ type: 'invoke', f: 'acquire', process });
    const all = await events([line(3), line('worker-a'), line('nemesis'), line(':nemesis')].join('\n'));
    expect(all.map((event) => (event as { client: string }).client)).toEqual(['process 3', 'worker-a']);
  });
});

describe('what is left out is counted and named', () => {
  it('the nemesis, and operations of other kinds', async () => {
    const nemesis = '{:type :info, :f :start, :process :nemesis, :value {:a #{"n1"}}}\n';
    const text =
      nemesis + nemesis + story('0i read', '0k read :value 1', '0i acquire', '1i cas', '1n cas', '0k acquire');
    const { history, notes } = await imported(text);
    expect(history.length).toBe(2);
    expect(notes.slice(1)).toEqual([
      'left out: 2 events not by a client (:nemesis)',
      'left out: 4 events of other operations (:read, :cas)',
    ]);
  });

  it('whatever else it says', async () => {
    const text = ['{:process :nemesis}', '{:process 0, :type :ok, :f :read, :time "now"}', story('0i acquire')].join(
      '\n',
    );
    expect((await imported(text)).history.length).toBe(1);
  });

  it('and where nothing is left, that is an error', async () => {
    expect(await damage('')).toBe('line 1: no acquire or release of a client in history.edn');
    expect(await damage(story('0i read', '0k read'))).toBe(
      'line 1: no acquire or release of a client in history.edn; left out: 2 events of other operations (:read)',
    );
  });
});

describe('order and time', () => {
  const at = (...stamps: [process: number, time: number | undefined, index?: number][]) =>
    stamps
      .map(([process, time, index]) => {
        const fields = [time === undefined ? '' : `:time ${time}`, index === undefined ? '' : `:index ${index}`];
        return `{:process ${process} :type :invoke :f :acquire ${fields.join(' ')}}`;
      })
      .join('\n');
  const placed = async (text: string) =>
    (await events(text)).map((event) => `${(event as { client: string }).client.slice(8)}@${event.atNs}`);

  it('an index is the order; a time is never before that of the event before', async () => {
    const text = at([4, 585400396, 4], [0, 584353142, 5], [1, 585478186, 7]);
    const { notes, isMeasured } = await imported(text);
    expect(await placed(text)).toEqual(['4@585400396', '0@585400397', '1@585478186']);
    expect(notes).toEqual([
      '1 events have an earlier :time than the event before them (by up to 1.047 ms): their :index is the order',
    ]);
    expect(isMeasured).toBe(true);
  });

  it('an index parts equal times', async () => {
    expect(await placed(at([0, 5, 0], [1, 5, 1], [2, 6, 2]))).toEqual(['0@5', '1@6', '2@7']);
  });

  it('events are put in the order of their index', async () => {
    const { place, notes } = await imported(at([0, 1, 0], [2, 3, 2], [1, 2, 1]));
    expect([0, 1, 2].map((i) => place(i).line)).toEqual([1, 3, 2]);
    expect(notes).toEqual(['the events do not stand in the order of their :index; they were put in it']);
  });

  it('a clock that was set back gives no durations', async () => {
    const { isMeasured, notes } = await imported(at([0, 1e9, 0], [1, 0.8e9, 1]));
    expect(isMeasured).toBe(false);
    expect(notes).toContain('so the times say no duration');
  });

  it('without an index times are the order, and equal ones are left equal', async () => {
    expect(await placed(at([0, 5], [1, 5], [2, 3]))).toEqual(['2@3', '0@5', '1@5']);
    expect((await imported(at([0, 5], [1, 5], [2, 3]))).notes).toEqual([
      'the events do not stand in the order of their :time; they were put in it',
      '1 of 3 events have the same :time as another, and count as concurrent with it',
    ]);
  });

  it('without times the positions are, a millisecond each', async () => {
    const { isMeasured, notes } = await imported(at([0, undefined], [1, -1]));
    expect(isMeasured).toBe(false);
    expect(notes[0]).toMatch(/^no event has a :time: their order in the file is taken, a millisecond each/);
    expect(await placed(at([0, undefined], [1, -1]))).toEqual(['0@0', '1@1000000']);
    expect(await placed(at([0, undefined, 9], [1, undefined, 4]))).toEqual(['1@4000000', '0@9000000']);
    expect(await placed(at([0, 7], [1, 7]))).toEqual(['0@0', '1@1000000']);
  });

  it('times since 1970 are counted from the first', async () => {
    const start = 1_763_700_000_000_000_000;
    expect(await placed(at([0, start + 4096], [1, start + 8192]))).toEqual(['0@0', '1@4096']);
  });
});

describe('damage is reported with its line', () => {
  const cases: [text: string, message: string | RegExp][] = [
    [story('0i acquire', '0k acquire', '0k acquire'), 'line 3: process 0 completes an acquire, and has invoked none'],
    [story('0i acquire', '0i acquire'), 'line 2: process 0 invokes while an acquire (line 1) is still open'],
    [story('0i acquire', '0k release'), 'line 2: process 0 completes a release, and has invoked an acquire (line 1)'],
    [
      story('0i acquire :key :a', '0k acquire :key :b'),
      'line 2: process 0 completes an acquire of b, and has invoked an acquire of a (line 1)',
    ],
    ['{:type :start, :f :acquire, :process 0}', 'line 1: type: expected one of invoke, ok, fail, info, got "start"'],
    ['{:f :acquire, :process 0}', 'line 1: type: missing, expected one of invoke, ok, fail, info'],
    ['\n{:type :ok, :process 0}', 'line 2: f: missing, expected a string'],
    ['{:type :ok, :f :acquire}', 'line 1: process: missing, expected the number or the name of a client'],
    ['{:type :ok, :f 7, :process 0}', 'line 1: f: expected a string, got 7'],
    ['[1 2]', 'line 1: expected an operation, a map with :type, :process and :f, got 1'],
    [story('0i acquire :time 1.5'), 'line 1: time: expected whole nanoseconds, got 1.5'],
    [story('0i acquire :time "now"'), 'line 1: time: expected a number, got "now"'],
    [story('0i acquire :index -1'), 'line 1: index: expected a whole number from 0 to 2147483647, got -1'],
    [story('0i acquire :mode :shared'), 'line 1: mode: expected one of read, write, exclusive, got "shared"'],
    [story('0i acquire :time 1', '0k acquire'), 'line 2: an event without :time, where others have one'],
    [
      story('0i acquire :index 0', '1i acquire :index 0'),
      'line 2: a second event with :index 0 (are these two histories?)',
    ],
    [
      story('0i acquire :time 1 :index 0', '1i acquire :time 2 :index 0'),
      'line 2: a second event with :index 0 (are these two histories?)',
    ],
    [
      story('0i acquire', '0k acquire :token 9007199254740993'),
      'line 2: the token 9007199254740992 is too large to be compared exactly',
    ],
  ];
  test.each(cases)('%s', async (text, message) => {
    expect(await damage(text)).toMatch(message);
  });

  it('in events that were put in order, too', async () => {
    const text = story('0k acquire :index 1', '0i acquire :index 2', '0k acquire :index 3');
    expect(await damage(text)).toBe('line 1: process 0 completes an acquire, and has invoked none');
  });

  it('in a plain value only where it is meant to be a token', async () => {
    const text = story('0i acquire', '0k acquire :value 9007199254740993');
    expect(await damage(text)).toBe('nothing was wrong');
    expect(await damage(text, { model: { kind: 'fenced' } })).toBe(
      'line 2: the token 9007199254740992 is too large to be compared exactly',
    );
  });
});

it('reads a file in pieces, wherever they cut a character', async () => {
  const lines = Array.from({ length: 15_000 }, (_, n) =>
    story(`${n % 7}i acquire :key "κλειδί€${n}"`, `${n % 7}k acquire`),
  );
  const { history, place } = await imported(`[${lines.join('\n')}]`);
  expect(history.length).toBe(30_000);
  expect(history.operations.keys.filter((key, n) => key !== `κλειδί€${n}`)).toEqual([]);
  expect(place(29_999)).toEqual({ line: 30_000, index: undefined });
});

it("reads a history of this project's own that has lost its run", async () => {
  const own = new Story().up('c1').grant('c1', 1).release('c1', 3).history();
  const { history, format, place } = await imported(
    [...own.all()].map((event) => `${JSON.stringify(event)}\n`).join(''),
  );
  expect([...history.all()]).toEqual([...own.all()]);
  expect({ format, place: place(2) }).toEqual({ format: 'own', place: { line: 3, index: undefined } });
});

// ---------------------------------------------------------------------------------------------------------- properties

test('every operation of every client is in the history, in order', async () => {
  const steps = fc.array(fc.record({ process: fc.nat(3), op: fc.boolean(), end: fc.nat(3) }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const open = new Map<number, string>();
      const lines = all.map(({ process, op, end }) => {
        const f = open.get(process);
        if (f === undefined) open.set(process, op ? 'acquire' : 'release');
        else open.delete(process);
        return f === undefined ? `${process}i ${open.get(process)}` : `${process}${'kfnk'[end]} ${f}`;
      });
      if (lines.length === 0) return;
      const found = (await events(story(...lines))).map((event) => {
        const { type, client, op } = event as Extract<HistoryEvent, { type: 'invoke' }>;
        return `${client.slice(8)}${{ invoke: 'i', ok: 'k', fail: 'f', info: 'n' }[type as string]} ${op}`;
      });
      expect(found).toEqual(lines);
    }),
    { numRuns: 50 },
  );
});
