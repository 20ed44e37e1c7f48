/** What a run needs of this machine: what may be asked for, and what was found. */
import type { Capability } from '../../harness/vocabulary/host.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { RedisBinary } from '../../harness/vocabulary/topology.js';

/** What this machine brings to a run. */
export interface Machine {
  runtime: string;
  redis: RedisBinary;
  clockShim?: string;
  unavailable: Partial<Record<Capability, string>>;
  containers?: RunConfig['containers'];
}

/** What a user may ask of the machine. `redis` is an absolute path. */
export interface AskedMachine {
  runtime: string;
  redis?: string;
  image?: string;
  clientImage?: string;
}
