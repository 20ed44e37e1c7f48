/**
 * Histories in the shapes in which public test suites record locks. All are of our own making; what they are called after is
 * whose conventions they follow.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Command } from 'commander';
import { afterAll, afterEach, describe, expect, it, test, vi } from 'vitest';
import { addImportFlags, checkHistory, type ImportFlags } from '../../../../cli/judge/check-import.js';

const folder = mkdtempSync(join(tmpdir(), 'foreign-shapes-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

async function check(text: string | Buffer, argv: string[] = [], name = 'history') {
  const file = join(folder, name);
  writeFileSync(file, text);
  const command = addImportFlags(new Command().exitOverride().configureOutput({ writeErr: () => {} }));
  const flags = command.parse(argv, { from: 'user' }).opts<ImportFlags>();
  let said = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((one) => {
    said += one;
    return true;
  });
  const status = await checkHistory(file, { ...flags, json: false, cwd: folder });
  vi.restoreAllMocks();
  return { status, said, notes: said.split('\n').filter((line) => line.startsWith('Note: ')) };
}

const refused = (text: string | Buffer, argv: string[] = [], name = 'history') =>
  check(text, argv, name).then(
    () => 'it was read',
    (error) => {
      expect(error.name).toBe('DamagedHistory');
      return error.message.replace(/^.*\/[^/]*, line/, 'line');
    },
  );

/** Events as JSON, a millisecond apart. */
const json = (...events: object[]) =>
  events.map((event, at) => JSON.stringify({ ...event, time: 1e9 + at * 1e6 })).join('\n');
/** The same as EDN. */
const edn = (...events: string[]) => events.map((event, at) => `{${event} :time ${1e9 + at * 1e6}}`).join('\n');

const call = (process: number, f: string, rest = {}) => ({ process, f, type: 'invoke', ...rest });
const ok = (process: number, f: string, rest = {}) => ({ process, f, type: 'ok', ...rest });

describe("the lock's name as a plain value, and refusals that are ok (AtlasDB)", () => {
  const LOCKS = ['north', 'south'];
  const granted = (process: number, lock: string) => [
    call(process, 'lock', { value: lock }),
    ok(process, 'lock', { value: `Token [${process}-${lock}]` }),
  ];
  const history = json(
    ...granted(0, LOCKS[0]!),
    ...granted(1, LOCKS[1]!),
    ...[call(1, 'refresh', { value: LOCKS[1] }), ok(1, 'refresh', { value: `Token [1-${LOCKS[1]}]` })],
    ...[call(2, 'lock', { value: LOCKS[0] }), ok(2, 'lock', { value: '' })],
    ...[call(2, 'unlock', { value: LOCKS[0] }), ok(2, 'unlock', { value: 'false' })],
    ...[call(0, 'unlock', { value: LOCKS[0] }), ok(0, 'unlock', { value: 'true' })],
    ...granted(2, LOCKS[0]!),
  );
  const REFUSALS = ['--refused', '', '--refused', 'false'];

  it('is one lock without a word, and a note says what to say', async () => {
    const { status, notes } = await check(history, REFUSALS);
    expect(status).toBe(1);
    expect(notes).toContain(
      'Note: acquires carry 2 different values (north, south): if they name locks, judge with --key value',
    );
  });

  it('is several with --key value, and refusals are told by --refused', async () => {
    expect((await check(history, ['--key', 'value'])).status).toBe(1);
    const { status, said } = await check(history, ['--key', 'value', ...REFUSALS]);
    expect(said).toContain('4 acquires, 3 grants, 2 releases, by 3 clients on 2 keys.');
    expect(status).toBe(0);
  });

  it('is needed of every invoke then', async () => {
    expect(await refused(json(call(0, 'lock')), ['--key', 'value'])).toBe(
      'line 1: value: missing, expected the name of the lock',
    );
  });

  it('may stand in a field of any name', async () => {
    const of = (process: number, lock: string) => [call(process, 'lock', { lock }), ok(process, 'lock', { lock })];
    const text = json(...of(0, 'a'), ...of(1, 'b'), call(0, 'unlock', { lock: 'a' }), ok(0, 'unlock'), ...of(1, 'a'));
    expect((await check(text)).status).toBe(1);
    expect((await check(text, ['--key', 'lock'])).status).toBe(0);
  });
});

