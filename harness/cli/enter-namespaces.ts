/**
 * Runs the rest of a run inside namespaces of its own, and makes sure that it does not outlive us.
 *
 * Three ropes hold it: the kernel kills `unshare` when we die (PR_SET_PDEATHSIG), `unshare --kill-child` takes the inner
 * process with it, and the inner process, first of its process namespace, takes everything else with it. Should the
 * first rope be torn (setpriv missing, or death before it was tied), the inner process also watches a pipe to us.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';

/** How an inner run ended: its exit status, or the signal that ended it. */
export type InnerEnd = { code: number } | { signal: NodeJS.Signals };

export interface Inner {
  ended: Promise<InnerEnd>;
  /** Asks the inner process to heal, tear down, check and report what there is. */
  askToStop(): void;
  /** Ends everything at once. */
  kill(): void;
}

/** The descriptor on which the inner process watches us. */
export const WATCH_FD = 3;
export const STOP_REQUEST = 'stop\n';
const WATCH_ANCESTORS_EVERY_MS = 200;

/** Starts `argv` in its own network, process and mount namespaces. */
export function enterNamespaces(argv: readonly string[]): Inner {
  const asRoot = process.getuid?.() === 0;
  const user = asRoot ? [] : ['--user', '--map-root-user'];
  const deathSignal = haveSetpriv() ? ['setpriv', '--pdeathsig', 'KILL', '--'] : [];
  const [command, ...args] = [
    ...deathSignal,
    'unshare',
    ...user,
    '--net',
    '--pid',
    '--fork',
    '--kill-child',
    '--mount-proc',
    '--',
    ...argv,
  ];
  // A session of its own: Ctrl-C reaches only us, and we pass it on as a request, so that Redis and the clients live on
  // until the run has been healed and judged.
  const child = spawn(command!, args, { stdio: ['ignore', 'inherit', 'inherit', 'pipe'], detached: true });
  const pipe = child.stdio[WATCH_FD] as Writable;
  pipe.on('error', () => {}); // it is gone: `ended` says so
  return {
    ended: endOf(child),
    askToStop: () => pipe.write(STOP_REQUEST),
    kill: () => child.kill('SIGKILL'),
  };
}

function endOf(child: ChildProcess): Promise<InnerEnd> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal ? { signal } : { code: code ?? 1 }));
  });
}

function haveSetpriv(): boolean {
  return spawnSync('setpriv', ['--version'], { stdio: 'ignore' }).status === 0;
}

/**
 * Calls `onOrphaned` once the npm that started us is dead: npm leaves its children running when it is killed. Without
 * npm above us there is nothing to watch (a terminal that is closed sends SIGHUP).
 */
export function watchNpm(onOrphaned: () => void): void {
  const ancestors = process.env.npm_lifecycle_event === undefined ? [] : ancestorsUpToNpm();
  if (ancestors.length === 0) return;
  const timer = setInterval(() => {
    if (ancestors.every((ancestor) => parentAndStart(ancestor.pid)?.start === ancestor.start)) return;
    clearInterval(timer);
    onOrphaned();
  }, WATCH_ANCESTORS_EVERY_MS);
  timer.unref();
}

interface Ancestor {
  pid: number;
  /** Start time in clock ticks: tells a process from another that got its number. */
  start: string;
}

function ancestorsUpToNpm(): Ancestor[] {
  const chain: Ancestor[] = [];
  for (let pid = process.ppid; pid > 1; ) {
    const facts = parentAndStart(pid);
    if (!facts) return [];
    chain.push({ pid, start: facts.start });
    if (isNpm(pid)) return chain;
    pid = facts.parent;
  }
  return [];
}

function isNpm(pid: number): boolean {
  try {
    return /(^|[/\0 ])(npm|npm-cli\.js|npx|yarn|pnpm)(\.js)?([\0 ]|$)/.test(
      readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
    );
  } catch {
    return false; // it died while we looked
  }
}

function parentAndStart(pid: number): { parent: number; start: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return { parent: Number(fields[1]), start: fields[19]! };
  } catch {
    return undefined; // no such process any more
  }
}
