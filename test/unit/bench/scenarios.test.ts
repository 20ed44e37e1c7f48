/** Which scenarios are played on which servers where nothing is said. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SERVERS, scenarioFlags } from '../../../bench/scenarios.js';
import { serverName } from '../../../harness/machine/named-server.js';

const ROOT = join(import.meta.dirname, '../../..');

it('plays all of them on every server, with the flags of scenario', () => {
  expect(scenarioFlags([])).toMatchObject({ all: true, servers: SERVERS.join(',') });
  expect(scenarioFlags(['--servers', 'redis@7.0', '--jobs', '1'])).toMatchObject({
    all: true,
    servers: 'redis@7.0',
    jobs: 1,
  });
});

it.each(SERVERS)('%s is a name that a server can be had by', (name) => {
  expect(serverName(name)).toBeDefined();
});

it.each(['docs/running.md', 'docs/scenarios.md'])('%s names the same servers', (page) => {
  expect(readFileSync(join(ROOT, page), 'utf8')).toContain(`scenario --all --servers ${SERVERS.join(',')}`);
});
