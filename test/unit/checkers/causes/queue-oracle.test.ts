/**
 * Why a fair lock passed its queue over, and who was in the way of a free lock: what is named was true, as a small model of a
 * server with a queue knows it (`queue-oracle/`). As `oracle.test.ts` does for overlaps and tokens.
 */
import { expect, it } from 'vitest';
import { fifo } from '../../../../checkers/liveness/fifo.js';
import { starved } from '../../../../checkers/liveness/starved.js';
import { ORACLES } from './every-cause.js';
import { setups } from './queue-oracle/drawing.js';
import { play, type Run } from './queue-oracle/run.js';
import { trueBlocker, truePassing } from './queue-oracle/truth.js';
import { isDeep, type Tried, tried } from './tried.js';

/** So many of either sort of record, and a hundred times as many in the deep layer. */
const RUNS = 50;

/** Each comes about by itself in every draw. */
const EVERY = ['granted-past-queue', 'place-removed', 'queue-head-gone', 'prolonged-too-long'];
/** Each comes about some times in a thousand runs. */
const RARE = isDeep ? ORACLES['queue-oracle.test.ts'] : [];

function judged(run: Run): Tried[] {
  const acquire = (client: string, id: number) => run.acquires.find((one) => one.client === client && one.id === id)!;
  return [fifo, starved]
    .flatMap((checker) => checker.check(run.input).violations)
    .map((finding) => {
      const [by, waiter] = finding.holds;
      const truth =
        finding.kind === 'starved'
          ? trueBlocker(finding.fromNs, finding.untilNs, run)
          : truePassing(acquire(waiter!.client, waiter!.id), acquire(by!.client, by!.id), run);
      return { finding, truth };
    });
}

it.each([
  ['whole', true],
  ['full of gaps', false],
])('names only causes that were true, of a record that is %s', (_, isWhole) => {
  const { told, share, names } = tried(RUNS, setups(isWhole), (setup) => judged(play(setup)));
  if (!isWhole) return;
  expect(share, told).toBeGreaterThan(0.9);
  for (const cause of [...EVERY, ...RARE]) expect(names.get(cause) ?? 0, `${cause}: ${told}`).toBeGreaterThanOrEqual(1);
});
