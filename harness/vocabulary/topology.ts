/** Deployments: what they are made of, and what they answer about themselves. */
import type { Capability, FileAfterPowerCut, Host, HostProcess, OwnNetwork, PowerCut } from './host.js';
import type { SlotView } from './slots.js';
import type { Clock } from './time.js';
import type { Authority, TrustedAuthority } from './tls.js';

export type Persistence = 'none' | 'rdb' | 'aof-everysec' | 'aof-always';

export interface TopologyOptions {
  nodes: number;
  persistence: Persistence;
  /** `min-replicas-to-write` of every primary; 0: a primary needs none. */
  minReplicasToWrite: number;
  /** `maxmemory-policy` of every data node; absent: the server's own (noeviction). */
  maxmemoryPolicy?: string;
  /** What every node and Sentinel asks for; absent: nothing. */
  password?: string;
  /** Every node and Sentinel speaks TLS and nothing else, to clients and to each other. */
  tls?: true;
  /** Extra `redis.conf` directives, applied last to every Redis node (not to Sentinels). */
  redisConf: readonly (readonly [key: string, value: string])[];
}

/**
 * One server process, data node or Sentinel, on a host of its own. What only Redis has rejects on the server of another
 * service; faults that need it are refused there beforehand (capability `redis`).
 */
export interface ServerNode {
  readonly name: string;
  readonly kind: 'redis' | 'sentinel' | OtherService;
  readonly host: Host;
  readonly port: number;
  /** The process that runs now or ran last. */
  readonly process: HostProcess;
  /**
   * Starts the server again with what is on its disk; resolves when it answers, and listens for its clients. Rejects if it
   * does not in time.
   */
  start(): Promise<void>;
  /** Removes everything the server has on its disk. The server must be dead. */
  forget(): Promise<void>;
  /** Resolves when it answers, through the channel that no fault cuts; bounded in time. Rejects with the reason. */
  ping(): Promise<void>;
  /** Its own wall clock, through that channel, ms since 1970; undefined where the service does not tell it. */
  clockMs(): Promise<number | undefined>;
  /** Service and version, as it tells them itself through that channel. */
  version(): Promise<string>;
  /** Why nothing is known of what the server that runs, or ran last, has synced; undefined if it is. */
  diskTrouble(): Promise<string | undefined>;
  /** Makes of its disk what is there after a power cut; resolves with its files. The server must be dead. */
  losePower(cut: PowerCut): Promise<FileAfterPowerCut[]>;
  /** Cuts off what it cannot read at the end of its log (`redis-check-aof --fix`); resolves with the program's own words. */
  mendLog(): Promise<string>;
  /** One command through the channel that no fault cuts; bounded in time. Rejects when the server is dead or stopped. */
  command(...argv: (string | number)[]): Promise<unknown>;
  /**
   * As `command`, where the answer tells names and values in turn: a map of them, or one for each where it is a list of such.
   * Names in lower case.
   */
  fields(...argv: (string | number)[]): Promise<ReadonlyMap<string, string>[]>;
  /**
   * Follows every command that the server runs, in its order (MONITOR), through that channel. A server that is started again
   * listens for its clients only once somebody follows it again who has let them in before (`Monitoring.letClientsIn`).
   */
  monitor(onCommand: (command: MonitoredCommand) => void): Promise<Monitoring>;
  /** Follows one of the server's pub/sub channels, through that channel. Resolves once it is subscribed. */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<Monitoring>;
  /**
   * Of another service: follows what it has stored for these keys, through that channel, from what is there now on. Resolves
   * once it follows. Absent: nothing of it is recorded.
   */
  follow?(keys: readonly string[], heard: (news: ServiceNews) => void): Promise<Monitoring>;
  /** Of another service: how long it will have the key, milliseconds: below 0 if it has none, Infinity if nothing ends that. */
  lifetimeMs?(key: string): Promise<number>;
  /** Of another service: resolves when nobody builds it anew any more. */
  undisturbed?(): Promise<void>;
  /** Of another service: what it takes itself for, through that channel. Rejects where it does not answer. */
  roleNow?(): Promise<ServerRole>;
}

