/**
 * The agent: main process of every container, through which the harness does everything there over the container's own
 * standard input and output. No network fault reaches that channel, nothing of the machine need be mounted, and starting
 * a process costs no round through the engine.
 *
 * It ends with its standard input, and everything in the container with it: a harness that was killed leaves no container.
 * It runs in the image of any server, so it uses nothing but Node, and what the images are given beside it (`images.ts`).
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname } from 'node:path';
import { listHostFolder, readHostFile } from '../../harness/runtimes/host-files.js';
import { diskRecordTrouble, losePower } from '../../harness/runtimes/power-cut.js';
import { Family } from '../../harness/runtimes/process-family.js';
import { FrameReader, frame, KIND, type Kind, objectIn } from './frames.js';
import type { AgentReply, Call, Prepared, ProcessState, ReadPiece, Spawned } from './messages.js';
import { leadUpToRoundNumber } from './numbers.js';

/** How long what a dead process had printed may take to arrive: its children may keep the pipe open for ever. */
const LAST_WORDS_MS = 50;
/** A program that cannot be started, as in a shell. */
const COULD_NOT_START = 127;

const children = new Map<number, ChildProcess>();
/** Also of those whose first process has ended: the others may live on. */
const families = new Map<number, Family>();
const sockets = new Map<number, Socket>();
let log: string | undefined;

const reader = new FrameReader((kind, id, payload) => {
  if (kind === KIND.message) void answer(id, objectIn(payload) as Call);
  else if (kind === KIND.data) (sockets.get(id) ?? children.get(id)?.stdin)?.write(payload);
  else if (kind === KIND.end) (sockets.get(id) ?? children.get(id)?.stdin)?.end();
});
process.stdin.on('data', (chunk: Buffer) => reader.push(chunk));
process.stdin.on('end', () => process.exit(0));
process.stdin.on('error', () => process.exit(0));
process.stdout.on('error', () => process.exit(0));

function send(kind: Kind, id: number, payload?: Buffer | string): void {
  process.stdout.write(frame(kind, id, payload));
}

async function answer(id: number, call: Call): Promise<void> {
  let said: AgentReply;
  try {
    said = { value: (await carryOut(id, call)) ?? null };
  } catch (error) {
    said = { error: (error as Error).message };
  }
  send(KIND.message, id, JSON.stringify(said));
}

function carryOut(id: number, call: Call): unknown {
  switch (call.do) {
    case 'prepare':
      return prepare(call);
    case 'write':
      mkdirSync(dirname(call.path), { recursive: true });
      return writeFileSync(call.path, Buffer.from(call.data, 'base64'), { mode: call.mode });
    case 'overwrite':
      return overwrite(call.path, Buffer.from(call.data, 'base64'));
    case 'exec':
      return exec(call);
    case 'spawn':
      return start(id, call);
    case 'signal':
      return signal(call);
    case 'state':
      return families.get(call.process)?.state() ?? stateOf(children.get(call.process));
    case 'read':
      return read(call);
    case 'list':
      return listHostFolder('.', call.path);
    case 'dial':
      return dial(id, call);
    case 'disk-trouble':
      return diskRecordTrouble(call.folder, call.pid);
    case 'lose-power':
      return losePower(call.folder, call.cut);
  }
}

function prepare(call: Extract<Call, { do: 'prepare' }>): Prepared {
  log = call.log;
  mkdirSync(call.folder, { recursive: true });
  // Servers that refuse to be root write here, too, as nobody.
  chmodSync(call.folder, 0o777);
  mkdirSync(dirname(log), { recursive: true });
  // So that sockets can be dialled by a relative path: a longer one than 107 bytes cannot be.
  process.chdir(call.folder);
  writeFileSync('clock', Buffer.from(call.clock, 'base64'));
  leadNowhere();
  const address = networkInterfaces().eth0?.find(({ family }) => family === 'IPv4')?.address;
  if (!address) throw new Error('this container has no IPv4 address on eth0');
  return {
    address,
    bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    monotonicNs: String(process.hrtime.bigint()),
  };
}

/** Some engines give a way out even to a network that has none. */
function leadNowhere(): void {
  spawnSync('ip', ['route', 'del', 'default']);
  const { stdout, error } = spawnSync('ip', ['route', 'show', 'default'], { encoding: 'utf8' });
  if (error) throw new Error(`ip does not run in this container: ${error.message}`);
  if (stdout.trim() !== '') throw new Error(`this container keeps a way out of its network: ${stdout.trim()}`);
}

