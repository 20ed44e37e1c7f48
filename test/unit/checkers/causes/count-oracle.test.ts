/**
 * Why a semaphore had one holder too many: what is named was true, as a small model of a server with a number of permits knows it
 * (`count-oracle/`). As `oracle.test.ts` does for locks of one holder.
 */
import { expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { play, type Setup, setups, trueCauses } from './count-oracle/run.js';
import { ORACLES } from './every-cause.js';
import { tried } from './tried.js';

const judged = (setup: Setup) => {
  const run = play(setup);
  return mutualExclusion
    .check(run.input)
    .violations.filter(({ class: name }) => name === 'exclusion')
    .map((finding) => {
      const truth = trueCauses(finding.holds, run);
      return { finding, truth, isHidden: !run.isTold };
    });
};
function namesOnlyTrue(findings: ReturnType<typeof judged>): void {
  expect(findings.length).toBeGreaterThan(10);
  for (const { finding, truth } of findings) expect(['unexplained', ...truth]).toContain(finding.cause.name);
}
const named = (isWhole: boolean) => tried(50, setups(isWhole), judged);

it('names only causes that were true, of a record that is whole', () => {
  const { told, share, names } = named(true);
  // Not all: what a client may have given back to an earlier number, or to none, is not told, nor what several ends did together.
  expect(share, told).toBeGreaterThan(0.83);
  for (const cause of ORACLES['count-oracle.test.ts'])
    expect(names.get(cause) ?? 0, `${cause}: ${told}`).toBeGreaterThan(0);
});

it('names only causes that were true, of a record that is full of gaps', () => {
  named(false);
});

it('a number that somebody removed, and that had a permit free without that, was not taken from who had made it', () => {
  const about = {
    clients: 3,
    permits: 2,
    counts: 'free',
    timed: 'first',
    ttlFactor: 1,
    twicePerMille: 0,
    slowPerMille: 0,
  } as const;
  const faults: Setup['faults'] = [{ kind: 'del', atMs: 2816, isRecorded: true }];
  const findings = judged({ ...about, faults, latePerMille: 0, breaks: [], noise: 435_891_624 });
  namesOnlyTrue(findings);
});

it('what a client gave back before, and was read late, is not how it was granted the next', () => {
  const setup: Setup = {
    ...{ clients: 5, permits: 1, counts: 'free', timed: 'first', ttlFactor: 0.4, twicePerMille: 0, slowPerMille: 300 },
    faults: [{ kind: 'jump-back', atMs: 1288, isRecorded: true }],
    latePerMille: 50,
    breaks: [
      { atMs: 543, forMs: 164 },
      { atMs: 1687, forMs: 20 },
    ],
    noise: 953_076_274,
  };
  namesOnlyTrue(judged(setup));
});

it('a look that shows a number before the command is read that made it says nothing of who did, nor when', () => {
  const setup: Setup = {
    ...{ clients: 3, permits: 1, counts: 'free', timed: 'first', ttlFactor: 1, twicePerMille: 0, slowPerMille: 0 },
    faults: [{ kind: 'jump-back', atMs: 50, isRecorded: true }],
    ...{ latePerMille: 50, breaks: [], noise: 1_454_583_403 },
  };
  namesOnlyTrue(judged(setup));
});