/** A server's own word for what it is. */
export interface ServerRole {
  role: 'primary' | 'replica' | 'unknown';
  /** Which of its leaders, or timelines, it knows of: it rises from one to the next. */
  term: number;
  /** Another one means that the server was started anew. */
  runId: string;
}

/** What a service has stored under a key, as it tells it itself. */
export interface ServiceNews {
  key: string;
  /** Rises from change to change in one `log`: a revision, a transaction's number. */
  position: number;
  /** Servers that replicate tell of one log, each of what it has of it. */
  log: string;
  /** The value by which the holder is told from others; absent: nobody is stored. */
  owner?: string;
  /** It was asked now and then: what came between two answers is not told. */
  isSampled?: true;
  /** The term of the primary that wrote it, as that says it of itself (`ServerRole`); and the fencing token that goes with it. */
  term?: number;
  token?: number;
  /** For how long it is to be kept from now on, milliseconds, by the server's own clock. Absent: it does not tell, or for ever. */
  keptMs?: number;
  /** For how long, by that clock, what it takes the place of would have been kept yet; below 0: it was over. */
  leftMs?: number;
  /** Of nobody: the service's own rule ended what was there (its session had timed out). Absent: it does not tell. */
  how?: 'timed-out';
}

/** What a lock client is given of the deployment: plain data, `init`'s `topology`. */
export type TopologyDescription = (
  | { kind: 'single'; node: Endpoint }
  /** `node` is the virtual address, behind which the primary is. */
  | { kind: 'replica'; node: Endpoint }
  | { kind: 'sentinel'; masterName: string; sentinels: Endpoint[] }
  /** Any of `nodes` tells a Cluster client the rest. */
  | { kind: 'cluster'; nodes: Endpoint[] }
  | { kind: 'redlock'; nodes: Endpoint[] }
  /** Of each node: its Sentinels, and what they call it. */
  | { kind: 'redlock-sentinel'; nodes: { masterName: string; sentinels: Endpoint[] }[] }
  /** Of another service: where clients find it, and all of its servers; who logs in as whom (`password` says by which). */
  | { kind: OtherService; nodes: Endpoint[]; primary?: Endpoint; user?: string }
) & {
  /** What every server asks for; absent: nothing. */
  password?: string;
  /** Every server speaks TLS and nothing else (`rediss://`); absent: in plain text. */
  tls?: TrustedAuthority;
};

export interface Endpoint {
  name: string;
  host: string;
  port: number;
}

/** A setting that differs from what the server does by default, and why; shown in every report. */
export interface Setting {
  where: string;
  name: string;
  value: string;
  why: string;
}

/** What it takes to hold a lock in a deployment. */
export type Quorum =
  /** One server answers for a key at a time. Those that replicate from it may take its place. */
  | { kind: 'primary' }
  /**
   * Nodes that know nothing of each other: a lock is held by a client that `majority` of `nodes` granted it, if it does not need all.
   * `servers`: of each of `nodes`, in their order, the servers of which one is primary; absent: a node is a server.
   */
  | { kind: 'majority'; nodes: string[]; majority: number; servers?: string[][] };

/** The primary itself (`FAILOVER TO`), a Sentinel (`SENTINEL FAILOVER`), or the replica (`CLUSTER FAILOVER`). */
export type PlannedFailover = 'primary' | 'sentinel' | 'replica';

/** Nodes that hold the same data: one that takes writes, and those that replicate from it. */
export interface Shard {
  readonly primary: ServerNode;
  /** All others that belong to it, whatever state they are in. */
  readonly replicas: readonly ServerNode[];
  /** Whether commands on this key belong here. */
  serves(key: string): boolean;
}

