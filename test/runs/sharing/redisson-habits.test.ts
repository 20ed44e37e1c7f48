/** What callers of Redisson meet, by version: in Java as they write it, on a server of its own. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { externalFolder } from '../../../harness/machine/external-project.js';
import { cacheFolder } from '../../../harness/machine/redis-binary.js';
import { externalLocks } from '../../../lock-impl/external/index.js';
import { skipWhere, withoutTool } from '../../support/needs.js';
import { startRedis } from '../../support/redis-server.js';

const { project, versions } = externalLocks['redisson/rlock']!;
const lacking = ['java', 'mvn'].flatMap((tool) => withoutTool(tool) ?? [])[0];
const folder = mkdtempSync(join(tmpdir(), 'lock-torture-habits-'));
afterAll(() => rmSync(folder, { recursive: true }));
/** As the program has it. */
const WATCHDOG_MS = 3_000;

describe.each([versions.byDefault!, ...versions.alsoPinned])('Redisson %s', { tags: ['night'] }, (version) => {
  const isOld = version.startsWith('3.');

  it('hides the error of the work, and renews', { timeout: 900_000, ...skipWhere(lacking) }, async () => {
    const takes = { library: versions.library, version };
    const built = await externalFolder(project, {
      cacheFolder: cacheFolder(),
      say: () => {},
      ...(version !== versions.byDefault && { takes }),
    });
    const classes = join(folder, version);
    const classPath = `${classes}:${join(built, 'lib')}/*`;
    const source = join(import.meta.dirname, '../../fixtures/redisson/Habits.java');
    const compiled = spawnSync('javac', ['-d', classes, '-cp', `${join(built, 'lib')}/*`, source], {
      encoding: 'utf8',
    });
    expect(compiled.status, compiled.stderr).toBe(0);

    await using server = await startRedis();
    const program = spawn('java', ['-cp', classPath, 'Habits', `redis://127.0.0.1:${server.endpoint.port}`], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const said: string[] = [];
    for await (const line of createInterface({ input: program.stdout })) {
      said.push(line);
      if (line === 'held') break;
    }
    const hidden = 'IllegalMonitorStateException cause null suppressed 0';
    const told = said.filter((line) => /^(default|caught|tried|held)/.test(line));
    expect(told).toEqual(['default 30000', `caught ${hidden}`, `tried ${hidden}`, 'held']);

    const renewals = async () =>
      Number(/cmdstat_pexpire:calls=(\d+)/.exec(await server.redis.info('commandstats'))?.[1]);
    const before = await renewals();
    await new Promise((resolve) => setTimeout(resolve, WATCHDOG_MS));
    const renewed = (await renewals()) - before;
    // Three in a time-out. 4.7.0 renews more often: timers of locks that were given back just before go on.
    if (isOld) expect(renewed).toBeLessThanOrEqual(4);
    else expect(renewed).toBeGreaterThanOrEqual(2);
    program.stdin.end();
    program.kill();
    await once(program, 'exit');
  });
});
