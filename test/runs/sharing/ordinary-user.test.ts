/**
 * The commands of the README as a user without any privilege, from a fresh clone, and the packages in a project of theirs; what
 * faults do in that clone; and what such a user is told where the kernel gives them no namespaces. All of it needs root, to become
 * somebody else; without root every other test here is run by an ordinary user anyway.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readHistory } from '../../../harness/record/history.js';
import { ended } from '../../support/ended.js';
import { namedServerHere } from '../../support/named-server.js';
import { commandsOf } from '../../support/readme-commands.mjs';
import { repositoryHere } from '../../support/repository.js';
import { ROOT, until } from '../../support/torture.js';

/** Unassigned: no machine gives it to a user. */
const UID = 54_321;
/** Of the README's commands. */
const SLOW = [
  'npm run torture -- campaign --for 1m --locks ./my-lock.ts --topologies single,sentinel',
  'npm run torture -- selftest --quick',
  'npm test',
];

let home: string;
/** The clone, and a project of the user's own. */
let found: string;
let project: string;

describe('an ordinary user', { tags: ['root'] }, () => {
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'lock-torture-user-'));
    chmodSync(home, 0o755);
    found = join(home, 'found');
    project = join(found, 'lock-torture');
    // How packages are fetched on this machine is a setting of the machine, not of the user.
    const npmrc = join(homedir(), '.npmrc');
    if (existsSync(npmrc)) cpSync(npmrc, join(home, '.npmrc'));
    // Where the user may read it, whoever owns the folder of the tests.
    for (const name of ['newcomer.mjs', 'readme-commands.mjs'])
      cpSync(join(ROOT, 'test/support', name), join(home, name));
    execFileSync('chown', ['-R', `${UID}:${UID}`, home]);
  });

  afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

  it('gets what the README promises: each of its commands in a fresh clone, and then the lock in a project of their own', async () => {
    using repository = repositoryHere();
    const play = ['--from', repository.path, '--in', found];
    const { status, output } = await asUser(['node', join(home, 'newcomer.mjs'), ...play], home);
    // How long each step took.
    process.stderr.write(output.replace(/^\{.*$/m, ''));
    expect(status, output).toBe(0);
    const { steps, notRun }: Played = JSON.parse(output.trim().split('\n').at(-1)!);
    const readme = commandsOf(readFileSync(join(ROOT, 'README.md'), 'utf8')).map(({ command }) => command);
    const played = [...steps.filter(({ part }) => part === 'readme'), ...notRun].map(({ command }) => command);
    expect(played.sort()).toEqual(readme.sort());
    // What takes more than two minutes is the nightly's.
    expect(notRun.map(({ command }) => command)).toEqual(SLOW);
    expect(steps.filter(({ part }) => part === 'project')).toHaveLength(3);
    // Packages are installed, and everything is compiled: it takes minutes where others do the same at the same time.
  }, 1_200_000);

  describe('in that clone', () => {
    // Where the test above is not run.
    beforeAll(() => {
      if (existsSync(project)) return;
      using repository = repositoryHere();
      execFileSync('git', ['clone', '--quiet', repository.path, project]);
      execFileSync('chown', ['-R', `${UID}:${UID}`, found]);
    });

    const OF_A_BAD_DAY = 'on %s the faults of a bad day strike and are healed';
    it.each(['single', 'sentinel'] as const)(OF_A_BAD_DAY, strike, 240_000);
    it.each(['cluster', 'replica'] as const)(OF_A_BAD_DAY, { tags: ['night'], timeout: 240_000 }, strike);

    async function strike(topology: keyof typeof PLANNED): Promise<void> {
      const steps = PLANNED[topology];
      const file = join(home, `${topology}.json`);
      writeFileSync(file, JSON.stringify({ version: 1, seed: 1, steps }));
      // The warm-up is part of it.
      const limit = `${Math.max(...steps.map(({ atMs, forMs }) => atMs + forMs)) + 4_000}ms`;
      const flags = ['--topology', topology, '--plan', file, '--time-limit', limit, '--persistence', 'aof-everysec'];
      const server = valkey && ['cluster', 'sentinel'].includes(topology) ? ['--server', 'valkey@9'] : [];
      const run = await asUser(['node', 'bin/torture.mjs', '--runtime', 'netns', ...flags, ...server]);
      expect([0, 1, 2], run.output + run.errors).toContain(run.status);
      const names = [...new Set(steps.map(({ fault }) => fault))].sort();
      expect(await faultsOf(join(project, 'runs/latest')), run.output).toEqual({
        struck: names,
        healed: names,
        failed: [],
        refused: [],
        missing: [],
      });
    }

    it('gets one line, with the remedies, where the kernel forbids user namespaces', async () => {
      const { status, errors } = await withoutNamespaces([
        'node',
        'bin/torture.mjs',
        '--runtime',
        'netns',
        '--time-limit',
        '3s',
      ]);
      expect(status).toBe(3);
      const lines = errors
        .trim()
        .split('\n')
        // Set-up, and the dots that show that it goes on.
        .filter((line) => !line.endsWith('(first run)…') && !/^\.[.\d]*$/.test(line));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/^lock-torture: the netns runtime is not available: "unshare --user .* fails: /);
      expect(lines[0]).toContain('sysctl -w user.max_user_namespaces=');
      expect(lines[0]).toContain('sudo');
      expect(lines[0]).toContain('docker run --privileged');
    }, 120_000);

    it('has the same run in virtual time there, where no runtime is asked for', async () => {
      const { status, output } = await withoutNamespaces(['node', 'bin/torture.mjs', '--topology', 'sentinel']);
      expect(output).toMatch(/in virtual time: this machine allows no network namespaces/);
      expect(output).toMatch(/^VIOLATED/m);
      expect(status, output).toBe(1);
    }, 240_000);
  });
});