/** Of a Cluster: which slot a key is in, and what its nodes say of slots. */
export interface HashSlots {
  of(key: string): number;
  /** Rejects where the node does not answer. */
  view(node: ServerNode): Promise<SlotView>;
}

/** A running deployment. Disposing stops every server of it. */
export interface Topology extends AsyncDisposable {
  readonly name: string;
  /** Data nodes. */
  readonly nodes: readonly ServerNode[];
  readonly sentinels: readonly ServerNode[];
  /** Hosts of those who decide, beside the data nodes, that a primary is to be replaced: Sentinels, a failover manager. */
  readonly watchers: readonly Host[];
  readonly settings: readonly Setting[];
  /** True where the data nodes replicate from a primary (so `primary`, `replica`, `lag` and `failover` mean something). */
  readonly replicated: boolean;
  readonly quorum: Quorum;
  /**
   * What a primary that was replaced but still runs does to its clients: it `keeps` them until it hears of its
   * successor, or they `leave` it at once (a virtual IP moved away; a Cluster node that is cut off stops writing).
   */
  readonly replacedPrimary: 'keeps' | 'leave';
  /** Absent: it has no slots. */
  readonly slots?: HashSlots;
  describe(): TopologyDescription;
  /**
   * Asked of the servers, never remembered: the shards on whose primary the deployment agrees. One for a replicated
   * deployment, several for a Cluster; empty where there is no such thing, or while none is agreed on.
   */
  shards(): Promise<Shard[]>;
  /** What is still missing until the deployment is ready, in words; empty when it is. Observed from the servers. */
  missing(): Promise<string[]>;
}

/** Services beside Redis. */
export type OtherService = 'etcd' | 'zookeeper' | 'postgres' | 'mariadb' | 'mysql' | 'mongodb';

/** What is deployed: Redis (and Valkey, which takes the same settings and commands), or another service. */
export type ServiceName = 'redis' | OtherService;

/** What every run of a service has in common: its driver. */
export interface Service {
  readonly name: ServiceName;
  /** As people write it. */
  readonly title: string;
  /** Its deployments, by what flags call them beside `--service`; the first is the default. */
  readonly topologies: Readonly<Record<string, TopologyKind>>;
  /** Finds its program, or fetches it. Rejects with an error for the user, with the remedy. */
  find(options: FindServer): Promise<RedisBinary>;
  /** As `find`, but fetches nothing: undefined where that would. */
  findHere(options: Omit<FindServer, 'say'>): Promise<RedisBinary | undefined>;
  readonly inContainers: ServerImage;
}

/** What servers are in containers. */
export interface ServerImage {
  /** A published image, taken where the user names none. */
  readonly image: string;
  /** The server there, the first of these that is: names on PATH, or paths, which may have stars. */
  readonly programs: readonly string[];
  /** Of Debian or Ubuntu, with it: for images that have none of these. */
  readonly packages: readonly string[];
  /** It refuses to be root. */
  readonly isNobody?: true;
  /** `path` is where that program is, on a host whose image is `image`, for messages. Rejects in one line where it is none that will do. */
  find(host: Pick<Host, 'exec' | 'listFolder'>, path: string, image: string): Promise<RedisBinary>;
}

/** Where to look for a server's program. */
export interface FindServer {
  /** The user's `--server`. */
  explicit?: string | undefined;
  cacheFolder: string;
  /** Is told of what takes long. */
  say(line: string): void;
}

/** Whether a lock can be safe on a deployment, as far as that is known (docs/which-lock.md). */
export interface SafetyOutlook {
  /** A sentence or two for people. */
  text: string;
  /** It says what the deployment keeps, which is not said of one that was seen to lose something. */
  promises: boolean;
}

