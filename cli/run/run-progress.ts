/** How a run is told while it goes on: lines, for people or machines, or what the live view is made of besides. */
import { mutualExclusion } from '../../checkers/exclusion/mutual-exclusion.js';
import type { Ledger } from '../../harness/record/facts/ledger.js';
import type { Plan } from '../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { Clock } from '../../harness/vocabulary/time.js';
import { judgesOfRun } from '../judge/workload-of.js';
import { type SnapshotChannel, startFeed } from '../live/feed.js';
import { createProgress, type Progress } from '../live/progress.js';

export interface RunProgress extends Progress, AsyncDisposable {
  /** Sends the live view, if there is one, how the run stands now. */
  send?(): void;
}

/** Where the run's facts come from, and where lines go, whole and without their end. */
export interface ToldOf {
  ledger: Ledger;
  clock: Clock;
  write(line: string): void;
}

/** `channel`: where snapshots for a live view go. */
export function progressOfRun(
  config: RunConfig,
  plan: Plan,
  { ledger, clock, write }: ToldOf,
  how: { json: boolean } | { channel: SnapshotChannel },
): RunProgress {
  if ('json' in how) return { ...createProgress(how.json, write), async [Symbol.asyncDispose]() {} };
  const exclusive = judgesOfRun(config).includes(mutualExclusion);
  return startFeed({ ...config, plan, exclusive }, ledger, clock, write, how.channel);
}
