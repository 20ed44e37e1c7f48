/** Everything that decides what a run does, and what checkers are given of it. */
import type { Plan } from './faults.js';
import type { History, Observations } from './history.js';
import type { Capability } from './host.js';
import type { LockModel } from './protocol.js';
import type { OtherService, RedisBinary, SafetyOutlook, TopologyOptions } from './topology.js';
import type { Blame, CheckerFindings, FailOn, PropertyWords, Violation } from './verdict.js';
import type { ClientHabit, HoldTimes, ResourceMode } from './workload.js';

/** Everything that decides what a run does: `config.json`. */
export interface RunConfig {
  version: 2;
  runId: string;
  startedAt: string;
  seed: number;
  topology: string;
  /** Whose topology it is; absent: Redis, or Valkey. */
  service?: OtherService;
  topologyOptions: TopologyOptions;
  runtime: string;
  /** As the user gave it; a file is relative to `cwd`. */
  lock: string;
  /** Where the user stood when typing the command. */
  cwd: string;
  /** The run that this one repeats, if any: its id. */
  replayOf?: string;
  workload: string;
  clients: number;
  /** Callers in each client process; absent: one. */
  callers?: number;
  keys: string[];
  /** How many turns a client slot takes at the most (`run/limited-turns.ts`), of those for which that is said; absent: all as many as fit. */
  turns?: Record<string, number>;
  /** How long a client program may take to start; absent: as the protocol says. */
  startsWithinMs?: number;
  leaseMs: number;
  waitMs: number;
  hold: HoldTimes;
  careless: boolean;
  /** Of a workload that has one. */
  resource?: ResourceMode;
  timeLimitMs: number;
  /** How a run by default was shortened, so that its verdict comes soon: in words; absent: not at all. */
  cut?: string;
  /** Faults asked for, as given (`failover`, `pause:client`); empty for none. */
  nemesis: string[];
  nemesisIntervalMs: number;
  failOn: FailOn[];
  /** Findings that were known before; absent: none. */
  known?: KnownFindings;
  /** Fewer of these cannot tell that the lock held; absent: what every run must have is enough. */
  atLeast?: LeastWorth;
  /** Whether it ends as soon as something that fails it is found. */
  stopAtFirst?: true;
  /** The scenario that is played, instead of a workload and a plan. */
  scenario?: string;
  redis: RedisBinary;
  /** The compiled clock shim; absent: clocks cannot be skewed (see `unavailable`). */
  clockShim?: string;
  /** The compiled durable shim; absent: a host cannot lose power (see `unavailable`). */
  durableShim?: string;
  /** The compiled link shaper; absent: links cannot be degraded (see `unavailable`). */
  linkShaper?: string;
  /** The compiled shim that gives servers virtual time, where a run has that. */
  simShim?: string;
  /** Of a run that was played in virtual time. */
  virtualTime?: VirtualTime;
  /** Of the docker runtime: the images that the user chose, and what was built from them for hosts. */
  containers?: { image: string; clientImage: string; built: { server: string; client: string } };
  /** Where the whole inside of the run lives in one container of the tool's image: that image, what it was made of, and by whom. */
  toolImage?: { base: string; image: string; command: string; rootless: boolean };
  /** argv that starts one lock client process; the handshake tells its name. */
  clientArgv: string[];
  /** Capabilities missing on this machine, with remedies, as probed before the run. */
  unavailable: Partial<Record<Capability, string>>;
  /** The command line that repeats this run, without the seed of chance. */
  reproduce: string;
}

/** Why a run's time is virtual, in words. */
export interface VirtualTime {
  /** `as asked`, or `this machine allows no network namespaces`. */
  why: string;
  /** What brings real time; absent: virtual time was asked for. */
  remedy?: string;
}

/** Findings that were known before a run, each by whom it blames, its class, kind and cause: `deployment/exclusion/overlap/failover-lost-write`. */
export interface KnownFindings {
  fingerprints: string[];
  /** Whether they fail nothing. */
  allowed: boolean;
}

/** So many holds, and so many strikes, of which the latter is for runs with faults. */
export interface LeastWorth {
  holds?: number;
  strikes?: number;
  /** Holds that a fault struck: asked for by earlier versions only, in records of which it stands. */
  struckHolds?: number;
}

export interface CheckInput {
  history: History;
  observations: Observations;
  config: RunConfig;
  plan: Plan;
  model: LockModel;
  /** Whether a lock can be safe on this deployment; absent: nothing is known of that. */
  outlook?: SafetyOutlook | undefined;
  /** Of a play: why it was not played to its end. */
  playTrouble?: string | undefined;
}

/** Says all of itself: the registry, headlines, reports, `list` and docs/checkers.md are made from this. */
export interface Checker {
  readonly name: string;
  /** One line for people: what is true of a run in which it found nothing, or what it measures. */
  readonly summary: string;
  /** What it decides; none: it only measures. Of each class at most one. */
  readonly properties: readonly CheckerProperty[];
  /** Which runs it judges. */
  readonly judges: {
    /** Workloads whose clients take the lock for one of these. */
    readonly models: 'all' | readonly LockModel['kind'][];
    /** Plays of scenarios. */
    readonly plays: boolean;
    /** Of these only runs whose clients do this; absent: all. */
    readonly habit?: ClientHabit;
  };
  /** It asks of a run what only its end can show, so what it finds in a run that still goes on means nothing. */
  readonly atTheEnd?: true;
  /** Pure. */
  check(input: CheckInput): CheckerFindings;
}

export interface CheckerProperty extends PropertyWords {
  /** Every kind of finding that breaks it, by `Violation.kind`. */
  readonly kinds: Readonly<Record<string, FindingKind>>;
}

export interface FindingKind {
  /** What a headline says of so many: `Not fair: 3 clients overtaken in the queue`. `first` is the first of them. */
  headline(count: number, first: Violation): string;
  /** When exactly a lock is accused of it, for the docs. */
  readonly accusedIf: string;
  /** Set where such a finding is the lock's own mistake though no cause is named that says so. */
  readonly ownMistake?: OwnMistake;
}

/** Why nothing but the lock can have done it: the checker leaves out whatever else could, or the servers' record excludes it. */
export interface OwnMistake extends Omit<Blame, 'on'> {
  /**
   * Only where the record shows that (`checkers/causes/kept.ts`): the servers kept all that they had stored, and (where it matters
   * when keys end) none of their clocks moved; or whatever a lease or a declared deadline keeps had ended.
   */
  readonly onlyIf?: 'servers kept all' | 'servers kept all, by steady clocks' | 'all leases had ended';
  /**
   * From when on they kept all: since the first event that the finding names; or since the last of its holds was asked for by the
   * attempt that was granted, until the last event that it names; absent: in the whole run until then.
   */
  readonly since?: 'its evidence' | 'its last hold';
}
