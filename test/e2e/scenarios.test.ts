/** Scenarios as a user plays them: what goes as written, and that what is written could be found to be wrong. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Results } from '../../harness/api.js';
import { unexpected } from '../../harness/cli/scenario-command.js';
import { scenarios } from '../../scenarios/index.js';
import { freshFolder, torture } from './torture.js';

const QUICK = ['negative-expiry', 'only-one-holds', 'pause-between-grant-and-write', 'pause-between-get-and-del'];

describe('played', () => {
  test('by name: each goes as written, and its run says what was found', { timeout: 120_000 }, async () => {
    const out = freshFolder();
    const { status, output, errors } = await torture([...QUICK, '--json', '--out', out, '--jobs', '1'], {
      command: 'scenario',
    });
    expect({ status, errors: errors.includes('Error') }).toEqual({ status: 0, errors: false });
    const lines = output
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    const all = lines.map((line) => JSON.parse(line) as Record<string, string>);
    const rows = all.filter(({ type }) => type === 'run');
    expect(rows.map(({ scenario, went }) => [scenario, went])).toEqual(QUICK.map((name) => [name, 'as-written']));

    const table = readdirSync(out).find((name) => name.includes('-scenarios-'))!;
    expect(readFileSync(join(out, table, 'scenarios.md'), 'utf8')).toContain('4 of 4 went as written');
    for (const { run, scenario } of rows) {
      const results = JSON.parse(readFileSync(join(out, run!, 'results.json'), 'utf8')) as Results;
      const { expect: written } = scenarios[scenario!]!;
      expect(unexpected({ expect: written }, results)).toBeUndefined();
      // Had something else been written, it would have been found to be wrong.
      const wrong = written.length > 0 ? [] : [{ class: 'exclusion' as const }];
      expect(unexpected({ expect: wrong }, results)).toMatch(/was to/);
    }
  });
});

describe('asked for', () => {
  test('one that there is not: one line, exit status 3', async () => {
    const { status, errors } = await torture(['no-such-play'], { command: 'scenario' });
    expect(status).toBe(3);
    expect(errors).toContain('no scenario "no-such-play"; known: ');
    expect(errors).not.toContain('    at ');
  });

  test('--list: every claim, and what is true of it', async () => {
    const { status, output } = await torture(['--list'], { command: 'scenario' });
    expect(status).toBe(0);
    for (const { name, claim, truth } of Object.values(scenarios)) {
      expect(output).toContain(`${name}  (`);
      expect(output).toContain(`claim: ${claim}`);
      expect(output).toContain(`truth: ${truth}`);
    }
  });
});
