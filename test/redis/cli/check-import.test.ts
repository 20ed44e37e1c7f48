/** `check` of histories that others recorded, as a user types it. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freshFolder, ROOT, torture } from '../../support/torture.js';

const HISTORIES = join(ROOT, 'test/fixtures/histories');

function check(...args: string[]) {
  return torture(args, { command: 'check', cwd: HISTORIES });
}

describe('a history from Jepsen', () => {
  test('that can be explained: exit status 0', async () => {
    const { status, output } = await check('mutex.edn');
    expect(status).toBe(0);
    expect(output).toContain('VALID under the reading "strict"');
  });

  test('that cannot: exit status 1, with the proof and the lines', async () => {
    const { status, output } = await check('overlap.edn');
    expect(status).toBe(1);
    expect(output).toContain('both at once for at least 812 ms');
    expect(output).toContain('line 3 (:index 2) to line 4 (:index 3): process 3 acquire, ok');
  });

  test('whose verdict flips with the reading', async () => {
    const [strict, lenient] = await Promise.all([
      check('failed-release.edn', '--json'),
      check('failed-release.edn', '--json', '--reading', 'failed-release-ends'),
    ]);
    expect([strict.status, lenient.status]).toEqual([1, 0]);
    const verdicts = JSON.parse(strict.output).readings.map((one: { verdict: string }) => one.verdict);
    expect(verdicts).toEqual(['invalid', 'valid']);
  });

  test('in its folder, by the name that Jepsen gives the latest', async () => {
    const store = freshFolder();
    mkdirSync(join(store, 'run'));
    symlinkSync(join(HISTORIES, 'mutex.edn'), join(store, 'run/history.edn'));
    symlinkSync('run', join(store, 'latest'));
    expect((await check(join(store, 'latest'))).status).toBe(0);
  });
});

test('a history as JSON, of a read-write lock', async () => {
  const { status, output } = await check('workers.jsonl');
  expect(status).toBe(1);
  expect(output).toContain('worker-b');
});

describe('what cannot be judged is one line and exit status 3', () => {
  const binary = join(freshFolder(), 'history.edn');
  writeFileSync(binary, Buffer.from([0, 159, 146, 150, 10, 0]));

  test.each([
    ['a damaged file', ['damaged.edn'], /damaged\.edn, line 2: what begins here never ends$/],
    ['a file of something else', [binary], /history\.edn, line 1: /],
    ['no file', ['nowhere.edn'], /there is no .*nowhere\.edn$/],
    ['an unknown model', ['mutex.edn', '--model', 'spinlock'], /"spinlock" is not a model; known: mutex/],
    ['a reading without its facts', ['lease.edn', '--reading', 'lease'], /say it with --lease$/],
  ])('%s', async (_, args, says) => {
    const { status, output, errors } = await check(...args);
    expect({ status, output }).toEqual({ status: 3, output: '' });
    const [line, ...more] = errors.trim().split('\n');
    expect(line).toMatch(says);
    expect(more.filter((one) => !one.includes('--help'))).toEqual([]);
  });
});
