/** `selftest` as its users run it, on some of its locks. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshFolder, historyOf, start, until } from '../../support/torture.js';

async function selftest(...args: string[]) {
  const out = freshFolder();
  const run = start(['--out', out, ...args], { command: 'selftest' });
  const { code } = await run.ended;
  return { code, output: run.output(), errors: run.errors() };
}

test('catches canaries by the checkers that are named for them, accuses no twin, and writes it down', async () => {
  const { code, output, errors } = await selftest(
    '--quick',
    '--only',
    'negative-expiry,swapped-arguments,fence-per-client',
  );
  expect(code, output + errors).toBe(0);
  expect(output).toMatch(/broken\/negative-expiry +caught +after [\d.]+ s, by mutual-exclusion: exclusion/);
  expect(output).toMatch(/broken\/swapped-arguments +caught +after [\d.]+ s, by liveness: liveness \(deadlock\)/);
  expect(output).toMatch(/broken\/fence-per-client +caught +after [\d.]+ s, by fencing: harm/);
  expect(output).toMatch(/^AS EXPECTED \(exit status 0\): 3 of 3 canaries caught, 0 of 3 sound runs accused/m);
  const path = /^Table: (.+)$/m.exec(output)![1]!;
  expect(readFileSync(path, 'utf8')).toContain('<h1>AS EXPECTED ');
  const table = readFileSync(path.replace(/html$/, 'md'), 'utf8');
  expect(table).toContain('| broken/negative-expiry-mended | not accused |');
  const summary = JSON.parse(readFileSync(join(path, '..', 'selftest.json'), 'utf8'));
  expect(summary).toMatchObject({ exitStatus: 0 });
  expect(summary.rows).toHaveLength(6);
});

test('a run that Ctrl-C cuts short has not passed: it was not made', async () => {
  const out = freshFolder();
  const run = start(['--quick', '--only', 'broken/part-kept-mended', '--jobs', '1', '--out', out], {
    command: 'selftest',
  });
  const begun = () => historyOf({ ...run, out }).some((event) => event.type === 'phase' && event.phase === 'torture');
  await until('the first run', begun, 100_000);
  run.child.kill('SIGINT');
  const { code } = await run.ended;
  expect(run.output()).toMatch(/0 of 0 canaries caught, 0 of 0 sound runs accused, .*1 were not made/);
  expect(code).toBe(2);
});

test('a name that it does not know: one clear line, exit status 3', async () => {
  const { code, errors } = await selftest('--only', 'unknown-lock');
  expect(code).toBe(3);
  expect(errors.trim().split('\n')).toHaveLength(1);
  expect(errors).toMatch(/no lock of the self-test is called "unknown-lock"; 'list locks' shows all that there are/);
});
