/** `check` of histories recorded elsewhere: what is taken for one, what is said of it, and with which status it ends. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { Command } from 'commander';
import { afterAll, afterEach, describe, expect, it, test, vi } from 'vitest';
import {
  addImportFlags,
  checkHistory,
  type ImportFlags,
  refuseImportFlags,
  whatToCheck,
} from '../../../../cli/judge/check-import.js';

const FIXTURES = join(import.meta.dirname, '../../../fixtures/histories');
const folder = mkdtempSync(join(tmpdir(), 'check-import-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

function flagsOf(...argv: string[]): ImportFlags {
  const command = addImportFlags(new Command().exitOverride().configureOutput({ writeErr: () => {} }));
  return command.parse(argv, { from: 'user' }).opts<ImportFlags>();
}

/** What is printed, and the exit status. */
async function check(fixture: string, ...argv: string[]): Promise<{ status: number; said: string }> {
  let said = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    said += text;
    return true;
  });
  const json = argv.includes('--json');
  const flags = flagsOf(...argv.filter((argument) => argument !== '--json'));
  const status = await checkHistory(resolve(FIXTURES, fixture), { ...flags, json, cwd: FIXTURES });
  vi.restoreAllMocks();
  return { status, said };
}

async function checkJson(fixture: string, ...argv: string[]) {
  const { status, said } = await check(fixture, '--json', ...argv);
  const result = JSON.parse(said);
  expect(result.exitStatus).toBe(status);
  const verdicts = result.readings.map((one: { reading: string; verdict: string }) => `${one.reading} ${one.verdict}`);
  return { status, result, verdicts };
}

describe('flags', () => {
  test.each([
    ['mutex', { kind: 'mutex' }],
    ['fenced', { kind: 'fenced' }],
    ['fair', { kind: 'fair' }],
    ['read-write', { kind: 'read-write' }],
    ['reentrant', { kind: 'reentrant', depth: Number.MAX_SAFE_INTEGER }],
    ['reentrant:2', { kind: 'reentrant', depth: 2 }],
    ['semaphore:3', { kind: 'semaphore', permits: 3 }],
  ])('--model %s', (text, model) => {
    expect(flagsOf('--model', text)).toEqual({ model });
  });

  test.each(['spinlock', 'semaphore', 'semaphore:0', 'semaphore:x', 'mutex:2', 'reentrant:2:3', 'reentrant:', ''])(
    '--model %s is none',
    (text) => {
      expect(() => flagsOf(`--model=${text}`)).toThrow(/is not a model; known: mutex, reentrant/);
    },
  );

  it('take only a reading that accuses, and a lease with its unit', () => {
    expect(flagsOf('--reading', 'lease', '--lease', '5s')).toEqual({ reading: 'lease', lease: 5000 });
    expect(() => flagsOf('--reading', 'tries-inform')).toThrow(/strict, failed-release-ends, lease/);
    expect(() => flagsOf('--lease', '5')).toThrow(/not a duration/);
  });

  it('are refused for a run of our own', () => {
    expect(() => refuseImportFlags({ lease: 5000 })).toThrow('--lease is for histories recorded elsewhere');
    expect(() => refuseImportFlags({ model: { kind: 'mutex' } })).toThrow('--model');
    expect(refuseImportFlags({})).toBeUndefined();
  });
});

describe('what is to be checked', () => {
  const base = join(folder, 'runs');
  const made = (name: string, ...files: string[]) => {
    mkdirSync(join(folder, name), { recursive: true });
    for (const one of files) writeFileSync(join(folder, name, one), '');
    return join(folder, name);
  };

  it('is a run, by its folder, its id or its history', () => {
    const run = made('runs/r1', 'config.json', 'history.jsonl');
    expect(whatToCheck(run, base, folder)).toEqual({ run });
    expect(whatToCheck('r1', base, folder)).toEqual({ run });
    expect(whatToCheck('runs/r1/history.jsonl', base, folder)).toEqual({ run });
  });

  it('is a history, by its file or its folder', () => {
    const store = made('store/latest', 'history.edn', 'results.edn', 'test.jepsen');
    expect(whatToCheck('store/latest', base, folder)).toEqual({ history: join(store, 'history.edn') });
    expect(whatToCheck('store/latest/history.edn', base, folder)).toEqual({ history: join(store, 'history.edn') });
    const lost = made('lost', 'history.jsonl');
    expect(whatToCheck('lost', base, folder)).toEqual({ history: join(lost, 'history.jsonl') });
    expect(whatToCheck(`${lost}/history.jsonl`, base, folder)).toEqual({ history: join(lost, 'history.jsonl') });
  });

  it('is nothing, and why', () => {
    made('binary', 'test.jepsen');
    expect(() => whatToCheck('binary', base, folder)).toThrow("a folder of Jepsen's without history.edn");
    expect(() => whatToCheck('nowhere.edn', base, folder)).toThrow(`there is no ${join(folder, 'nowhere.edn')}`);
    expect(() => whatToCheck('nowhere', base, folder)).toThrow('no run at nowhere');
  });
});

