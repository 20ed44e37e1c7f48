/**
 * What reads every command of a run grows as n log n, however many of them come in a second: a bound of a ratio, as in
 * `many-operations.test.ts`. All of them come in the same ten seconds, because a second is how late a command may be read.
 */
import { expect, it } from 'vitest';
import { mutualExclusion } from '../../../checkers/exclusion/mutual-exclusion.js';
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

/** A permit that is taken as often as told, and once more each time, because somebody gives back what it has not taken. */
function overdrawn(grants: number): CheckInput {
  const story = new Story().promised({ kind: 'semaphore', permits: 1 }).replicated().watch(0, 'r1').sample(0.5, 'r1');
  for (const client of ['c1', 'c2', 'c3']) story.up(client);
  story.command(0.6, 'r1', 'c1', ['SET', KEY, '1']);
  const turn = SECONDS / grants;
  for (let n = 0; n < grants; n++) {
    const at = (part: number) => 1 + (n + part) * turn;
    const takes = (client: string, part: number) => {
      const stamps = { sent: at(part), began: at(part), grantSent: at(part), read: at(part + 0.1) };
      story.command(at(part + 0.05), 'r1', client, ['DECR', KEY]).grant(client, at(part + 0.1), stamps);
    };
    takes('c1', 0);
    story.command(at(0.2), 'r1', 'c3', ['INCR', KEY]);
    takes('c2', 0.3);
    story.release('c1', at(0.5), { sent: at(0.5), read: at(0.55) }).command(at(0.52), 'r1', 'c1', ['INCR', KEY]);
    story.release('c2', at(0.6), { sent: at(0.6), read: at(0.65) });
  }
  return story.sample(SECONDS + 3, 'r1').input();
}

it('why a permit was granted once more grows as n log n with all that was taken and given back', () => {
  // Only the first so many are explained: where they are fewer than all, it would not show.
  const [few, many] = [overdrawn(100), overdrawn(800)];
  const run = (input: CheckInput) => () => {
    const anew = { ...input, history: { ...input.history }, observations: { ...input.observations } };
    const { violations } = mutualExclusion.check(anew);
    expect(violations.at(-1)!.cause.name).toBe('returned-too-often');
  };
  expect(growth(run(few), run(many))).toBeLessThan(LARGEST_GROWTH);
});