describe('the owner in the value outlives the process (Hazelcast)', () => {
  const grant = (process: number, client: string, fence: number) =>
    `:process ${process} :type :ok :f :acquire :value {:client "${client}" :fence ${fence}}`;
  const history = edn(
    ':process 0 :type :invoke :f :acquire :value nil',
    grant(0, 'hz1', 1),
    ':process 0 :type :invoke :f :acquire :value nil',
    ':process 0 :type :info :f :acquire :error :timeout',
    ':process 5 :type :invoke :f :release :value nil',
    ':process 5 :type :ok :f :release :value {:client "hz1"}',
    ':process 1 :type :invoke :f :acquire :value nil',
    grant(1, 'hz2', 2),
  );

  it('a note names the field where the verdict would be another', async () => {
    const { status, notes } = await check(history);
    expect(status).toBe(1);
    expect(notes).toContain(
      'Note: if client names who owns a hold, it is valid under this reading: judge with --owner client',
    );
    const sound = edn(':process 0 :type :invoke :f :acquire', grant(0, 'hz1', 1));
    expect((await check(sound)).notes.join()).not.toContain('--owner');
  });

  it('--owner makes it the owner, and a note says what that cannot tell', async () => {
    const { status, said, notes } = await check(history, ['--owner', 'client']);
    expect(status).toBe(0);
    expect(said).toContain('by 2 clients on 1 key');
    expect(notes).toContain(
      'Note: client hz1 is 2 processes: nothing tells them apart, so what one holds another may release',
    );
    expect(notes).toContain("Note: 1 operations name no client: their process's other operations say who owns");
  });

  it('an owner that names none owns for itself', async () => {
    const text = edn(
      ':process 0 :type :invoke :f :acquire :owner "a"',
      ':process 0 :type :ok :f :acquire',
      ':process 1 :type :invoke :f :acquire',
      ':process 1 :type :ok :f :acquire',
    );
    const { status, said, notes } = await check(text, ['--owner', 'owner']);
    expect(status).toBe(1);
    expect(said).toContain("the answer to process 1's acquire");
    expect(notes.join()).toContain('; 1 of these name none at all, and own for themselves');
  });

  it('two threads of one owner may do things at once', async () => {
    const text = edn(
      ':process 0 :type :invoke :f :acquire :owner "a"',
      ':process 1 :type :invoke :f :acquire :owner "a"',
      ':process 1 :type :ok :f :acquire',
      ':process 1 :type :invoke :f :release :owner "a"',
      ':process 1 :type :ok :f :release',
      ':process 2 :type :invoke :f :release :owner "a"',
      ':process 0 :type :ok :f :acquire',
      ':process 2 :type :ok :f :release',
      ':process 3 :type :invoke :f :acquire :owner "b"',
      ':process 3 :type :ok :f :acquire',
    );
    expect((await check(text, ['--owner', 'owner'])).status).toBe(0);
  });
});

