/**
 * First process of the container of `--runtime container`: `probe`, which prints what the container brings to a run, or
 * `run <folder> [flags]`, which carries a run out in namespaces below it. Ends when its standard input does, and everything in
 * the container with it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { tryClockShim } from '../../harness/machine/clock-shim.js';
import { preloadTrouble, tryDurableShim } from '../../harness/machine/durable-shim.js';
import { linkShaperTrouble } from '../../harness/machine/link-shaper.js';
import { inUserNamespaces } from '../../harness/machine/namespaces.js';
import { temporaryFolder } from '../../harness/machine/private-folder.js';
import { PROJECT } from '../../harness/machine/project-files.js';
import { findRedis } from '../../harness/machine/redis-binary.js';
import { NOT_IN_REAL_TIME } from '../../harness/runtimes/provides.js';
import { drained, surviveLostOutput } from '../common/closed-output.js';
import { couldNotRun, EXIT_COULD_NOT_RUN } from '../common/errors.js';
import type { ContainedFrame } from './contained.js';
import { WATCH_FD } from './enter-namespaces.js';
import type { Machine } from './machine.js';
import { inspected } from './probe-machine.js';
import { namespacesHere } from './runtimes.js';

const PARTS = join(PROJECT, `node_modules/@lock-torture/linux-${process.arch}`);

/** What the container brings; parts in C are used where they lie. */
async function machineHere(): Promise<Machine> {
  await namespacesHere();
  const redis = await findRedis({ explicit: undefined, cacheFolder: tmpdir(), say: () => {} });
  const machine: Machine = { runtime: 'netns', redis, unavailable: { ...NOT_IN_REAL_TIME } };
  using scratch = temporaryFolder();
  const [clock, durable, link] = ['clock-shim.so', 'durable-shim.so', 'link-shaper'].map((name) => join(PARTS, name));
  const trouble = {
    clock: missing(clock!) ?? (await tryClockShim(clock!, scratch.path)),
    disk:
      missing(durable!) ??
      (await tryDurableShim(durable!, scratch.path)) ??
      (await preloadTrouble(redis, durable!, scratch.path)),
    link: missing(link!) ?? (await linkShaperTrouble(link!, inUserNamespaces()))?.problem,
  };
  if (trouble.clock === undefined) machine.clockShim = clock;
  else machine.unavailable.clock = trouble.clock;
  if (trouble.disk === undefined) machine.durableShim = durable;
  else machine.unavailable.disk = trouble.disk;
  if (trouble.link === undefined) machine.linkShaper = link;
  else machine.unavailable.link = trouble.link;
  return inspected(machine, '--runtime docker --image valkey/valkey:9');
}

function missing(path: string): string | undefined {
  return existsSync(path) ? undefined : `the image has no ${path}`;
}

/** Carries the run out; resolves with how the inner process ended. */
async function carryOut(argv: readonly string[]): Promise<number> {
  const main = fileURLToPath(new URL('./inside-main.js', import.meta.url));
  const [command, ...args] = [...inUserNamespaces(), process.execPath, main, ...argv];
  const inner = spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
  const channel = inner.stdio[WATCH_FD] as Duplex;
  channel.on('error', () => {}); // it is gone: its end says so
  process.stdin.pipe(channel, { end: false });
  const tell = (frame: ContainedFrame) => process.stdout.write(`${JSON.stringify(frame)}\n`);
  inner.stdout!.setEncoding('utf8').on('data', (text: string) => tell({ to: 'output', text }));
  channel.setEncoding('utf8').on('data', (text: string) => tell({ to: 'channel', text }));
  const [code, signal] = await endOf(inner);
  if (signal) tell({ signal });
  return code ?? EXIT_COULD_NOT_RUN;
}

function endOf(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve([code, signal]));
  });
}

surviveLostOutput();
const [what, ...argv] = process.argv.slice(2);
// Nobody is there any more: with this process, the first of its namespace, ends everything in the container.
for (const event of ['end', 'error']) process.stdin.on(event, () => process.exit(EXIT_COULD_NOT_RUN));
let status: number;
try {
  if (what === 'probe') {
    process.stdout.write(`${JSON.stringify(await machineHere())}\n`);
    status = 0;
  } else status = await carryOut(argv);
} catch (error) {
  status = couldNotRun(error);
}
await drained();
process.exit(status);
