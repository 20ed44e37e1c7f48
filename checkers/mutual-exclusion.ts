/**
 * Did two clients ever hold one key at once? Decides from the history alone; observations only name causes.
 *
 * Promises: every pair of proven holds that overlapped is counted, as exclusion broken or stale holder, and none is accused
 * on time that is not proven held (`holds.ts`) or within the margin of a lease's end (`margin.ts`). What a disturbance of
 * the machine or the harness could have made or hidden is "cannot tell" (`doubts.ts`).
 *
 * Excludes: harm done to a resource, failed tries (they never accuse by themselves), fencing tokens. A grant that came after
 * its own lease had ended is counted, but is a violation only where it made two clients hold at once.
 */
import type { Checker, CheckInput, Hold, Violation, ViolationClass } from '../harness/api.js';
import { causeOf } from './causes.js';
import { Doubts } from './doubts.js';
import { Evidence } from './evidence.js';
import { holdsOf } from './holds.js';
import { operationsOf, stampBreaches } from './operations.js';
import { type Overlap, overlapsOf } from './overlaps.js';
import { length, moment, plural } from './words.js';

/** Among the notes: which procedure decided. */
export const PROCEDURE = 'decided by a sweep over the certain parts of all holds, key by key';

export const mutualExclusion: Checker = (input) => {
  const operations = operationsOf(input.history);
  const holds = holdsOf(input.history);
  const doubts = new Doubts(input.history, operations);

  const certain: Overlap[] = [];
  const doubtful: { class: ViolationClass; text: string }[] = [];
  for (const overlap of overlapsOf(holds)) {
    const doubt = doubts.about(overlap);
    if (!doubt) certain.push(overlap);
    else
      doubtful.push({
        class: overlap.class,
        text: `an overlap that need not be the lock's doing: ${proofOf(overlap)} But ${doubt}`,
      });
  }
  const violations = explained(certain, input);
  const failing = (found: { class: ViolationClass }) => input.config.failOn.includes(found.class);
  // Findings that do not fail the run must not hide that it cannot be told whether there were others that do.
  const fails = violations.some(failing);
  const hidden = fails ? undefined : doubts.aboutPassing();
  const unknown = !fails && (hidden !== undefined || doubtful.some(failing));
  return {
    checker: 'mutual-exclusion',
    verdict: unknown ? 'unknown' : violations.length > 0 ? 'invalid' : 'valid',
    notes: [
      ...doubtful.filter(failing).map(({ text }) => text),
      ...(hidden === undefined ? [] : [`an overlap may be hidden: ${hidden}`]),
      ...doubtful.filter((one) => !failing(one)).map(({ text }) => text),
      ...stampNotes(input, operations),
      PROCEDURE,
    ],
    violations,
    stats: {
      holds: holds.length,
      exclusion: certain.filter((overlap) => overlap.class === 'exclusion').length,
      stale: certain.filter((overlap) => overlap.class === 'stale').length,
      doubtful: doubtful.length,
      grantedLate: holds.filter((hold) => hold.fromNs > hold.leaseEndNs).length,
    },
  };
};

function explained(overlaps: readonly Overlap[], input: CheckInput): Violation[] {
  if (overlaps.length === 0) return [];
  const evidence = new Evidence(input);
  return overlaps.map((overlap) => ({
    class: overlap.class,
    kind: 'overlap',
    key: overlap.first.key,
    fromNs: overlap.fromNs,
    untilNs: overlap.untilNs,
    holds: [overlap.first, overlap.second],
    evidence: [...new Set([...overlap.first.evidence, ...overlap.second.evidence])].sort((a, b) => a - b),
    proof: proofOf(overlap),
    cause: causeOf(overlap, evidence, input),
  }));
}

/** "c1 certainly held lock:0 from 3.120 s to 5.000 s (lease until 7.001 s); c4 ...; both leases ran for 712 ms." */
function proofOf(overlap: Overlap): string {
  const { first, second } = overlap;
  const held = (hold: Hold, what: string) =>
    `${hold.client} certainly held ${what} from ${moment(hold.fromNs)} to ${moment(hold.untilNs)} (lease until ${moment(hold.leaseEndNs)})`;
  const long = length(overlap.untilNs - overlap.fromNs);
  const conclusion =
    overlap.class === 'exclusion'
      ? `both leases ran for ${long}`
      : `${overlap.stale.client} acted on for ${long} after its lease had ended, beside ${overlap.stale === first ? second.client : first.client}`;
  return `${held(first, first.key)}; ${held(second, 'it')}; ${conclusion}.`;
}

function stampNotes({ history }: CheckInput, operations: ReturnType<typeof operationsOf>): string[] {
  const breaches = [...stampBreaches(history, operations).values()];
  const notes = breaches.map(
    ({ client, history: at, text }) =>
      `${client} is held to the harness's stamps: its own cannot be true (history ${at}: ${text})`,
  );
  const unstamped = new Set(
    operations.flatMap(({ completion }) =>
      completion?.type === 'ok' && completion.endedNs === undefined ? [completion.client] : [],
    ),
  );
  if (unstamped.size > 0)
    notes.push(
      `${plural(unstamped.size, 'client')} without own stamps held to the harness's: time asleep may go unseen`,
    );
  return notes;
}