describe('the holder in a field, and the name in the value (Queen, Kahuna)', () => {
  const step = (process: number, f: string, holder: string, token: number, value: string) => [
    call(process, f, { value, 'holder-id': holder }),
    ok(process, f, { value: true, 'holder-id': holder, token }),
  ];
  const history = json(
    ...step(0, 'acquire', 'h1', 1, 'orders'),
    ...step(1, 'acquire', 'h2', 2, 'stock'),
    // The same holder again, through another process: it keeps its token.
    ...step(7, 'acquire', 'h1', 1, 'orders'),
    ...step(7, 'release', 'h1', 1, 'orders'),
    ...step(0, 'release', 'h1', 1, 'orders'),
    ...step(2, 'acquire', 'h3', 2, 'orders'),
  );
  const NAMES = ['--key', 'value', '--owner', 'holder-id'];

  it('a lock taken again is told apart from one that two hold', async () => {
    const { status, notes } = await check(history, NAMES);
    expect(status).toBe(1);
    expect(notes).toContain(
      'Note: every finding is a client beside itself, and of a reentrant lock the history can be explained: ' +
        'try --model reentrant-fenced',
    );
  });

  it('the token that an owner has is no inversion when it takes the lock again; a lower one is', async () => {
    const model = [...NAMES, '--model', 'reentrant-fenced'];
    const { status, said } = await check(history, model);
    expect(said).toContain('Judged as a reentrant lock with tokens (as --model says).');
    expect(status).toBe(0);
    const inverted = history.replace('"h3","token":2', '"h3","token":1');
    expect(inverted).not.toBe(history);
    expect((await check(inverted, model)).status).toBe(1);
    const { notes } = await check(inverted, [...NAMES, '--model', 'reentrant']);
    expect(notes.join()).toContain('a reentrant lock is not judged by; --model reentrant-fenced is');
  });
});

describe("a mutex without an owner (Knossos' `mutex`)", () => {
  const history = edn(
    ...[':process 0 :type :invoke :f :acquire', ':process 0 :type :ok :f :acquire'],
    ...[':process 1 :type :invoke :f :release', ':process 1 :type :ok :f :release'],
    ...[':process 1 :type :invoke :f :acquire', ':process 1 :type :ok :f :acquire'],
    ...[':process 0 :type :invoke :f :release', ':process 0 :type :ok :f :release'],
  );

  it('is not judged as one with owners where that is said', async () => {
    const { status, notes } = await check(history);
    expect(status).toBe(1);
    expect(notes).toContain(
      'Note: of a lock that anybody may release the history can be explained: try --model ownerless',
    );
    const { status: valid, said } = await check(history, ['--model', 'ownerless']);
    expect(said).toContain('Judged as a lock that anybody may release (as --model says).');
    expect(valid).toBe(0);
  });

  it('and is granted once at a time all the same', async () => {
    const twice = edn(
      ...[':process 0 :type :invoke :f :acquire', ':process 0 :type :ok :f :acquire'],
      ...[':process 1 :type :invoke :f :acquire', ':process 1 :type :ok :f :acquire'],
    );
    const { status, said, notes } = await check(twice, ['--model', 'ownerless']);
    expect(status).toBe(1);
    expect(said).toContain("explains the answer to process 1's acquire");
    expect(notes.join()).not.toContain('--model');
    expect((await check(twice, ['--model', 'ownerless:2'])).said).toContain('a semaphore of 2 permits that anybody');
  });
});

describe('a finding', () => {
  it('of operations that take microseconds says when they were', async () => {
    const at = (event: string, ns: number) => `{:process ${event} :time ${ns}}`;
    const text = [
      at('0 :type :invoke :f :acquire', 12_000),
      at('0 :type :ok :f :acquire', 13_500),
      at('1 :type :invoke :f :acquire', 14_000),
      at('1 :type :ok :f :acquire', 15_250),
    ].join('\n');
    const { said } = await check(text);
    expect(said).toContain('process 0 certainly held lock from 13.5 µs on');
    expect(said).toContain('both at once from 15.25 µs on');
    const slower = text.replaceAll(/:time (\d+)/g, ':time $1000');
    expect((await check(slower)).said).toContain('process 0 certainly held lock from 13.5 ms on');
  });
});

