/** What the container runtime is given: where a run lies, what its hosts are made from, what clients need. */
import type { Capability, ClockSkew } from '../harness/vocabulary/host.js';
import type { Clock } from '../harness/vocabulary/time.js';
import type { Images } from './images.js';

export interface DockerOptions {
  /** The run's folder: hosts get `logs/<name>.log` below it, and `hosts/<name>/` at the same path in their container. */
  folder: string;
  /** Names the run on everything that is made for it. */
  runId: string;
  clock: Clock;
  /** What the hosts' clock file must hold from now on. */
  encodeSkew(skew: ClockSkew): Buffer;
  unavailable: Partial<Record<Capability, string>>;
  /** Whether it is recorded what servers sync. */
  recordsDisk: boolean;
  images: Images;
  /** Whether a host of this name runs a server; all others are lock clients' and managers'. */
  isServer(host: string): boolean;
  /** Servers refuse to be root, so their containers may make processes somebody else's, and signal these. */
  serversAreNobody: boolean;
  /** The compiled project's folder. */
  project: string;
  /** What lock clients need beside the project, by path, the same inside as outside. */
  files: ReadonlyMap<string, HostFile>;
  /** A program of this machine that lock clients are started with, and that their image must have, too. */
  program?: string;
}

export interface HostFile {
  data: Buffer;
  /** Permissions. */
  mode: number;
}
