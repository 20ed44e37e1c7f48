/** Forty slips of the keyboard: each is told in one line, with what was probably meant, before anything starts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { freshFolder } from '../../support/torture.js';
import { mainHere } from '../../support/torture-here.js';

const folder = freshFolder();
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const plan = (fault: string, target = 'primary') =>
  file(
    `plan-${fault}-${target}.json`,
    JSON.stringify({ version: 1, seed: 1, steps: [{ atMs: 100, forMs: 500, fault, target }] }),
  );
const config = (name: string, settings: string) => ['--config', file(`${name}.mjs`, `export default {${settings}};`)];
const besideLock = file('my-lock.mjs', 'export default {}');

/** What was typed, and what was meant. */
const SLIPS: [typed: readonly string[], meant: string][] = [
  // Commands.
  [['hnut'], 'hunt'],
  [['repaly'], 'replay'],
  [['chekc', 'latest'], 'check'],
  [['campain', '--for', '1m'], 'campaign'],
  [['lsit'], 'list'],
  [['docter'], 'doctor'],
  [['senario', '--all'], 'scenario'],
  [['inti'], 'init'],
  // Flags.
  [['--topolgy', 'single'], '--topology'],
  [['--lokc', 'redlock'], '--lock'],
  [['--time-limt', '20s'], '--time-limit'],
  [['--nemsis', 'kill'], '--nemesis'],
  [['--seeds', '4'], '--seed'],
  [['--client', '4'], '--clients'],
  [['hunt', '--run', '100'], '--runs'],
  [['campaign', '--topology', 'single'], '--topologies'],
  [['check', '--jsno'], '--json'],
  // Topologies and services.
  [['--topology', 'sentinal'], 'sentinel'],
  [['--topology', 'clustre'], 'cluster'],
  [['--topology', 'redlok'], 'redlock'],
  [['--service', 'postgresql'], 'postgres'],
  [['--service', 'etdc'], 'etcd'],
  [['hunt', '--topology', 'Sentinel'], 'sentinel'],
  [['campaign', '--topologies', 'single,sentinle', '--for', '1m'], 'sentinel'],
  // Locks.
  [['--lock', 'redlok', '--topology', 'redlock'], 'redlock'],
  [['--lock', 'set-nx-xp'], 'set-nx-px'],
  [['--lock', 'go/redsinc'], 'go/redsync'],
  [['--lock', join(folder, 'my-lokc.mjs')], 'my-lock.mjs'],
  [['--lock', besideLock.replace(/\.mjs$/, '.ts')], 'my-lock.mjs'],
  // Faults and workloads.
  [['--nemesis', 'kil'], 'kill'],
  [['--nemesis', 'pause:clinet'], 'client'],
  [['--nemesis', 'partiton'], 'partition'],
  [['--plan', plan('puase')], 'pause'],
  [['--plan', plan('kill', 'primery')], 'primary'],
  [['hunt', '--faults', 'failovre'], 'failover'],
  [['--workload', 'semaphor'], 'semaphore'],
  [['scenario', 'pause-between-grant-and-writ'], 'pause-between-grant-and-write'],
  [['list', 'lokcs'], 'locks'],
  // Settings and values.
  [config('key', 'topolgy: "single"'), 'topology'],
  [config('name', 'topology: "sentinal"'), 'sentinel'],
  [config('number', 'lease: 2'), '2s'],
  [['--lease', '2'], '2s'],
  [['--hold', '0.5'], '0.5x'],
  [['--fail-on', 'exclusoin'], 'exclusion'],
  [['--persistence', 'aof'], 'aof-always'],
  [['--runtime', 'dokcer'], 'docker'],
  [['--server', 'valky@9'], 'valkey@9'],
];

afterEach(() => vi.unstubAllEnvs());

test('they are forty and more', () => expect(SLIPS.length).toBeGreaterThanOrEqual(40));

test.each(SLIPS)('%j', async (typed, meant) => {
  const { status, errors } = await mainHere(typed);
  const lines = errors.trim().split('\n');
  expect(lines.filter((line) => !line.startsWith('(--help'))).toHaveLength(1);
  expect(errors).toMatch(/did you mean |write |such as /i);
  expect(errors).toContain(meant);
  expect(status).toBe(3);
});

test('the name of a variable of the environment', async () => {
  vi.stubEnv('LOCK_TORTURE_TOPOLGY', 'single');
  const { status, errors } = await mainHere(['--time-limit', '1s']);
  expect(errors).toMatch(/^lock-torture: .*LOCK_TORTURE_TOPOLGY.*did you mean LOCK_TORTURE_TOPOLOGY\?/);
  expect(status).toBe(3);
});