describe('the file', () => {
  const EVENTS = json(call(0, 'acquire'), ok(0, 'acquire'), call(0, 'release'), ok(0, 'release'), call(1, 'acquire'));
  const LINES = EVENTS.split('\n');
  const NEXT = JSON.stringify({ ...ok(1, 'acquire'), time: 2e9 });
  const WHOLE = `${EVENTS}\n${NEXT}`;
  const asEdn = (line: string) => line.replace(/"(\w+)":/g, ':$1 ').replace(/"(\w+)"/g, ':$1');

  test.each([
    ['with times called time_ns', WHOLE.replaceAll('"time"', '"time_ns"')],
    ['with times called t_ns', WHOLE.replaceAll('"time"', '"t_ns"')],
    ['with processes called client', WHOLE.replaceAll('"process"', '"client"')],
    ['with metadata in its first line', `{"seed": 7, "lock": "etcd"}\n${WHOLE}`],
    ['in a map, as JSON', `{"name": "x", "history": [${WHOLE.replaceAll('\n', ',')}], "valid": true}\n`],
    ['in a map, as EDN', `{:name "x" :history [${asEdn(WHOLE)}]}`],
    ['with metadata of Clojure', `^{:line 3} ${asEdn(WHOLE)}`],
    ['with a tag of Clojure as metadata', `^:whole [${asEdn(WHOLE)}]`],
    ['packed', gzipSync(WHOLE)],
  ])('is read %s', async (_, text) => {
    const { status, said } = await check(text);
    expect(said).toContain('2 acquires, 2 grants, 1 release, by 2 clients on 1 key.');
    expect(status).toBe(0);
  });

  it('says what of it was not read', async () => {
    expect((await check(`{"seed": 7, "lock": "etcd"}\n${WHOLE}`)).notes[0]).toBe(
      'Note: the first form is no event, and is left out as metadata (seed, lock)',
    );
    expect((await check(`{"history": [${WHOLE}]}`)).notes[0]).toBe(
      'Note: only the history of the map in the file is read',
    );
  });

  it('that was cut off is judged as far as it is whole, on request', async () => {
    const torn = `${WHOLE}\n{"process":1,"f":"rele`;
    expect(await refused(torn)).toBe(
      'line 7: what begins here never ends; if the file was cut off, --torn judges what stands before it',
    );
    const { status, notes } = await check(torn, ['--torn']);
    expect(status).toBe(0);
    expect(notes).toEqual(['Note: what begins on line 7 is not whole, and is left out']);
    expect((await check(`[${asEdn(WHOLE)}\n{:f :rel`, ['--torn'])).status).toBe(0);
    expect((await check(`{"history": [${WHOLE}`, ['--torn'])).status).toBe(0);
    const packed = gzipSync(torn);
    const cut = packed.subarray(0, packed.length - 12);
    expect(await refused(cut)).toMatch(/its end is missing\); --torn judges what is whole of it$/);
    expect((await check(cut, ['--torn'])).said).toContain('by 2 clients');
  });

  it('whose map never ends is damaged', async () => {
    expect(await refused(`{"history": [${WHOLE}]`)).toBe('line 1: the map that begins here never ends');
  });

  test.each([
    ["Jepsen's binary store", Buffer.concat([Buffer.from('JEPSEN'), Buffer.alloc(20)]), 'test.jepsen'],
    ['the older one', Buffer.from([0xc0, 0xef, 0xe3]), 'test.fressian'],
    ["Jepsen's history.txt", '0\t:invoke\t:acquire\tnil\n0\t:ok\t:acquire\tnil\n', 'history.txt'],
    ["Jepsen's results.edn", '{:perf {:valid? true}, :valid? false}', 'results.edn'],
  ])('that is %s names the one to give', async (_, bytes, name) => {
    expect(await refused(bytes, [], name)).toMatch(/^line 1: this is Jepsen's .*: give history\.edn/);
  });

  it('that is packed otherwise is to be unpacked', async () => {
    expect(await refused(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]))).toBe(
      'line 1: this is packed by zstd: unpack it first',
    );
  });

  it('is not taken for metadata or torn beyond its first and its last form', async () => {
    expect(await refused(`${LINES[0]}\n{"seed": 7}\n${LINES[1]}`)).toMatch(/^line 2: process: missing/);
    expect(await refused(`${LINES[0]}\n{"a": ]}\n${LINES[1]}`, ['--torn'])).toMatch(/^line 2: /);
  });
});
