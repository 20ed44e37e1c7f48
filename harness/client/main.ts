/**
 * The program that runs one TypeScript or JavaScript lock as a lock client: `node main.js <module>`, where `<module>` is
 * an absolute path or a file URL. It reads the protocol of `docs/protocol.md` on standard input, and writes it on a descriptor
 * of its own (`program.ts`).
 *
 * It ends as soon as its standard input ends, whatever it is doing: a client never outlives the harness.
 */
import { Socket } from 'node:net';
import { isAbsolute, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LineSplitter } from '../runtimes/lines.js';
import { after, nowNs, wallMs } from '../runtimes/process-time.js';
import type { LockDefinition } from '../vocabulary/lock.js';
import type { Request } from '../vocabulary/protocol.js';
import { CommandLog } from './command-log.js';
import { BadLockError, LOAD_ONLY, lockOf } from './load-lock.js';
import { type LoadNodeRedis, takeLoader } from './node-redis/package.js';
import { firstLine } from './outcome.js';
import { PROTOCOL_FD } from './program.js';
import { watchRefusals } from './refused-elsewhere.js';
import { ResourceConnection } from './resource-connection.js';
import { Session } from './session.js';
import { withPlace } from './session-reasons.js';
import { thrownAt } from './thrown-at.js';
import { topologyAccess } from './topology-access.js';

const loadOnly = process.argv[2] === LOAD_ONLY;
const [modulePath, ...more] = process.argv.slice(loadOnly ? 3 : 2);
const writeProtocol = openProtocol();
if (modulePath === undefined || more.length > 0 || !writeProtocol) {
  process.stderr.write(
    `usage: main.js [${LOAD_ONLY}] <absolute path or file URL of a lock module> ${PROTOCOL_FD}>&1 1>&2\n`,
  );
  process.exit(2);
}

/** The compiled programs, and the sources that their maps name. */
const OURS = ['dist/harness/', 'harness/'].map((folder) => resolve(process.argv[1]!, '../../../..', folder) + sep);

// A lock may connect while it is loaded.
const refusedElsewhere = watchRefusals();
let loadNodeRedis: LoadNodeRedis | undefined;
// Loading starts before init asks for it; what goes wrong is reported in the handshake.
const loading = loadLock(modulePath);
loading.catch(() => {});
if (loadOnly) {
  const said = await loading.then(
    () => 'loaded',
    (error: Error) => error.message,
  );
  await writeProtocol(`${said}\n`);
  process.exit(said === 'loaded' ? 0 : 1);
}

const log = new CommandLog();
const session = new Session({
  nowNs,
  wallMs,
  after,
  log,
  loadLock: () => loading,
  thrownAt: (thrown) => thrownAt(thrown, isOurs),
  refusedElsewhere,
  access: (topology, options, notices) => topologyAccess(topology, options, log, notices, loadNodeRedis),
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
    loadNodeRedis = takeLoader();
  } catch (error) {
    process.stderr.write(`${(error as Error)?.stack ?? error}\n`);
    throw new BadLockError(withPlace(`${path} cannot be loaded: ${firstLine(error)}`, thrownAt(error, isOurs)));
  }
  return lockOf(module, path);
}

/** Whether a place in a stack is in the tool's own files. */
function isOurs(place: string): boolean {
  return OURS.some((folder) => place.startsWith(folder));
}

/** Undefined: nobody reads there. The result resolves once the line is in the pipe. */
function openProtocol(): ((line: string) => Promise<void>) | undefined {
  let protocol: Socket;
  try {
    protocol = new Socket({ fd: PROTOCOL_FD, readable: false, writable: true });
  } catch {
    return undefined;
  }
  protocol.on('error', () => process.exit(0));
  return (line) =>
    new Promise((resolve, reject) => {
      protocol.write(line, (error) => (error ? reject(error) : resolve()));
    });
}
