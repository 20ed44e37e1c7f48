/**
 * The lock client program (`main.ts`) for a simulated world: the same session, whose process is the world's. Clocks, timers and
 * sockets need no parameter: in the world they are the world's.
 */
import { after, nowNs, wallMs } from '../runtimes/process-time.js';
import type { Request } from '../vocabulary/protocol.js';
import { CommandLog } from './command-log.js';
import { lockOf } from './load-lock.js';
import { type LoadNodeRedis, takeLoader } from './node-redis/package.js';
import { ResourceConnection } from './resource-connection.js';
import { Session } from './session.js';
import { topologyAccess } from './topology-access.js';

/** What the program has of its process. */
export interface ClientPorts {
  print(line: string): void;
  stopHere(): Promise<void>;
  /** Where in the author's sources it was thrown; undefined: that is not known. */
  thrownAt(thrown: unknown): string | undefined;
}

/** Starts a client of the lock that `load` exports; the result is given every line of its standard input. `path`: for messages. */
export function clientInWorld(load: () => Record<string, unknown>, path: string, ports: ClientPorts) {
  const log = new CommandLog();
  let loadNodeRedis: LoadNodeRedis | undefined;
  const session = new Session({
    nowNs,
    wallMs,
    after,
    log,
    async loadLock() {
      const module = load();
      loadNodeRedis = takeLoader();
      return lockOf(module, path);
    },
    thrownAt: ports.thrownAt,
    access: (topology, options, notices) => topologyAccess(topology, options, log, notices, loadNodeRedis),
    resource: (at, timeoutMs) => new ResourceConnection(at, timeoutMs),
    stopHere: () => ports.stopHere(),
    write: async (line) => ports.print(JSON.stringify(line)),
  });
  return (line: string): void => {
    void session.handle(JSON.parse(line) as Request);
  };
}
