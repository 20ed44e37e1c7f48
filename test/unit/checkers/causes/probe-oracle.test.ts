/**
 * What the probe at the end says was in its way was in its way, as a small model of a server with a queue knows it
 * (`queue-oracle/`): runs of a fair lock that are over after four seconds, and then probed as the harness does it.
 */
import { expect, it } from 'vitest';
import { liveness } from '../../../../checkers/liveness/liveness.js';
import { PROBED } from './every-cause.js';
import { probedSetups } from './queue-oracle/drawing.js';
import { play } from './queue-oracle/run.js';
import { trueDeadlock } from './queue-oracle/truth.js';
import { isDeep, tried } from './tried.js';

/** So many of either sort of record, and a hundred times as many in the deep layer. */
const RUNS = 50;

/** Each comes about by itself in every draw. */
const EVERY = ['key-never-expires', 'prolonged-too-long', 'queue-head-gone'];

it.each([
  ['whole', true],
  ['full of gaps', false],
])('names only what was in the way of the probe, of a record that is %s', (_, isWhole) => {
  const { told, share, names } = tried(RUNS, probedSetups(isWhole), (setup) => {
    const run = play(setup);
    return liveness.check(run.input).violations.map((finding) => {
      const truth = trueDeadlock(finding.untilNs, run);
      // A string that stands beside the queue may always be what refuses them, as far as the record tells.
      const isHidden = setup.program.marksFree === true && truth.has('queue-head-gone');
      return { finding, truth, isHidden };
    });
  });
  if (!isWhole) return;
  expect(share, told).toBeGreaterThan(0.9);
  for (const cause of isDeep ? PROBED : EVERY)
    expect(names.get(cause) ?? 0, `${cause}: ${told}`).toBeGreaterThanOrEqual(1);
});
