/** What is asked of locks on a database, whichever it is: real servers, a primary that is replaced, broken locks told from others. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { torture } from './torture.js';

const FEW = ['--clients', '4', '--keys', '2'];
/** On a busy machine it may take its time. */
const UNTIL_FOUND = ['--time-limit', '60s', '--stop-at-first'];

interface Database {
  service: string;
  /** As runs call it. */
  title: string;
  /** What its nodes are called, before their numbers. */
  nodes: string;
  /** The canary that reads a row and then writes it. */
  readThenWrite: string;
  /** A lock of a session, and the canary that asks for it on primary and replica. */
  session: string;
  anywhere: string;
}

export function runsOnDatabase({ service, title, nodes, readThenWrite, session, anywhere }: Database): void {
  it('replaces a primary that is cut off and killed, and builds it anew', async () => {
    const { output, errors, results, folder } = await torture([
      ...['--service', service, ...FEW, '--nemesis', 'failover', '--time-limit', '12s', '--seed', '3'],
    ]);
    const told = `${output}\n${errors}`;
    expect(output, told).toMatch(new RegExp(`${service} ready after \\d.*: 2 ${title} nodes, ${title} \\d`));
    expect(output, told).toContain(` ${nodes}2 replaced ${nodes}1`);
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
      ...['--service', service, '--topology', 'single', '--lock', readThenWrite, ...FEW],
      ...['--nemesis', 'none', ...UNTIL_FOUND],
    ]);
    expect(status, `${output}\n${errors}`).toBe(1);
    expect(results.violations.map((one) => one.cause.name)).toContain('overwritten');
  });

  it("catches a session's lock that is asked for on primary and replica, and not its twin", async () => {
    const flags = ['--service', service, ...FEW, '--nemesis', 'none', '--hold', '0.05x..0.2x'];
    const broken = await torture([...flags, '--lock', anywhere, ...UNTIL_FOUND]);
    expect(broken.results.violations.map((one) => one.cause.name)).toContain('local-to-one-server');
    const sound = await torture([...flags, '--lock', session, '--time-limit', '6s']);
    expect(sound.results.violations, `${sound.output}\n${sound.errors}`).toEqual([]);
  });
}
