/** What a run needs of this machine: what may be asked for, and what was found. */
import type { Capability } from '../../harness/vocabulary/host.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { RedisBinary, ServiceName } from '../../harness/vocabulary/topology.js';

/** What this machine brings to a run. */
export interface Machine {
  runtime: string;
  redis: RedisBinary;
  clockShim?: string;
  durableShim?: string;
  linkShaper?: string;
  unavailable: Partial<Record<Capability, string>>;
  containers?: RunConfig['containers'];
}

/** `--redis` is what earlier versions called it. */
const NAMED_BY_PATH = new Set(['--server', '--redis']);

/** The server that the user named, as `--server` takes it; undefined: what this machine has was taken. */
export function namedServer({ asked, origin, path }: RedisBinary): string | undefined {
  return asked ?? (NAMED_BY_PATH.has(origin) ? path : undefined);
}

/** The flags that name it again, for whoever repeats a run. */
export function namingServer(redis: RedisBinary): string[] {
  const server = namedServer(redis);
  return server === undefined ? [] : ['--server', server];
}

/** What a user may ask of the machine. `server` is an absolute path or a name such as `redis@8.0`. */
export interface AskedMachine {
  runtime: string;
  /** Whose server is to be found; Redis unless given. */
  service?: ServiceName;
  server?: string | undefined;
  image?: string;
  clientImage?: string;
}