/** What newcomer.mjs says at its end. */
interface Played {
  steps: { part: 'readme' | 'project'; command: string }[];
  notRun: { command: string }[];
}

interface Step {
  atMs: number;
  fault: string;
  target: string | { names: string[] };
  forMs: number;
  args?: Record<string, number | string>;
}

const names = (...who: string[]) => ({ names: who });
/** Its servers move slots by themselves, and hand over where Sentinel asks them to; the user's own copy fetches them again. */
const valkey = (await namedServerHere('valkey@9')) !== undefined;
const AT_SENTINEL = { fault: 'sentinel-failover', target: 'primary' };
/** Links that degrade, each beside the others, and below them what overlaps with them; planned failovers wait until all is whole. */
const PLANNED = {
  single: [
    { atMs: 200, fault: 'delay', target: names('c1'), forMs: 7_000, args: { delayMs: 20, jitterMs: 5 } },
    { atMs: 300, fault: 'loss', target: names('c1', 'c2'), forMs: 6_000, args: { lossPpm: 100_000 } },
    { atMs: 400, fault: 'rate', target: names('c3'), forMs: 6_000, args: { rateKbps: 20 } },
    { atMs: 500, fault: 'duplicate', target: names('r1'), forMs: 6_000 },
    { atMs: 600, fault: 'reorder', target: names('r1'), forMs: 6_000 },
    { atMs: 1_500, fault: 'reset', target: 'primary', forMs: 1_000 },
    { atMs: 3_000, fault: 'reset-on-reply', target: 'client', forMs: 3_000 },
    { atMs: 7_500, fault: 'power-cut', target: 'primary', forMs: 300, args: { mode: 'zeros' } },
    { atMs: 9_500, fault: 'power-cut', target: 'primary', forMs: 300, args: { mode: 'torn' } },
  ],
  cluster: [
    { atMs: 200, fault: 'delay', target: names('c1'), forMs: 9_000, args: { delayMs: 20 } },
    { atMs: 300, fault: 'move-slot', target: 'primary', forMs: 2_000, args: { until: 'migrating' } },
    // In force while a primary is replaced.
    ...(valkey ? [{ atMs: 3_000, fault: 'migrate-slots', target: 'primary', forMs: 4_500 }] : []),
    { atMs: 4_000, fault: 'cluster-failover', target: 'primary', forMs: 2_000 },
    { atMs: 8_000, fault: 'power-cut', target: 'replica', forMs: 500 },
  ],
  replica: [{ atMs: 300, fault: 'failover-to', target: 'primary', forMs: 4_000 }],
  sentinel: [
    { atMs: 300, fault: 'power-cut', target: names('s3'), forMs: 500 },
    ...(valkey ? [{ ...AT_SENTINEL, atMs: 2_500, forMs: 6_000, args: { how: 'coordinated' } }] : []),
    { ...AT_SENTINEL, atMs: 9_500, forMs: 16_000 },
  ],
} satisfies Record<string, readonly Step[]>;
async function faultsOf(folder: string) {
  const { rare } = await readHistory(join(folder, 'history.jsonl'));
  const records = rare.filter((event) => event.type === 'fault');
  const named = (wanted: string) =>
    [...new Set(records.filter(({ state }) => state === wanted).map(({ fault }) => fault))].sort();
  const why = (wanted: string) =>
    records.filter(({ state }) => state === wanted).map(({ fault, proof }) => `${fault}: ${proof}`);
  const missing = rare.flatMap((event) => (event.type === 'recovered' ? event.missing : []));
  return { struck: named('strike'), healed: named('heal'), failed: why('failed'), refused: why('refused'), missing };
}

const asOrdinaryUser = ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups', '--no-new-privs', '--'];

/** Nothing of root's environment: no npm variables, no CI, another home. */
const environment = () => ({ PATH: process.env.PATH!, HOME: home, LANG: 'C.UTF-8' });

function asUser(argv: readonly string[], cwd = project) {
  return ended(spawn(asOrdinaryUser[0]!, [...asOrdinaryUser.slice(1), ...argv], { cwd, env: environment() }));
}

/** In a user namespace whose own limit of further ones is 0, as on a machine that forbids them; the machine keeps its own. */
async function withoutNamespaces(argv: readonly string[]) {
  const holder = spawn('unshare', ['--user', '--', 'sleep', 'infinity']);
  try {
    const own = readlinkSync('/proc/self/ns/user');
    await until('a user namespace', () => readlinkSync(`/proc/${holder.pid}/ns/user`) !== own);
    for (const map of ['uid_map', 'gid_map']) writeFileSync(`/proc/${holder.pid}/${map}`, '0 0 65536\n');
    const inside = ['--target', String(holder.pid), '--user', '--setuid=0', '--setgid=0', '--'];
    const script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"';
    const all = [...inside, 'sh', '-c', script, 'sh', ...asOrdinaryUser, ...argv];
    return await ended(spawn('nsenter', all, { cwd: project, env: environment() }));
  } finally {
    holder.kill('SIGKILL');
  }
}
