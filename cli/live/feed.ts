/**
 * The inner process's side of the live view: counts along, and several times a second sends how the run stands to the
 * outer process, which has the terminal.
 *
 * Promises: never waits for its reader. A terminal that stands still (Ctrl-S, a slow connection) loses snapshots;
 * it must not hold up the run, whose stalls weaken its verdict.
 */
import type { Ledger } from '../../harness/record/facts/ledger.js';
import { duration } from '../../harness/record/facts/words.js';
import { visible } from '../../harness/record/schemas/foreign-text.js';
import type { Clock } from '../../harness/vocabulary/time.js';
import type { EndedOverlap } from './contention.js';
import { eventLines, type Progress, stamped } from './progress.js';
import { type RunFacts, RunState, type Snapshot } from './run-state.js';

/** One line of the channel, as JSON: how the run stands, or what is done with its record. */
export type FeedMessage = { snapshot: Snapshot } | { step: AfterRun };

/** What follows the judging of a run, of which its last snapshot tells. */
export type AfterRun = 'report';

/** Tells the live view what is done with the run's record from now on. */
export function sendStep(channel: Pick<SnapshotChannel, 'write'>, step: AfterRun): void {
  channel.write(`${JSON.stringify({ step } satisfies FeedMessage)}\n`);
}

/** Where snapshots go: a stream, or what is like one. */
export interface SnapshotChannel {
  /** What is still on its way. */
  readonly writableLength: number;
  write(line: string): unknown;
}

export interface Feed extends Progress, AsyncDisposable {
  /** Sends how the run stands now, if the last one is on its way. */
  send(): void;
}

const EVERY_MS = 200;
/** A lock that never excludes would scroll everything else away; the live view counts on. */
const MOST_OVERLAPS_TOLD = 3;

/**
 * Starts sending; disposing stops. The ledger must have each event before `event` is called with it. `write` gets whole
 * lines without their end, `channel` the snapshots.
 */
export function startFeed(
  facts: RunFacts,
  ledger: Ledger,
  clock: Clock,
  write: (line: string) => void,
  channel: SnapshotChannel,
): Feed {
  let overlapsTold = 0;
  const say = (line: string) => write(visible(line));
  const lineOf = eventLines();
  const state = new RunState(facts, ledger, (overlap) => {
    overlapsTold++;
    if (overlapsTold <= MOST_OVERLAPS_TOLD) say(stamped(clock.nowNs(), overlapLine(overlap)));
    if (overlapsTold === MOST_OVERLAPS_TOLD) say(stamped(clock.nowNs(), '         more overlaps are only counted'));
  });
  const send = () => {
    if (channel.writableLength > 0) return;
    const message: FeedMessage = { snapshot: state.snapshot(clock.nowNs()) };
    channel.write(`${JSON.stringify(message)}\n`);
  };
  const stop = new AbortController();
  const sending = (async () => {
    while (!stop.signal.aborted) {
      send();
      await clock.sleep(EVERY_MS, stop.signal);
    }
  })();
  return {
    say,
    event(event) {
      state.event(event);
      const line = lineOf(event);
      if (line !== undefined) say(line);
    },
    send,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await sending;
    },
  };
}

function overlapLine({ class: kind, key, first, second, lengthNs }: EndedOverlap): string {
  const how = kind === 'exclusion' ? 'while both leases ran' : 'one of them past its lease';
  return `overlap  ${key}: ${first} and ${second} held it at once for ${duration(lengthNs)}, ${how} (preliminary)`;
}
