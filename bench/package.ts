/**
 * `npm run bench -- package`: what the packed tool costs a project that installs it (bytes, packages, time), and how long somebody in
 * an empty folder waits for a first verdict, the download of Redis included. Times are of a warm npm cache; beside them stands
 * how long the same machine takes for another package that everybody knows, for absolute numbers of a busy machine mean little.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Option } from 'commander';
import { wholeNumberIn } from '../cli/common/values.js';
import { benchCommand } from './command.js';
import { print } from './print.js';

const PACK = fileURLToPath(new URL('../../packages/pack.mjs', import.meta.url));
const QUIET = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
const BESIDE = 'vitest@4';

/** Prints a line for each figure. */
export async function benchPackage(argv: string[]): Promise<void> {
  const command = benchCommand('package')
    .addOption(new Option('--times <n>', 'installations of each').argParser(wholeNumberIn(1, 100)).default(3))
    .option('--no-run', 'no first run: needs a network and 20 s of torture');
  command.parse(argv, { from: 'user' });
  const { times, run } = command.opts<{ times: number; run: boolean }>();
  const home = mkdtempSync(join(tmpdir(), 'lock-torture-bench-'));
  try {
    print(`load ${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} cores, node ${process.version}`);
    const tarballs: string[] = JSON.parse(execFileSync(process.execPath, [PACK, home, '--json'], { encoding: 'utf8' }));
    for (const name of tarballs) print(`${name.padEnd(36)} ${kB(statSync(join(home, name)).size)} packed`);
    const specs = tarballs.map((name) => join(home, name));
    measureInstalled(install(home, 'warm', specs).folder);
    install(home, 'warm-beside', [BESIDE]);
    const [own, beside] = [[], []] as [number[], number[]];
    // In turn, so that what else the machine does meanwhile meets both.
    for (let n = 0; n < times; n++) {
      own.push(install(home, `own-${n}`, specs).seconds);
      beside.push(install(home, `beside-${n}`, [BESIDE]).seconds);
    }
    const [ours_s, theirs_s] = [median(own), median(beside)];
    print(
      `npm install: ${seconds(ours_s)} median of ${times}, ${(ours_s / theirs_s).toFixed(2)} of ${BESIDE}'s ${seconds(theirs_s)}`,
    );
    if (run) await firstVerdict(home, specs);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

function install(home: string, name: string, specs: readonly string[]): { folder: string; seconds: number } {
  const folder = join(home, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{}');
  const beganMs = performance.now();
  execFileSync('npm', ['install', ...specs, ...QUIET], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  return { folder, seconds: (performance.now() - beganMs) / 1_000 };
}

/** How many packages it brings, and what they weigh, the heaviest first. */
function measureInstalled(folder: string): void {
  const modules = join(folder, 'node_modules');
  const lock = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'));
  const paths = Object.keys(lock.packages);
  const { dependencies } = JSON.parse(readFileSync(join(modules, 'lock-torture/package.json'), 'utf8'));
  const sizes = paths
    .map((path) => ({ name: path.replace(/^node_modules\//, ''), bytes: sizeOf(join(folder, path)) }))
    .sort((a, b) => b.bytes - a.bytes);
  const all = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const heaviest = sizes.slice(0, 4).map(({ name, bytes }) => `${name} ${kB(bytes)}`);
  const direct = Object.keys(dependencies).length;
  print(`${direct} production dependencies, ${paths.length} packages installed with the tool and its parts in C`);
  print(`${kB(all)} installed: ${heaviest.join(', ')}`);
}

/** From an empty folder, with nothing in the tool's cache. */
async function firstVerdict(home: string, specs: readonly string[]): Promise<void> {
  const folder = join(home, 'empty');
  mkdirSync(folder);
  const cache = join(home, 'cache');
  const load = loadavg()[0]!.toFixed(1);
  const beganMs = performance.now();
  const after = () => (performance.now() - beganMs) / 1_000;
  const argv = [
    '--yes',
    '--prefer-offline',
    ...specs.map((one) => `--package=${one}`),
    'lock-torture',
    '--topology',
    'sentinel',
  ];
  const child = spawn('npx', argv, {
    cwd: folder,
    env: { ...process.env, LOCK_TORTURE_CACHE: cache, npm_config_ignore_scripts: 'true' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const reached = new Map<string, number>();
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
    for (const [what, words] of Object.entries(STEPS))
      if (!reached.has(what) && words.test(output)) reached.set(what, after());
  });
  const code = await new Promise<number | null>((done) => child.once('close', done));
  const steps = [...reached].map(([what, at]) => `${what} after ${seconds(at)}`).join(', ');
  print(
    `npx lock-torture --topology sentinel in an empty folder: ${steps}, ended after ${seconds(after())} with ${code} (load ${load})`,
  );
  if (![0, 1, 2].includes(code ?? 3)) print(output.slice(-1_000));
}

const STEPS = {
  'first line': /\n/,
  'Redis is there': /^run \S+, seed/m,
  ready: /^\S+ ready after/m,
  verdict: /^(HELD|PASSED|VIOLATED|CANNOT TELL)\b/m,
};

/** Of all files below, bytes. */
function sizeOf(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.reduce((sum, path) => sum + statSync(path).size, 0);
}

function median(list: readonly number[]): number {
  return [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]!;
}

function kB(bytes: number): string {
  return `${Math.round(bytes / 1_000).toLocaleString('en')} kB`;
}

function seconds(s: number): string {
  return `${s.toFixed(1)} s`;
}
