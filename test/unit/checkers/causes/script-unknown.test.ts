import { expect, it, test } from 'vitest';
import { findingsOfOne } from '../../../../checkers/index.js';
import { liveness } from '../../../../checkers/liveness/liveness.js';
import { blamedOn } from '../../../../harness/record/facts/blame.js';
import { KEY, Story } from '../build.js';

interface Told {
  reason?: string;
  calls?: number;
  argv?: readonly string[];
  /** What it calls. */
  runs?: boolean;
  by?: string;
  and?(story: Story): Story;
}

/** All is healed at 20 s; c1 asks for the key from then on, and gives up at 27 s. */
function refused({
  reason = 'noscript',
  calls = 4,
  argv = ['EVALSHA', 'abc', '1', KEY],
  runs = false,
  by = 'c1',
  and = (one) => one,
}: Told = {}) {
  const story = new Story().replicated().up('c1').up('c2').watch(0, 'r1').recovered(20);
  story.times(calls, (one, n) => {
    one.command(21 + n, 'r1', by, [...argv]);
    if (runs) one.command(21 + n, 'r1', 'lua', ['get', KEY]);
  });
  return and(story).event(27, { type: 'probe', key: KEY, client: 'c1', acquired: false, afterMs: 7_000, reason });
}

const found = (told?: Told) =>
  findingsOfOne(
    liveness,
    refused(told)
      .configured({ keys: [KEY] })
      .input(),
  ).violations;

it('is named where the lock says so and the server ran nothing, and is the lock’s mistake', () => {
  const [violation] = found();
  expect(violation).toMatchObject({ kind: 'deadlock', cause: { name: 'script-unknown' } });
  expect(violation!.cause.sentence).toBe(
    'c1 called a script by its digest 4 times within 3 s, and r1 ran nothing: it does not know that script (noscript), and was not sent it in between.',
  );
  expect(blamedOn(violation!)).toBe('lock');
});

test.each<[string, Told]>([
  ['the lock says something else', { reason: 'held' }],
  ['it was called twice only', { calls: 2 }],
  ['the script ran', { runs: true }],
  ['it was sent whole', { argv: ['EVAL', 'return 0', '1', KEY] }],
  ['it is about another key', { argv: ['EVALSHA', 'abc', '1', 'lock:1'] }],
  ['another client sent it', { by: 'c2' }],
  ['nobody watched the server meanwhile', { and: (one) => one.watch(22.5, 'r1', false).watch(22.6, 'r1') }],
  ['it was sent to another server, too', { and: (one) => one.command(20.5, 'r2', 'c1', ['EVALSHA', 'abc', '1', KEY]) }],
])('is not named where %s', (_, told) => {
  expect(found(told)).toMatchObject([{ kind: 'deadlock', cause: { name: 'unexplained' } }]);
});
