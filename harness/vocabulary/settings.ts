/** What a run can be asked for from a program or a config file: the flags of `run`, by their names there. */
import type { LockDefinition } from './lock.js';
import type { Persistence, ServiceName } from './topology.js';
import type { FailOn } from './verdict.js';
import type { ResourceMode } from './workload.js';

/** With its unit: `'500ms'`, `'30s'`, `'2m'`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h'}`;

/** Of all that is left out, `run --help` tells what is taken. */
export interface Settings {
  /** A file (a URL, a path, or a definition that carries it), a name from `list locks`, or `cmd:` and a program. */
  lock?: string | URL | LockDefinition;
  service?: ServiceName;
  /** Of another service what `run --help` tells: `single`, `quorum`, `primary-replica` or `primary-replica-sync`. */
  topology?:
    | 'single'
    | 'replica'
    | 'sentinel'
    | 'cluster'
    | 'redlock'
    | 'redlock-sentinel'
    | 'quorum'
    | 'primary-replica'
    | 'primary-replica-sync';
  workload?: string;
  runtime?: 'auto' | 'netns' | 'docker' | 'container' | 'sim';
  server?: string;
  image?: string;
  clientImage?: string;
  clients?: number;
  callers?: number;
  keys?: number;
  startsWithin?: Duration;
  lease?: Duration;
  wait?: Duration;
  /** In parts of the lease: `'0.1x..0.7x'`. */
  hold?: string;
  careless?: boolean;
  resource?: ResourceMode;
  timeLimit?: Duration;
  /** Faults: `'kill,pause:client'` or a list of them; `default`, `all`, `none`. */
  nemesis?: string | readonly string[];
  nemesisInterval?: Duration;
  plan?: string | URL;
  seed?: number;
  nodes?: number;
  persistence?: Persistence;
  minReplicasToWrite?: number;
  maxmemoryPolicy?: string;
  auth?: boolean;
  tls?: boolean;
  redisConf?: Readonly<Record<string, string>>;
  failOn?: 'none' | FailOn | readonly FailOn[];
  /** A folder of findings that are known: files that a campaign has left in its `known/`. */
  known?: string | URL;
  /** Whether what is known fails nothing. */
  knownOk?: boolean;
  /** Holds without which nothing is said to have held. */
  minHolds?: number;
  /** Strikes, in runs with faults: 59 bound a pass to 5 % at 95 %, and take some ten minutes; 299 bound it to 1 %. */
  minStrikes?: number;
  stopAtFirst?: boolean;
  /** Where run folders go. */
  out?: string | URL;
}
