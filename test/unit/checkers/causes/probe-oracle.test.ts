/**
 * What the probe at the end says was in its way was in its way, as a small model of a server with a queue knows it
 * (`queue-oracle/`): runs of a fair lock that are over after four seconds, and then probed as the harness does it.
 */
import { expect, it } from 'vitest';
import { liveness } from '../../../../checkers/liveness/liveness.js';
import { PROBED } from './every-cause.js';
import { probedSetups } from './queue-oracle/drawing.js';
import { play, type Setup } from './queue-oracle/run.js';
import { trueDeadlock } from './queue-oracle/truth.js';
import { type Tried, tried } from './tried.js';

/** So many of either sort of record, and a hundred times as many in the deep layer. */
const RUNS = 50;

function judged(setup: Setup): Tried[] {
  const run = play(setup);
  return liveness.check(run.input).violations.map((finding) => {
    const truth = trueDeadlock(finding.untilNs, run);
    // A string that stands beside the queue may always be what refuses them, as far as the record tells.
    const isHidden = setup.program.marksFree === true && truth.has('queue-head-gone');
    return { finding, truth, isHidden };
  });
}

it.each([
  ['whole', true],
  ['full of gaps', false],
])('names only what was in the way of the probe, of a record that is %s', (_, isWhole) => {
  const { told, share } = tried(RUNS, probedSetups(isWhole), judged);
  if (isWhole) expect(share, told).toBeGreaterThan(0.9);
});

/** So many runs of a program with one mistake come to each. */
const OF_EACH = 10;

it.each(Object.entries(PROBED))('names %s where a program comes to it', (cause, mistake) => {
  const sound = { ttlFactor: 1, renews: 'never', prolongs: false, queues: 'soundly', marksFree: false } as const;
  const setups = probedSetups(true).map((setup): Setup => {
    const program = { ...setup.program, ...sound, ...mistake };
    return { ...setup, program, older: {} };
  });
  const { told, names } = tried(OF_EACH, setups, judged);
  expect(names.get(cause) ?? 0, told).toBeGreaterThanOrEqual(1);
});
