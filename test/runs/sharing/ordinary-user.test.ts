/**
 * The commands of the README as a user without any privilege, from a copy of the project that has never been set up; and
 * what such a user is told where the kernel gives them no namespaces. Both need root, to become somebody else; without
 * root every other test here is run by an ordinary user anyway.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readHistory } from '../../../harness/record/history.js';
import { ended } from '../../support/ended.js';
import { ROOT, until } from '../../support/torture.js';

/** Unassigned: no machine gives it to a user. */
const UID = 54_321;
const NOT_COPIED = new Set(['node_modules', 'dist', 'runs', '.git']);
const isRoot = process.geteuid?.() === 0;

let home: string;
let project: string;

describe.skipIf(!isRoot)('an ordinary user', () => {
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'lock-torture-user-'));
    chmodSync(home, 0o755);
    project = join(home, 'lock-torture');
    cpSync(ROOT, project, { recursive: true, filter: (path) => !NOT_COPIED.has(relative(ROOT, path)) });
    // How packages are fetched on this machine is a setting of the machine, not of the user.
    const npmrc = join(homedir(), '.npmrc');
    if (existsSync(npmrc)) cpSync(npmrc, join(home, '.npmrc'));
    execFileSync('chown', ['-R', `${UID}:${UID}`, home]);
  });

  afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

  it('tortures sentinel and redlock with every kind of fault, from a fresh copy, without root', async () => {
    const sentinel = await asUser(['npm', 'run', 'torture', '--', '--topology', 'sentinel', ...short(FAULTS)]);
    expect(sentinel.output).toContain('sentinel ready');
    expect([0, 1, 2], sentinel.output).toContain(sentinel.status);
    expect(await faultsOf(join(project, 'runs/latest'))).toEqual({ struck: FAULTS.map(nameOf).sort(), failed: [] });

    const redlock = await asUser(['npm', 'run', 'torture', '--', '--topology', 'redlock', ...short([])]);
    expect(redlock.output).toContain('The lock held');
    expect(redlock.status, redlock.output).toBe(0);
    expect(redlock.output).not.toContain('installing packages');
  }, 240_000);

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
      .filter((line) => !line.endsWith('(first run)…'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^lock-torture: the netns runtime is not available: "unshare --user .* fails: /);
    expect(lines[0]).toContain('sysctl -w user.max_user_namespaces=');
    expect(lines[0]).toContain('sudo');
    expect(lines[0]).toContain('docker run --privileged');
  }, 120_000);
});

const FAULTS = ['partition:one', 'pause:client', 'kill:replica', 'clock:replica', 'power-cut:replica'];
const nameOf = (fault: string) => fault.split(':')[0]!;
const short = (faults: readonly string[]) => [
  '--runtime',
  'netns',
  ...(faults.length > 0
    ? ['--time-limit', '17s', '--lease', '2s', '--nemesis', faults.join(',')]
    : ['--time-limit', '4s', '--nemesis', 'none']),
];

async function faultsOf(folder: string): Promise<{ struck: string[]; failed: string[] }> {
  const { rare } = await readHistory(join(folder, 'history.jsonl'));
  const records = rare.filter((event) => event.type === 'fault');
  const struck = records.filter(({ state }) => state === 'strike').map(({ fault }) => fault);
  const failed = records.filter(({ state }) => state === 'failed').map(({ fault, proof }) => `${fault}: ${proof}`);
  return { struck: [...new Set(struck)].sort(), failed };
}

const asOrdinaryUser = ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups', '--no-new-privs', '--'];

/** Nothing of root's environment: no npm variables, no CI, another home. */
const environment = () => ({ PATH: process.env.PATH!, HOME: home, LANG: 'C.UTF-8' });

function asUser(argv: readonly string[]) {
  return ended(spawn(asOrdinaryUser[0]!, [...asOrdinaryUser.slice(1), ...argv], { cwd: project, env: environment() }));
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
