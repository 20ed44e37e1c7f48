/** Locks on PostgreSQL: real servers, a primary that is replaced; locks that are broken, told from those that are not. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lacking } from '../support/needs-service.js';
import { torture } from '../support/torture.js';

const missing = await lacking('postgres');
const FEW = ['--clients', '4', '--keys', '2'];

describe.runIf(missing === undefined)('PostgreSQL', () => {
  it('replaces a primary that is cut off and killed, and builds it anew', async () => {
    const { output, errors, results, folder } = await torture([
      ...['--service', 'postgres', ...FEW, '--nemesis', 'failover', '--time-limit', '12s', '--seed', '3'],
    ]);
    const told = `${output}\n${errors}`;
    expect(output, told).toMatch(/postgres ready after \d.*: 2 PostgreSQL nodes, PostgreSQL \d/);
    expect(output, told).toMatch(/ p2 replaced p1/);
    expect(output, told).toMatch(/healed and recovered/);
    // What a failover loses is not the lock's mistake.
    for (const { class: name, blame } of results.violations)
      if (name === 'exclusion') expect(blame?.on, told).not.toBe('lock');
    const { password } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')).topologyOptions;
    const shown = readdirSync(folder)
      .filter((name) => /\.(html|xml|md|jsonl)$|results/.test(name))
      .filter((name) => readFileSync(join(folder, name), 'utf8').includes(password));
    expect(shown, 'the password stands there').toEqual([]);
  });

  it('catches a lock that reads and then writes, with its cause', async () => {
    const { output, errors, status, results } = await torture([
      ...['--service', 'postgres', '--topology', 'single', '--lock', 'pg-row-read-then-write', ...FEW],
      ...['--nemesis', 'none', '--time-limit', '6s', '--stop-at-first'],
    ]);
    expect(status, `${output}\n${errors}`).toBe(1);
    expect(results.violations.map((one) => one.cause.name)).toContain('overwritten');
  });

  it('catches an advisory lock that is asked for on primary and replica, and not its twin', async () => {
    const flags = ['--service', 'postgres', ...FEW, '--nemesis', 'none', '--time-limit', '6s', '--hold', '0.05x..0.2x'];
    const broken = await torture([...flags, '--lock', 'pg-advisory-anywhere']);
    expect(broken.results.violations.map((one) => one.cause.name)).toContain('local-to-one-server');
    const sound = await torture([...flags, '--lock', 'pg-advisory']);
    expect(sound.results.violations, `${sound.output}\n${sound.errors}`).toEqual([]);
  });

  it.each([
    [['--nemesis', 'reload'], /reload is not possible here: it is for Redis and Valkey only/],
    [
      ['--topology', 'quorum'],
      /--service postgres has the topologies primary-replica, primary-replica-sync and single/,
    ],
    [['--topology', 'single', '--nemesis', 'failover'], /failover makes no sense here/],
    [['--runtime', 'docker'], /PostgreSQL runs in the netns runtime only/],
  ])('refuses %j in one line', async (flags, line) => {
    const { status, errors } = await torture(['--service', 'postgres', ...flags]);
    expect([status, errors.trim().split('\n').length], errors).toEqual([3, 1]);
    expect(errors).toMatch(line);
  });
});
