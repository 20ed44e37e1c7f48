/** What a run needs of this machine: what may be asked for, and what was found. */
import { type InspectedServer, SLOTS_AT_ONCE } from '../../harness/machine/server-commands.js';
import type { Capability } from '../../harness/vocabulary/host.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { RedisBinary, ServiceName } from '../../harness/vocabulary/topology.js';
import type { Say } from '../common/say.js';

/** The runtime of virtual time. */
export const SIM = 'sim';

/** What this machine brings to a run. */
export interface Machine {
  runtime: string;
  redis: RedisBinary;
  /** What the server says of itself; absent: it is none that could be asked. */
  server?: InspectedServer;
  clockShim?: string;
  durableShim?: string;
  linkShaper?: string;
  simShim?: string;
  virtualTime?: RunConfig['virtualTime'];
  unavailable: Partial<Record<Capability, string>>;
  containers?: RunConfig['containers'];
  toolImage?: RunConfig['toolImage'];
}

/** Also what faults need of a server that this one lacks; `flag` names another one. */
export function withServer(machine: Machine, server: InspectedServer, flag: string): Machine {
  const lacking = server.commands.includes(SLOTS_AT_ONCE)
    ? {}
    : { 'slots-at-once': `this server has no CLUSTER MIGRATESLOTS (Valkey 9): choose another one with ${flag}` };
  return { ...machine, server, unavailable: { ...machine.unavailable, ...lacking } };
}

/** What this machine may be given, and has not; what it never has, or a server lacks, is said where it is asked for. */
const SAID_WHEN_ASKED = new Set(['slots-at-once', 'sync-time', 'turns']);

export function sayWhatIsMissing({ unavailable }: Machine, say: Say): void {
  for (const [what, why] of Object.entries(unavailable))
    if (!SAID_WHEN_ASKED.has(what)) say(`no ${what} faults: ${why}`);
}

/** `--redis` is what earlier versions called it. */
const NAMED_BY_PATH = new Set(['--server', '--redis']);

/** The server that the user named, as `--server` takes it; undefined: what this machine has was taken. */
export function namedServer({ asked, origin, path }: RedisBinary): string | undefined {
  return asked ?? (NAMED_BY_PATH.has(origin) ? path : undefined);
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
