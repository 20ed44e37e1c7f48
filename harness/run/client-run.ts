/** What lock client processes need of the run that they are in. */
import type { Recorder } from '../record/recorder.js';
import type { Clock } from '../vocabulary/time.js';
import type { HoldLedger } from '../vocabulary/verdict.js';
import type { AcquireDoubts } from './acquire-doubts.js';
import type { StepStops } from './step-stops.js';

/** What a client process needs of its run. */
export interface ClientRun {
  clock: Clock;
  recorder: Pick<Recorder, 'record'>;
  /** Has every event that was recorded. */
  ledger: HoldLedger;
  /** Raw CLOCK_MONOTONIC nanoseconds of the run's epoch. */
  epochNs: number;
  clientArgv: readonly string[];
  leaseMs: number;
  /** How many callers there are in a process; absent: one. */
  callers?: number;
  /** What an operation may take on top of the wait that it was given, before its outcome is unknown. */
  operationGraceMs: number;
  /** Where operations are to stop, beside those that say it themselves. */
  stops: StepStops;
  doubts: AcquireDoubts;
  /** One line for people: a client that died by itself, printed garbage, ... */
  say(line: string): void;
}
