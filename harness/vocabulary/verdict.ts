/** What checkers find: violations with their evidence and cause, measurements, and a run's results. */
import type { LockMode } from './protocol.js';

export type ViolationClass = 'exclusion' | 'stale' | 'harm' | 'liveness';

/** Whose mistake a finding is; `unexplained`: that is not proven. */
export type BlameName = 'lock' | 'unexplained' | 'deployment' | 'lease';

/** Whose mistake a finding is, and by which piece of theory. */
export interface Blame {
  on: BlameName;
  /** One sentence: what such a lock must do, or what prevents it or makes it rarer. */
  theory: string;
  /** Where to read more. */
  link?: string;
}

/** What fails a run: findings of a class, or the lock's own mistakes, whatever their class. */
export type FailOn = ViolationClass | Extract<BlameName, 'lock'>;

/**
 * The time during which one client acted as the holder, and what its lease covered. All in ns since the epoch.
 * `[fromNs, leaseEndNs)` is held with a running lease, `[leaseEndNs, untilNs)` (if any) is stale.
 */
export interface Hold {
  client: string;
  key: string;
  /** Id of the acquire. */
  id: number;
  /** Acquire's `ended`. */
  fromNs: number;
  /** The earliest of release began, client killed, `lost`; the history's end if none. */
  untilNs: number;
  endedBy: 'release' | 'client-down' | 'lost' | 'history-end';
  /** Last successful grant or renewal sent + lease. */
  leaseEndNs: number;
  grantSentNs: number;
  leaseMs: number;
  /** As asked for; absent: exclusive. */
  mode?: LockMode;
  token?: number;
  validForMs?: number;
  /** History indexes of everything that made it: acquire invoke and ok, renewals, release invoke, client-down. */
  evidence: number[];
  /** Result of the release, where it is known. */
  released?: 'ok' | 'fail' | 'info';
}

/** A hold that is not known to be over, while the run goes on. Times in ns since the epoch. */
export interface OpenHold {
  readonly client: string;
  readonly key: string;
  /** Id of the acquire. */
  readonly id: number;
  /** When the acquire was sent, and when the harness read the grant. */
  readonly invokedNs: number;
  readonly grantedNs: number;
  /** As in `Hold`. */
  readonly fromNs: number;
  readonly grantSentNs: number;
  /** Set once its release was sent: whether it still holds is not known until that is answered. */
  readonly releaseSentNs?: number;
  /** Set once its client was told that it lost the lock: when it was told. */
  readonly lostNs?: number;
}

/** What is known of holds while the run goes on (`harness/record/facts/ledger.ts`), to be looked at only. */
export interface HoldLedger {
  /** Holds of clients that are alive (or of that client) whose release was not answered, oldest grant first. */
  open(client?: string): OpenHold[];
  /** One of them by the id of its acquire. */
  find(client: string, id: number): OpenHold | undefined;
  /** Called for each grant from now on, as it is recorded. Call the result to stop. */
  onGrant(listener: (hold: OpenHold) => void): () => void;
}

export type CauseName =
  | 'failover-lost-write'
  | 'failover-lost-renewal'
  | 'node-forgot'
  | 'clock-jumped'
  | 'released-by-other'
  | 'client-paused'
  | 'client-cut-off'
  | 'client-slow'
  | 'granted-late'
  | 'adopted-stale-key'
  | 'token-drawn-early'
  | 'unexplained'
  | (string & {});

/** Why it happened, as a chain of evidence; each link says when, who and which line shows it. */
export interface Cause {
  name: CauseName;
  /** The cause in a few words: `failover lost the write`. Absent as a checker finds it, and in results of earlier versions. */
  phrase?: string;
  /** One sentence for people. */
  sentence: string;
  chain: CauseLink[];
}

export interface CauseLink {
  atNs: number;
  text: string;
  /** History line, or line of observations.jsonl. */
  history?: number;
  observation?: number;
}

