/**
 * `--runtime container`: the inside of a run in one container of the tool's own image, for machines without namespaces of
 * their own (macOS, Windows). This process keeps the terminal, the config, the lock's file and `runs/`.
 *
 * The container is the user's own account without any power over the machine, reaches no network, and may write only the run's
 * folder and memory. What it may that others may not is to make namespaces, in which it is root over what it has made:
 * SYS_ADMIN among the powers that it could have lets the engine's filter of system calls pass that, and it has none of them
 * itself. It ends with its standard input, which the engine closes when its client is gone, and is removed then.
 */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { dyingWithUs, runProgram } from '../../harness/machine/command.js';
import { services } from '../../harness/topologies/services.js';
import { UsageError } from '../common/errors.js';
import type { Say } from '../common/say.js';
import { type ContainedFrame, ContainedFrameError, ContainedReader } from './contained.js';
import type { EnterOptions, Inner, InnerEnd } from './enter-namespaces.js';
import { STOP_REQUEST } from './enter-namespaces.js';
import type { AskedMachine, Machine } from './machine.js';
import { type ContainerEngine, findContainerEngine, IN_IMAGE, provideToolImage, TOOL_BASE } from './tool-image.js';

const MAIN = `${IN_IMAGE.project}/dist/cli/run/contained-main.js`;
const PROBE_TIMEOUT_MS = 120_000;
/** Of the engine's program: the container could not be started. */
const ENGINE_FAILED = 125;

/** Finds the engine, makes the image and tries a container. Throws one line with the remedy. */
export async function toolContainerMachine(asked: AskedMachine, say: Say): Promise<{ machine: Machine; why: string }> {
  if (asked.server !== undefined)
    throw new UsageError('--runtime container has the Redis of its image: leave out --server');
  if (asked.image !== undefined)
    throw new UsageError('--runtime container runs all in one image; --client-image names what that is made of');
  const { name, title } = services[asked.service ?? 'redis'];
  if (name !== 'redis') throw new UsageError(`${title} runs in the netns and docker runtimes, not in one container`);
  const engine = await findContainerEngine();
  const base = asked.clientImage ?? TOOL_BASE;
  const image = await provideToolImage(engine, base, say);
  const command = [...containerOf(engine, 'probe'), image, MAIN, 'probe'];
  const { exitCode, stdout, stderr } = await runProgram(command, { timeoutMs: PROBE_TIMEOUT_MS });
  if (exitCode !== 0)
    throw new UsageError(
      `--runtime container is not available: ${(stderr.trim() || stdout.trim()).split('\n').at(-1) || 'the container could not be started'}`,
    );
  const probed = JSON.parse(stdout) as Machine;
  const toolImage = { base, image, command: engine.command, rootless: engine.rootless };
  return {
    machine: { ...probed, toolImage },
    why: `all of it in one container of ${engine.command} ${engine.version} (made from ${base}) without network, which may write its run's folder only; it has SYS_ADMIN to make the namespaces that hosts live in`,
  };
}

/** The command line up to the image. */
function containerOf(engine: Pick<ContainerEngine, 'command' | 'rootless'>, run: string): string[] {
  const { uid, gid } = userOf(engine);
  const { command } = engine;
  return [
    ...[command, 'run', '--rm', '--interactive', '--entrypoint', IN_IMAGE.node, '--label', `lock-torture.run=${run}`],
    ...['--network', 'none', '--read-only', '--tmpfs', '/tmp:exec,mode=1777'],
    ...['--user', `${uid}:${gid}`, '--security-opt', 'no-new-privileges'],
    ...['--cap-drop', 'ALL', '--cap-add', 'SYS_ADMIN'],
    // Root maps itself into its namespace only with this.
    ...(uid === 0 ? ['--cap-add', 'SETFCAP'] : []),
    // It mounts a /proc of its own, which their defaults keep from it.
    ...['--security-opt', 'apparmor=unconfined', '--security-opt', 'systempaths=unconfined'],
  ];
}

/** Whom the container's processes are, so that what they write is the user's. */
function userOf({ rootless }: Pick<ContainerEngine, 'rootless'>): { uid: number; gid: number } {
  // There root is the user.
  return rootless ? { uid: 0, gid: 0 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

/** As `enterNamespaces`, in a container of `toolImage`: `inside-main.js` with the run's folder and these flags. */
export async function enterToolContainer(
  toolImage: NonNullable<Machine['toolImage']>,
  folder: string,
  flags: readonly string[],
  { stdout = 'inherit' }: EnterOptions = {},
): Promise<Inner> {
  // Mounted over: servers' own files stay in memory, with the sockets that not every shared folder can have.
  const hosts = join(folder, 'hosts');
  mkdirSync(hosts, { recursive: true });
  const { uid, gid } = userOf(toolImage);
  const memory = `${hosts}:exec,mode=0700,uid=${uid},gid=${gid}`;
  const mounts = ['--mount', `type=bind,source=${folder},target=${folder}`, '--tmpfs', memory];
  const argv = [...containerOf(toolImage, basename(folder)), ...mounts, toolImage.image, MAIN, 'run', folder, ...flags];
  const [command, ...args] = [...(await dyingWithUs()), ...argv];
  const capture = stdout === 'capture';
  // A session of its own: Ctrl-C reaches only us.
  const child = spawn(command!, args, { stdio: ['pipe', 'pipe', capture ? 'pipe' : 'inherit'], detached: true });
  child.stdin!.on('error', () => {}); // it is gone: `ended` says so
  const output = new PassThrough();
  const told = new PassThrough();
  if (!capture) output.pipe(stdout === 'inherit' ? process.stdout : nowhere(), { end: false });
  let signal: NodeJS.Signals | undefined;
  const reader = new ContainedReader();
  let isTrusted = true;
  const framesIn = (text: string): ContainedFrame[] => {
    try {
      return reader.push(text);
    } catch (error) {
      if (!(error instanceof ContainedFrameError)) throw error;
      // What was recorded until then is judged, as of a run that was killed.
      isTrusted = false;
      signal = 'SIGKILL';
      child.stdin!.destroy();
      process.stderr.write(`lock-torture: ${error.message}; it is ended\n`);
      return [];
    }
  };
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    if (!isTrusted) return;
    for (const frame of framesIn(text)) {
      if ('signal' in frame) signal = frame.signal;
      else (frame.to === 'output' ? output : told).write(frame.text);
    }
  });
  const ended = new Promise<InnerEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, by) => {
      output.end();
      told.end();
      resolve(endOf(code, by ?? signal));
    });
  });
  return {
    ended,
    ...(capture && { captured: { output, errors: child.stderr! } }),
    channel: told,
    askToStop: () => child.stdin!.write(STOP_REQUEST),
    kill: () => child.stdin!.destroy(),
  };
}

function endOf(code: number | null, signal: NodeJS.Signals | undefined): InnerEnd {
  if (signal) return { signal };
  // The container was killed, from outside or for want of memory.
  if (code === null || code > ENGINE_FAILED) return { signal: 'SIGKILL' };
  return { code };
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
