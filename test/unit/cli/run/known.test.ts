/** Which known findings are about a run's lock, and what is said of a folder that cannot be used. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UsageError } from '../../../../cli/common/errors.js';
import { type KnownFinding, knownOf, writeKnown } from '../../../../cli/run/known.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lock-torture-known-test-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const finding = (lock: string, cause: string, topology = 'single'): KnownFinding => ({
  ...{ version: 1, lock, topology, fingerprint: `lock/exclusion/overlap/${cause}`, sentence: 'how' },
  ...{ argv: ['--lock', lock], seed: 1, faults: 1 },
});
const keep = (...findings: KnownFinding[]) => {
  for (const one of findings) writeKnown(join(root, 'known'), one);
};
const known = (lock: string, from = '.', knownOk = false, folder = join(root, 'known')) =>
  knownOf({ known: folder, knownOk }, { lock, topology: 'single', cwd: join(root, from) });

test('what is about the same lock on the same topology, whether it fails or not', () => {
  keep(finding('mine', 'a'), finding('mine', 'b'), finding('mine', 'c', 'sentinel'), finding('other', 'd'));
  const fingerprints = ['lock/exclusion/overlap/a', 'lock/exclusion/overlap/b'];
  expect(known('mine')).toEqual({ fingerprints: expect.arrayContaining(fingerprints), allowed: false });
  expect(known('mine')!.fingerprints).toHaveLength(2);
  expect(known('mine', '.', true)!.allowed).toBe(true);
  expect(known('nobody')).toBeUndefined();
});

test('a file is the same from wherever one stands, and no other of its name is', () => {
  keep(finding('./src/lock.ts', 'a'));
  mkdirSync(join(root, 'src/deeper'), { recursive: true });
  for (const [lock, from] of [
    ['./src/lock.ts', '.'],
    [join(root, 'src/lock.ts'), 'src/deeper'],
    ['../lock.ts', 'src/deeper'],
  ] as const)
    expect(known(lock, from)).toMatchObject({ fingerprints: ['lock/exclusion/overlap/a'] });
  expect(known('./lock.ts', '.')).toBeUndefined();
  expect(known(join(root, 'elsewhere/src/lock.ts'), '.')).toBeUndefined();
});

test('one line says what is wrong', () => {
  expect(() => known('mine')).toThrow(UsageError);
  expect(() => known('mine')).toThrow(/^--known .*\/known: there is no such folder$/);
  expect(() => knownOf({ knownOk: true }, { lock: 'mine', topology: 'single', cwd: root })).toThrow(
    /^--known-ok: nothing is known without --known <folder>$/,
  );
  mkdirSync(join(root, 'known'));
  writeFileSync(join(root, 'known/a.json'), '{"version":1}');
  expect(() => known('mine')).toThrow(/known\/a\.json: lock: missing, expected a string/);
  writeFileSync(join(root, 'known/a.json'), 'x');
  expect(() => known('mine')).toThrow(/known\/a\.json/);
  writeFileSync(join(root, 'known/a.json'), JSON.stringify({ ...finding('mine', 'a'), argv: ['--nonsense'] }));
  expect(() => known('mine')).toThrow(/known\/a\.json: argv: .*--nonsense/);
});

test('what was found in virtual time has its schedule beside it, and nowhere else', () => {
  const one = { ...finding('mine', 'a'), argv: ['--lock', 'mine', '--faults', 'pause'], replay: 'its-schedule' };
  keep(one);
  expect(() => known('mine')).toThrow(/its schedule is not beside it: there is no its-schedule\/finding\.json$/);
  mkdirSync(join(root, 'known/its-schedule'));
  writeFileSync(join(root, 'known/its-schedule/finding.json'), '{}');
  expect(known('mine')!.fingerprints).toEqual([one.fingerprint]);
  keep({ ...one, replay: '../its-schedule' });
  expect(() => known('mine')).toThrow(/replay/);
});