function overwrite(path: string, data: Buffer): void {
  const fd = openSync(path, 'r+');
  try {
    writeSync(fd, data, 0, data.length, 0);
  } finally {
    closeSync(fd);
  }
}

function exec({ argv, cwd, timeoutMs }: Extract<Call, { do: 'exec' }>): Promise<unknown> {
  const child = spawn(argv[0]!, argv.slice(1), { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    const tooLong = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`took longer than ${timeoutMs} ms`));
    }, timeoutMs);
    child.once('error', (error) => {
      clearTimeout(tooLong);
      reject(error);
    });
    child.once('close', (exitCode, signal) => {
      clearTimeout(tooLong);
      if (exitCode === null) reject(new Error(`was ended by ${signal}`));
      // As a shell reads it: without the newlines at the end.
      else resolve({ exitCode, stdout: stdout.replace(/\n$/, ''), stderr: stderr.replace(/\n$/, '') });
    });
  });
}

function signal({ process, signal }: Extract<Call, { do: 'signal' }>): void {
  const family = families.get(process);
  if (family) family.signal(signal);
  else children.get(process)?.kill(signal);
}

function read({ path, piece }: Extract<Call, { do: 'read' }>): ReadPiece | undefined {
  const found = readHostFile('.', path, piece);
  return found && { ...found, data: found.data.toString('base64') };
}

function start(id: number, { argv, cwd, env, logStdout, alone, family }: Extract<Call, { do: 'spawn' }>): Spawned {
  if (alone) leadUpToRoundNumber();
  const child = spawn(argv[0]!, argv.slice(1), { cwd, env: { ...process.env, ...env }, stdio: 'pipe' });
  children.set(id, child);
  if (family)
    families.set(
      id,
      new Family({
        pid: child.pid ?? -1,
        signal: (signal) => void child.kill(signal),
        state: () => stateOf(child),
      }),
    );
  // A write to a dead process's pipe is no news: its exit is.
  child.stdin.on('error', () => {});
  const toLog = (chunk: Buffer) => {
    // Of others, who may babble for ever, only the harness keeps what they say.
    if (logStdout) keep(chunk);
    send(KIND.log, id, chunk);
  };
  child.stderr.on('data', toLog);
  child.stdout.on('data', logStdout ? toLog : (chunk: Buffer) => send(KIND.data, id, chunk));
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.once('exit', async (code, signal) => {
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS))]);
    children.delete(id);
    send(KIND.exit, id, JSON.stringify({ code, signal }));
  });
  child.once('error', (error) => {
    if (child.pid !== undefined) return; // a signal that came too late
    children.delete(id);
    toLog(Buffer.from(`${argv[0]} cannot be started in this container: ${error.message}\n`));
    send(KIND.exit, id, JSON.stringify({ code: COULD_NOT_START, signal: null }));
  });
  // At once, for a question about the process may lie in the same read: its answer must not come before this one.
  return { pid: child.pid ?? -1 };
}

/** For a reader who looks for the last words of a server on its own host. */
function keep(chunk: Buffer): void {
  try {
    if (log) appendFileSync(log, chunk);
  } catch {
    // The disk is full; the harness has it all the same.
  }
}

function stateOf(child: ChildProcess | undefined): ProcessState {
  if (!child || child.exitCode !== null || child.signalCode !== null) return 'dead';
  let stat: string;
  try {
    stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  } catch {
    return 'dead'; // no such process any more
  }
  // "pid (comm) S ...": comm may hold anything, so read after the last parenthesis.
  const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
  if (state === 'Z' || state === 'X') return 'dead';
  return state === 'T' || state === 't' ? 'stopped' : 'running';
}

function dial(id: number, { path }: Extract<Call, { do: 'dial' }>): Promise<void> {
  const socket = createConnection(path);
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.removeListener('error', reject);
      socket.on('error', () => {}); // it is closed then, and that is said
      sockets.set(id, socket);
      resolve();
      // After the answer, which is sent in a later turn than this one.
      setImmediate(() => socket.on('data', (chunk) => send(KIND.data, id, chunk)));
    });
    socket.once('close', () => {
      if (sockets.delete(id)) send(KIND.end, id);
    });
  });
}