describe('the verdict of each fixture under each reading', () => {
  const cases: [fixture: string, flags: string[], status: number, verdicts: string[]][] = [
    ['mutex.edn', [], 0, ['strict valid', 'failed-release-ends valid']],
    ['overlap.edn', [], 1, ['strict invalid', 'failed-release-ends invalid']],
    ['failed-release.edn', [], 1, ['strict invalid', 'failed-release-ends valid']],
    ['failed-release.edn', ['--reading', 'failed-release-ends'], 0, ['strict invalid', 'failed-release-ends valid']],
    ['lease.edn', [], 1, ['strict invalid', 'failed-release-ends invalid']],
    [
      'lease.edn',
      ['--lease', '5s', '--reading', 'lease'],
      0,
      ['strict invalid', 'failed-release-ends invalid', 'lease valid'],
    ],
    [
      'lease.edn',
      ['--lease', '20s', '--reading', 'lease'],
      1,
      ['strict invalid', 'failed-release-ends invalid', 'lease invalid'],
    ],
    ['fenced-lock.edn', [], 1, ['strict invalid', 'failed-release-ends invalid']],
    ['fenced-lock.edn', ['--model', 'mutex'], 0, ['strict valid', 'failed-release-ends valid']],
    ['independent.edn', [], 0, ['strict valid', 'failed-release-ends valid']],
    ['reentrant.edn', ['--model', 'reentrant:2'], 0, ['strict valid', 'failed-release-ends valid']],
    ['reentrant.edn', ['--model', 'reentrant:1'], 1, ['strict invalid', 'failed-release-ends invalid']],
    ['reentrant.edn', [], 1, ['strict invalid', 'failed-release-ends invalid']],
    ['semaphore.json', ['--model', 'semaphore:2'], 0, ['strict valid', 'failed-release-ends valid']],
    ['semaphore.json', [], 1, ['strict invalid', 'failed-release-ends invalid']],
    ['workers.jsonl', [], 1, ['strict invalid', 'failed-release-ends invalid']],
    ['lone.edn', [], 2, ['strict valid', 'tries-inform valid', 'failed-release-ends valid']],
  ];
  test.each(cases)('%s %j: %i', async (fixture, argv, status, verdicts) => {
    const found = await checkJson(fixture, ...argv);
    expect(found.verdicts).toEqual(verdicts);
    expect(found.status).toBe(status);
  });
});

