/**
 * What reads every command of a run grows as n log n, however many of them come in a second: a bound of a ratio, as in
 * `many-operations.test.ts`. All of them come in the same ten seconds, because a second is how late a command may be read.
 */
import { expect, it } from 'vitest';
import { neverGrantedHolds } from '../../../checkers/exclusion/never-granted.js';
import { leftBehind } from '../../../checkers/liveness/left-behind.js';
import { starved } from '../../../checkers/liveness/starved.js';
import type { CheckInput } from '../../../harness/vocabulary/run.js';
import { KEY, Story } from './build.js';
import { growth, LARGEST_GROWTH } from './growth.js';

const SECONDS = 10;
const CLIENTS = 8;

/**
 * One key that is taken as often as told, in turn; of every ten grants one is claimed and was refused, if so told. Each
 * value that is refused is followed by another.
 */
function hot(grants: number, isSound: boolean): CheckInput {
  const story = new Story().watch(0, 'r1').sample(0.5, 'r1');
  for (let n = 1; n <= CLIENTS; n++) story.up(`c${n}`);
  const turn = SECONDS / grants;
  for (let n = 0; n < grants; n++) {
    const [client, other] = [`c${(n % CLIENTS) + 1}`, `c${((n + 1) % CLIENTS) + 1}`];
    const at = (part: number) => 1 + (n + part) * turn;
    const set = (value: string) => ['SET', KEY, value, 'PX', '5000', 'NX'];
    const stamps = { sent: at(0), began: at(0), grantSent: at(0), read: at(0.2) };
    story.command(at(0.1), 'r1', client, set(`${client}@${n}`)).grant(client, at(0.2), stamps);
    story.command(at(0.3), 'r1', other, set(`${other}@${n}`)).refused(other, at(0.25), at(0.35));
    if (!isSound && n % 10 === 0) {
      story.grant(other, at(0.45), { sent: at(0.4), began: at(0.4), grantSent: at(0.4), read: at(0.45) });
      story
        .command(at(0.42), 'r1', other, set(`${other}@${n}.2`))
        .release(other, at(0.47), { sent: at(0.47), read: at(0.48) });
    }
    story.release(client, at(0.5), { sent: at(0.5), read: at(0.7) });
    story.command(at(0.6), 'r1', client, ['EVAL', 'script', '1', KEY, `${client}@${n}`]);
    story.command(at(0.6), 'r1', 'lua', ['get', KEY]).command(at(0.6), 'r1', 'lua', ['del', KEY]);
  }
  for (let n = 0; n < 100; n++) story.sample(1 + (n / 100) * SECONDS, 'r1');
  return story
    .sample(SECONDS + 3, 'r1')
    .whole(SECONDS + 3)
    .input();
}

const [FEW, MANY] = [400, 3_200];

for (const isSound of [true, false]) {
  const [few, many] = [hot(FEW, isSound), hot(MANY, isSound)];
  for (const checker of [neverGrantedHolds, leftBehind, starved])
    it(`${checker.name} grows as n log n on a key ${isSound ? 'that is taken' : 'whose grants are claimed'} all the time`, () => {
      // What is worked out once for a run is worked out anew.
      const run = (input: CheckInput) => () =>
        void checker.check({ ...input, history: { ...input.history }, observations: { ...input.observations } });
      expect(growth(run(few), run(many))).toBeLessThan(LARGEST_GROWTH);
    });
}