export interface Violation {
  class: ViolationClass;
  /** `overlap`, `deadlock`, ... */
  kind: string;
  key: string;
  /** The overlap itself; for other kinds both bounds of what was wrong. */
  fromNs: number;
  untilNs: number;
  /** The two holds of an overlap, earlier grant first; of one more than there are permits, all. */
  holds: Hold[];
  /** History indexes. */
  evidence: number[];
  /** The proof in one sentence. */
  proof: string;
  cause: Cause;
  /** Absent as a checker finds it, and in results of earlier versions; all violations of a judged run have it. */
  blame?: Blame;
  /** Set where such findings were known before the run: whether they fail it all the same. */
  known?: 'fails' | 'allowed';
}

/** One thing that a checker decides, in the words of a user: a sentence for each way it can come out. */
export interface PropertyWords {
  /** Findings of this class break it. Absent: no lock can break it, but it can be left open whether the run is worth a verdict. */
  class?: ViolationClass;
  /** `No lock was held by more clients at once than it allows, while their leases ran`. */
  holds: string;
  /** Where it is broken; without a class: where it is left open. */
  broken: string;
}

/** What one checker found. */
export interface CheckerFindings {
  verdict: 'valid' | 'invalid' | 'unknown';
  /** Why it is unknown, or which procedure decided. */
  notes: string[];
  violations: Violation[];
  /** How many there are of each class, where `violations` has only the first of them; absent: it has all. */
  found?: Partial<Record<ViolationClass, number>>;
  /** Classes of which it cannot be determined whether there is more than was found, though the verdict is `invalid`. */
  open?: ViolationClass[];
  /** Why there was nothing to judge, though the verdict is `valid`: a report must not call that a pass. */
  notJudged?: string;
  /** Why it is worth little, though the verdict is `valid`: a report must not call that a pass without saying so. */
  weak?: string;
  /** What a second procedure says of the same; absent: none was asked, or in results of earlier versions. */
  second?: SecondProcedure;
  /** Counters for the report. */
  stats: Record<string, number>;
  /** What was measured; never decides. */
  measurements?: Measurement[];
}

/** What a second procedure decided of the keys of a run, beside the one that accuses. */
export interface SecondProcedure {
  /** Of how many keys both say the same. */
  agreed: number;
  /** Keys that only one of them decided, each with the reason. */
  open: string[];
  /** Where they say the contrary, with both proofs: of these nothing is told. */
  disagreed: string[];
}

/** As `results.json` has it: with the name of the checker, and what it decides in words. */
export interface CheckerResult extends CheckerFindings {
  checker: string;
  /** Absent in results of earlier versions; empty: it only measures. */
  properties?: PropertyWords[];
}

/** A history's verdict under one reading of what such histories leave open. */
export interface ReadingResult {
  /** `strict`, `lease`, ... */
  reading: string;
  /** For people. */
  title: string;
  verdict: 'valid' | 'invalid' | 'unknown';
  /** Which procedures decided. */
  procedure: string;
  /** How many findings there are, pair by pair, over all keys. */
  found: number;
  /** The first of them, a sentence each. */
  proofs: string[];
  notes: string[];
}

/** One thing that was measured, for tables and plots. */
export interface Measurement {
  /** `recovery`, `availability`, `latency`, `loss-to-notice`, ... */
  name: string;
  /** Whom or what it is about, for people: "failover of r1 (step 2 of the plan)", "acquires that were refused". */
  of: string;
  key?: string;
  /** The time that it is about, where it is not the whole run. */
  fromNs?: number;
  untilNs?: number;
  /** By name with the unit last: `p99Ms`, `count`, `availablePercent`. */
  values: Record<string, number>;
  /** History lines, or none where they would be too many. */
  evidence: number[];
}

/** How long a hold lasted, in parts of its lease: less than a tenth, less than a third, up to the lease, longer. */
export type HoldLength = 'brief' | 'short' | 'long' | 'over';

/**
 * Holds by how long they lasted, how many of them each fault struck, and in how many strikes: one that two struck counts for both.
 */