export interface TopologyKind {
  readonly name: string;
  readonly service: ServiceName;
  /** Its servers ask for a password, which is drawn for each run. */
  readonly hasPassword?: true;
  /** What faults may need and cannot be had of this service, each with the reason. */
  readonly unavailable?: Partial<Record<Capability, string>>;
  readonly summary: string;
  readonly defaultLock: string;
  /** What a run is given by default, as `--nemesis` takes it; absent: what suits Redis. A fault after `?` only where time is left. */
  readonly defaultFaults?: readonly string[];
  /** How long leases are where holds are a mixture and nothing else is said, milliseconds; absent: as everywhere. */
  readonly mixedLeaseMs?: number;
  /** For how long a lock's client waits for the answer to one command, milliseconds; absent: as everywhere. */
  commandTimeoutMs?(leaseMs: number): number;
  readonly replicated: boolean;
  /** Whether a lock can be safe there, one that goes with a session or not; absent: nothing is known of that. */
  outlook?(of: { persistence: TopologyOptions['persistence']; bySession: boolean }): SafetyOutlook;
  /** Which kind of quorum its deployments have. */
  readonly quorum: Quorum['kind'];
  /** Whom an operator asks to let another node take the primary's place; absent: nothing can. */
  readonly plannedFailover?: PlannedFailover;
  /** The usual time from a primary's death to its replacement, where there is failover; milliseconds. */
  readonly expectedFailoverMs?: number;
  /** Names of the hosts that `start` needs. */
  hosts(options: TopologyOptions): { nodes: string[]; sentinels: string[]; managers: string[] };
  /** Starts every server on `hosts` (nodes first, then Sentinels, then managers) and resolves when observed ready; rejects with what is missing after a time-out. */
  start(hosts: readonly Host[], options: TopologyOptions, context: TopologyContext): Promise<Topology>;
}

export interface TopologyContext {
  clock: Clock;
  /** argv prefix and environment that run the server (an unpacked one needs its library path). */
  redis: RedisBinary;
  /** An address that no host has. */
  spareAddress: string;
  /** Absent: the kernel's. */
  ownNetwork?: OwnNetwork | undefined;
  /** Where servers speak TLS (`TopologyOptions.tls`). */
  authority?: Authority | undefined;
  readyTimeoutMs: number;
  /** One line for people: what a failover manager did. */
  say(line: string): void;
}

/** A server program: Redis; Valkey, which takes the same settings and commands; or that of another service. */
export interface RedisBinary {
  path: string;
  /** argv before `path`, where it is run by the loader that came with it. */
  loader?: string[] | undefined;
  env: Record<string, string>;
  version: string;
  /** Where it came from, for people: `--server`, `PATH`, `downloaded`. */
  origin: string;
  /** The user's `--server`, where that was a name such as `redis@8.0`. */
  asked?: string | undefined;
}

/** Commands that not every server has. */
export interface ServerNeeds {
  /** One of these, as `COMMAND INFO` names them. */
  oneOf: readonly string[];
  /** What is needed, where that is no command by itself: servers that have one of those know it. */
  what?: string;
  /** A server that has one, as `--server` takes it: used where the user names none. */
  server: string;
  /** A kind of server that has the command and does not keep what it promises, and how that shows. */
  notOn?: { kind: 'redis' | 'valkey'; because: string };
}

/** What can be run on some servers only. */
export interface WithServerNeeds {
  /** Absent: every server has what it needs. */
  serverNeeds?: ServerNeeds;
}

/** A command as MONITOR shows it. */
export interface MonitoredCommand {
  /** The server's wall clock, milliseconds since 1970. */
  serverWallMs: number;
  /** `address:port`, `lua`, `unix:path`, or EVICTION. */
  source: string;
  /** The database that it was about; absent: the first, 0. */
  db?: number;
  argv: string[];
}

/** A channel that follows a server until it is closed. */
export interface Monitoring {
  /** Resolves with the reason when nothing more will come. */
  readonly closed: Promise<string>;
  close(): void;
  /** What the server's clients do is recorded from here on: one that was started again, and waits for that, listens for them now. */
  letClientsIn?(): void;
}
