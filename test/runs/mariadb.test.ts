/** Locks on MariaDB: real servers, a primary that is replaced; locks that are broken, told from those that are not. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lacking } from '../support/needs-service.js';
import { torture } from '../support/torture.js';

const missing = await lacking('mariadb');
const FEW = ['--clients', '4', '--keys', '2'];

describe.runIf(missing === undefined)('MariaDB', () => {
  it('replaces a primary that is cut off and killed, and builds it anew', async () => {
    const { output, errors, results, folder } = await torture([
      ...['--service', 'mariadb', ...FEW, '--nemesis', 'failover', '--time-limit', '12s', '--seed', '3'],
    ]);
    const told = `${output}\n${errors}`;
    expect(output, told).toMatch(/mariadb ready after \d.*: 2 MariaDB nodes, MariaDB \d/);
    expect(output, told).toMatch(/ d2 replaced d1/);
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
      ...['--service', 'mariadb', '--topology', 'single', '--lock', 'mariadb-row-read-then-write', ...FEW],
      ...['--nemesis', 'none', '--time-limit', '6s', '--stop-at-first'],
    ]);
    expect(status, `${output}\n${errors}`).toBe(1);
    expect(results.violations.map((one) => one.cause.name)).toContain('overwritten');
  });

  it('catches GET_LOCK that is asked for on primary and replica, and not its twin', async () => {
    const flags = ['--service', 'mariadb', ...FEW, '--nemesis', 'none', '--time-limit', '6s', '--hold', '0.05x..0.2x'];
    const broken = await torture([...flags, '--lock', 'mariadb-get-lock-anywhere']);
    expect(broken.results.violations.map((one) => one.cause.name)).toContain('local-to-one-server');
    const sound = await torture([...flags, '--lock', 'mariadb-get-lock']);
    expect(sound.results.violations, `${sound.output}\n${sound.errors}`).toEqual([]);
  });
});