export interface StruckByFault {
  /** All of them, struck or not. */
  holds: Record<HoldLength, number>;
  /** Each fault of the plan, `:client` behind its name where it was on clients. */
  faults: {
    fault: string;
    struck: Record<HoldLength, number>;
    /** In how many strikes it met such a hold; absent in results of earlier versions. */
    strikes?: Record<HoldLength, number>;
  }[];
}

/** What every report begins with, in words for anybody. */
export interface VerdictWords {
  /**
   * The verdict, and whose mistake it is: `VIOLATED by the lock`, `HELD in 64 strikes (412 holds struck)`, or for what only `--fail-on` or
   * `--known-ok` lets through `PASSED, WITH 81 DOUBLE HOLDS ALLOWED BY --fail-on lock`.
   */
  verdict: string;
  /** What was found of the lock's own, or that nothing was, and what that is worth. */
  lock: string;
  /** What servers lost or gave away, and whether such a lock can be safe on them. */
  deployment: string;
  /** Who went on past a lease, and what contains that. */
  leases: string;
  /** Where no mistake of the lock was found and that is worth little: the command that makes it worth more. */
  stronger?: string;
}

export interface Results {
  version: 2;
  runId: string;
  verdict: 'held' | 'violated' | 'unknown';
  exitStatus: 0 | 1 | 2;
  /** Absent in results of earlier versions (`facts/verdict-words.ts` has words for these). */
  words?: VerdictWords;
  /** One sentence. */
  headline: string;
  /** Why unknown, what weakens the verdict, what was left out. */
  reasons: string[];
  /**
   * In the order in which they are reported and numbered (`facts/classes.ts`): what fails the run first, of that the lock's own
   * mistakes, of these one of each kind and cause, the gravest first.
   */
  violations: Violation[];
  /**
   * Whether anything is the lock's own mistake, whatever fails the run; `unknown`: it cannot be told. What `--fail-on lock` decides
   * by. Absent in results of earlier versions.
   */
  ownMistakes?: 'found' | 'none' | 'unknown';
  /** What cannot be told of what may fail the run: where nothing fails it, it is unknown for these. Absent: nothing. */
  open?: string[];
  checkers: CheckerResult[];
  /** Violations by class, all of them, failing or not. */
  found: Partial<Record<ViolationClass, number>>;
  /** Whether it can be explained at all, under each reading of what histories leave open. Beside the verdict; decides nothing. */
  readings: ReadingResult[];
  /** How much a pass is worth: "0 of 9 strikes violated; at most 28 % at 95 % (41 holds struck)". */
  strength?: string;
  /** That it was played in virtual time, why, what brings real time, and how it was shortened: in words. Absent: in real time. */
  virtualTime?: string;
  stats: Record<string, number>;
  /** What its faults struck; absent: none were planned, or the results are of an earlier version. */
  struck?: StruckByFault;
  /** The command that runs it again. */
  reproduce: string;
}

/** What `--json` prints and `torture()` resolves with: the verdict and each violation without its line-by-line evidence, which results.json has. */
export interface JsonSummary {
  version: 2;
  runId: string;
  verdict: Results['verdict'];
  exitStatus: Results['exitStatus'];
  words: VerdictWords | null;
  headline: string;
  reasons: string[];
  strength: string | null;
  /** That it was played in virtual time, and why; null: in real time. */
  virtualTime: string | null;
  found: Results['found'];
  violations: {
    class: ViolationClass;
    kind: string;
    key: string;
    fromNs: number;
    untilNs: number;
    clients: string[];
    what: string;
    proof: string;
    cause: string;
    why: string;
    blame: Blame | null;
    known: NonNullable<Violation['known']> | null;
  }[];
  /** Whether anything is the lock's own mistake, whatever fails the run; `unknown`: it cannot be told. */
  ownMistakes: 'found' | 'none' | 'unknown';
  checkers: Record<string, 'valid' | 'invalid' | 'unknown'>;
  stats: Record<string, number>;
  /** The run's own. */
  folder: string;
  /** The report's path; null where none could be written. */
  report: string | null;
  reproduce: string;
}
