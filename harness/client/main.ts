/**
 * The program that runs one TypeScript or JavaScript lock as a lock client: `node main.js <module>`, where `<module>` is
 * an absolute path or a file URL. It speaks the protocol of `docs/protocol.md` on standard input and output.
 *
 * It ends as soon as its standard input ends, whatever it is doing: a client never outlives the harness.
 */
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LineSplitter } from '../runtimes/lines.js';
import { after, nowNs, wallMs } from '../runtimes/process-time.js';
import type { LockDefinition } from '../vocabulary/lock.js';
import type { Request } from '../vocabulary/protocol.js';
import { CommandLog } from './command-log.js';
import { BadLockError, lockOf } from './load-lock.js';
import { firstLine } from './outcome.js';
import { ResourceConnection } from './resource-connection.js';
import { Session } from './session.js';
import { topologyAccess } from './topology-access.js';

const writeProtocol = takeStdout();
const modulePath = process.argv[2];
if (modulePath === undefined || process.argv.length > 3) {
  process.stderr.write('usage: main.js <absolute path or file URL of a lock module>\n');
  process.exit(2);
}

// Loading starts before init asks for it; what goes wrong is reported in the handshake.
const loading = loadLock(modulePath);
loading.catch(() => {});

const log = new CommandLog();
const session = new Session({
  nowNs,
  wallMs,
  after,
  log,
  loadLock: () => loading,
  access: (topology, options, notices) => topologyAccess(topology, options, log, notices),
  resource: (at, timeoutMs) => new ResourceConnection(at, timeoutMs),
  stopHere: () => {
    process.kill(process.pid, 'SIGSTOP');
  },
  write: (line) => writeProtocol(`${JSON.stringify(line)}\n`),
});

const lines = new LineSplitter();
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => {
  for (const line of lines.push(chunk)) handleLine(line);
});
for (const event of ['end', 'close', 'error'] as const) process.stdin.on(event, () => process.exit(0));

function handleLine(line: string): void {
  let request: Request;
  try {
    request = JSON.parse(line) as Request;
    if (!Number.isInteger(request?.id)) throw new Error('a request has an integer `id`');
  } catch (error) {
    // It has no id that could be answered, and only a broken harness sends it.
    process.stderr.write(`not a request (${firstLine(error)}): ${line.slice(0, 200)}\n`);
    process.exit(2);
  }
  // The only way to fail is that the answers are not read any more.
  session.handle(request).catch(() => process.exit(0));
}

async function loadLock(path: string): Promise<LockDefinition> {
  const url = isAbsolute(path) ? pathToFileURL(path).href : path;
  let module: Record<string, unknown>;
  try {
    module = await import(url);
  } catch (error) {
    process.stderr.write(`${(error as Error)?.stack ?? error}\n`);
    throw new BadLockError(`${path} cannot be loaded: ${firstLine(error)}${placeOf(error)}`);
  }
  return lockOf(module, path);
}

/** Where in the author's sources it was thrown, as their source maps say; empty where that is not known. */
function placeOf(error: unknown): string {
  const [, frame = ''] = /^ *at (.*)$/m.exec((error as Error | undefined)?.stack ?? '') ?? [];
  const [at = ''] = /(?<=\()[^()]+:\d+:\d+(?=\)$)|^\S+:\d+:\d+$/.exec(frame) ?? [];
  return at === '' || at.startsWith('node:') ? '' : ` (${at.replace(/^file:\/\//, '')})`;
}

/**
 * Keeps standard output for the protocol: whatever else in this process prints, `console` too, goes to standard error
 * instead. The result resolves once the line is in the pipe.
 */
function takeStdout(): (line: string) => Promise<void> {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  stdout.on('error', () => process.exit(0));
  return (line) =>
    new Promise((resolve, reject) => {
      write(line, (error) => (error ? reject(error) : resolve()));
    });
}
