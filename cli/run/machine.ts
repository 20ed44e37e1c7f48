/** What a run needs of this machine: what may be asked for, and what was found. */
import type { Capability } from '../../harness/vocabulary/host.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { RedisBinary } from '../../harness/vocabulary/topology.js';

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

/** What a user may ask of the machine. `server` is an absolute path or a name such as `redis@8.0`. */
export interface AskedMachine {
  runtime: string;
  server?: string | undefined;
  image?: string;
  clientImage?: string;
}
