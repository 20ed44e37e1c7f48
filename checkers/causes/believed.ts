/** Whether the record has all that a server did in some time, and says when: by how it was watched, its process, and its clock. */
import { clockMovesOf, mayMoveBetween } from '../../harness/record/facts/clock-moves.js';
import { type Evidence, OBSERVED_WITHIN_NS } from '../../harness/record/facts/evidence.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import { READING_MS } from './meanwhile.js';

/** A clock that is off by more than this from one sample to the next was moved. */
const MOVED_MS = 3;

/**
 * Whether what a node was seen to do between the two instants is all that it did, and its stamps say when. `readWithinNs`: so
 * long after its end a command may have been read; 0 where that is when a line of the node's own was read, for it prints them
 * in order. `clock`: of one that stands still while it is off, stamps say only how far apart two commands ran.
 */
export function isBelieved(
  node: string,
  beganNs: number,
  endedNs: number,
  evidence: Evidence,
  readWithinNs = OBSERVED_WITHIN_NS,
  clock: 'right' | 'still' = 'right',
): boolean {
  if (evidence.isClockContradicted) return false;
  const [fromNs, untilNs] = [beganNs - RECKONING_NS, endedNs + readWithinNs];
  if (!evidence.watchedThroughout(node, fromNs, untilNs)) return false;
  const [before, after] = [evidence.lastSample(node, fromNs), evidence.firstSample(node, untilNs, () => true)];
  if (!before || !after) return false;
  const moved = clockMovesOf(evidence.effects, node).some((move) =>
    clock === 'still'
      ? mayMoveBetween(move, before[1].atNs, after[1].atNs)
      : move.span.earliestNs <= after[1].atNs && move.span.latestNs >= before[1].atNs,
  );
  const samples = evidence.samples(node, before[1].atNs, after[1].atNs).map(([, sample]) => sample);
  const skews = samples.map(({ skewMs }) => skewMs);
  const mostMs = clock === 'still' ? READING_MS : MOVED_MS;
  return (
    !moved &&
    Math.max(...skews) - Math.min(...skews) <= mostMs &&
    // Of a step of the machine's clock no look at a server tells: both go with it.
    evidence.machineMovedMs(fromNs, untilNs) <= mostMs &&
    samples.every(({ runId }) => runId === before[1].runId)
  );
}
