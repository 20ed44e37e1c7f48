/**
 * Why a fair lock passed its queue over, and who was in the way of a free lock: what is named was true, as a small model of a
 * server with a queue knows it (`queue-oracle/`). As `oracle.test.ts` does for overlaps and tokens.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fifo } from '../../../../checkers/liveness/fifo.js';
import { starved } from '../../../../checkers/liveness/starved.js';
import type { Violation } from '../../../../harness/vocabulary/verdict.js';
import { cases, SEED } from '../../../support/drawn.js';
import { ORACLES } from './every-cause.js';
import { setups } from './queue-oracle/drawing.js';
import { play, type Run } from './queue-oracle/run.js';
import { trueBlocker, truePassing } from './queue-oracle/truth.js';

const isDeep = process.env.LOCK_TORTURE_DEEP === '1';
const seed = isDeep && process.env.LOCK_TORTURE_SEED === undefined ? Math.floor(Math.random() * 2 ** 31) : SEED;
/** So many of either sort of record, and a hundred times as many in the deep layer. */
const RUNS = 50;

/** Each comes about by itself in every draw. */
const EVERY = ['granted-past-queue', 'place-removed', 'queue-head-gone', 'prolonged-too-long'];
/** Each comes about some times in a thousand runs. */
const RARE = isDeep ? ORACLES['queue-oracle.test.ts'] : [];

function judged(run: Run): { finding: Violation; truth: Set<string> }[] {
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
])('names only causes that were true, of a record that is %s', (word, isWhole) => {
  const named = new Map<string, number>();
  let [explicable, explained] = [0, 0];
  fc.assert(
    fc.property(setups(isWhole), (setup) => {
      for (const { finding, truth } of judged(play(setup))) {
        const { name, sentence, chain } = finding.cause;
        if (truth.size > 0) explicable++;
        if (truth.size > 0 && name !== 'unexplained') explained++;
        named.set(name, (named.get(name) ?? 0) + 1);
        if (name === 'unexplained' || truth.has(name)) continue;
        const links = chain.map(({ atNs, text }) => `${atNs / 1e9} s: ${text}`).join('\n');
        throw new Error(
          `${finding.kind} is said to be "${name}"; true was ${[...truth].join(', ') || 'none'}.\n${finding.proof}\n${sentence}\n${links}`,
        );
      }
    }),
    { numRuns: cases(RUNS), seed },
  );
  const told = `explained ${explained} of ${explicable}; ${[...named].map(([name, times]) => `${name}: ${times}`).join(', ')}`;
  if (isDeep) console.log(`seed ${seed}, record ${word}: ${told}`);
  if (!isWhole) return;
  expect(explained / explicable, told).toBeGreaterThan(0.9);
  for (const cause of [...EVERY, ...RARE]) expect(named.get(cause) ?? 0, `${cause}: ${told}`).toBeGreaterThanOrEqual(1);
});