describe('whose hold a release ended is left open', () => {
  const judged = (...events: string[]) => {
    const file = join(folder, 'open.edn');
    const lines = events.map((one, at) => {
      const [, process, type, f] = /^(\d)(\w+) (\w+)$/.exec(one)!;
      return `{:process ${process} :type :${type} :f :${f} :time ${at}000000000 :index ${at}}`;
    });
    writeFileSync(file, lines.join('\n'));
    return check(file);
  };
  const granted = (process: number) => [`${process}invoke acquire`, `${process}ok acquire`];
  const released = (process: number) => [`${process}invoke release`, `${process}ok release`];

  it('where an acquire of unknown outcome may never have taken effect', async () => {
    const { status, said } = await judged(
      ...granted(0),
      ...['0invoke acquire', '0info acquire'],
      ...[...released(0), ...granted(1)],
    );
    expect(said).toMatch(/^VALID under the reading "strict" \(exit status 0/);
    expect(status).toBe(0);
  });

  it('and an overlap is found all the same', async () => {
    const { status, said } = await judged(
      ...granted(0),
      ...['0invoke acquire', '0info acquire'],
      ...[...released(0), ...granted(1), ...released(0)],
    );
    expect(status).toBe(1);
    expect(said).toContain("explains the answer to process 0's release at 9.000 s, whichever hold each release ended");
  });
});

describe('what is said', () => {
  it('of a finding: the proof, and the lines in the file', async () => {
    const { said } = await check('overlap.edn');
    const lines = said.split('\n');
    expect(lines[0]).toBe('INVALID under the reading "strict" (exit status 1: the history cannot be explained)');
    expect(lines[1]).toBe('overlap.edn: 2 acquires, 2 grants, 2 releases, by 2 clients on 1 key.');
    expect(lines[2]).toBe('Judged as a mutex (nothing says otherwise; --model does).');
    expect(lines).toContain('   line 1 (:index 0) to line 2 (:index 1): process 0 acquire, ok');
    expect(lines).toContain('   line 3 (:index 2) to line 4 (:index 3): process 3 acquire, ok');
    expect(said).toMatch(/\* {2}strict +invalid +1: 1 overlap/);
  });

  it('of the same as JSON', async () => {
    const { result } = await checkJson('overlap.edn');
    expect(result).toMatchObject({
      file: 'overlap.edn',
      format: 'edn',
      reading: 'strict',
      verdict: 'invalid',
      model: { kind: 'mutex' },
      operations: { acquires: 2, granted: 2, releases: 2, clients: 2, keys: 1 },
    });
    const [strict] = result.readings;
    expect(strict).toMatchObject({ found: 1, byKind: { overlap: 1 } });
    expect(strict.witnesses[0].operations[0]).toMatchObject({
      client: 'process 0',
      op: 'acquire',
      outcome: 'ok',
      invoke: { line: 1, index: 0 },
      completion: { line: 2, index: 1 },
    });
  });

  it('of a guess at the model', async () => {
    expect((await check('fenced-lock.edn')).said).toContain(
      'Judged as a fenced lock (its grants carry tokens; --model',
    );
    expect((await check('workers.jsonl')).said).toContain(
      'Judged as a read-write lock (its acquires say read or write;',
    );
  });

  it('of a history that shows nothing', async () => {
    const { said } = await check('lone.edn');
    expect(said).toMatch(/^UNKNOWN under the reading "strict" \(exit status 2: cannot tell\)\nBecause no key was ever/);
  });

  it('of what was left out', async () => {
    expect((await check('mutex.edn')).said).toContain('Note: left out: 2 events not by a client (:nemesis)');
  });

  it('of a run whose config.json is gone', async () => {
    const recorded = resolve(FIXTURES, '../recorded-runs/canary-blind-del.json.br');
    const { files } = JSON.parse(brotliDecompressSync(readFileSync(recorded)).toString());
    const file = join(folder, 'history.jsonl');
    writeFileSync(file, files['history.jsonl']);
    const note = "Note: the run's config.json is missing beside it: this file alone was judged";
    expect((await check(file)).said).toContain(note);
    expect((await check('mutex.edn')).said).not.toContain(note);
  });

  it('nothing that a terminal would act on', async () => {
    const file = join(folder, 'evil.jsonl');
    const acquire = (process: string) => ['invoke', 'ok'].map((type) => ({ type, f: 'acquire', process }));
    const events = [...acquire('a\u001b[2J\u009b31m'), ...acquire('b')];
    writeFileSync(file, events.map((one) => JSON.stringify(one)).join('\n'));
    const { said } = await check(file);
    expect(said).toContain('[2J');
    expect(['\u001b', '\u009b'].filter((character) => said.includes(character))).toEqual([]);
  });

  it('of a single client: nothing was shown', async () => {
    const file = join(folder, 'alone.edn');
    const section = ['acquire', 'release'].flatMap((f) =>
      ['invoke', 'ok'].map((type) => `{:process 0 :f :${f} :type :${type}}`),
    );
    writeFileSync(file, [...section, ...section].join('\n'));
    const { status, said } = await check(file);
    expect(status).toBe(2);
    expect(said).toContain('no key was ever granted to two clients');
  });
});

describe('what is not available', () => {
  it('a reading that the history has no facts for', async () => {
    await expect(check('lease.edn', '--reading', 'lease')).rejects.toThrow('tells no lease: say it with --lease');
    await expect(check('reentrant.edn', '--reading', 'lease', '--lease', '5s')).rejects.toThrow('has no times');
  });

  it('a verdict on a damaged file', async () => {
    await expect(check('damaged.edn')).rejects.toThrow(/damaged\.edn, line 2: what begins here never ends/);
  });
});
