import { expect, it, test } from 'vitest';
import { findingsOfOne } from '../../../../checkers/index.js';
import { liveness } from '../../../../checkers/liveness/liveness.js';
import { blamedOn } from '../../../../harness/record/facts/blame.js';
import { KEY, Story } from '../build.js';

/** Nobody is granted the key from the beginning on; all is whole at 5 s, and c1 gives up at 13 s. */
function neverGranted(told: (story: Story) => Story = (story) => story, config: object = {}) {
  const story = new Story().replicated().up('c1').up('c2').event(0.5, { type: 'phase', phase: 'warm-up' });
  told(story.refused('c1', 1, 1.1).refused('c2', 1, 1.1))
    .recovered(5)
    .refused('c1', 6, 6.1)
    .refused('c1', 11, 11.1);
  story.event(13, { type: 'probe', key: KEY, client: 'c1', acquired: false, afterMs: 8_000, reason: 'held' });
  return findingsOfOne(liveness, story.configured({ keys: [KEY], ...config }).input()).violations[0]!;
}

test('a lock that never granted anything: told with what it answered, and the deadlock is its own mistake', () => {
  const violation = neverGranted();
  expect(violation).toMatchObject({ kind: 'deadlock', cause: { name: 'granted-nobody' } });
  expect(violation.cause.sentence).toBe(
    'acquire returned null in 4 of 4 calls and no client ever held the lock; no fault was in force.',
  );
  expect(blamedOn(violation)).toBe('lock');
  expect(neverGranted(undefined, { lock: 'cmd:./mine' }).cause.sentence).toMatch(/^acquire answered "held" in 4 of 4/);
});

it.each<[string, (story: Story) => Story]>([
  ['somebody was granted it', (story) => story.grant('c2', 2, { key: 'lock:1' }).release('c2', 3)],
  [
    'a fault was in force',
    (story) =>
      story.event(2, {
        type: 'fault',
        step: 0,
        fault: 'pause',
        state: 'strike',
        targets: ['c2'],
        did: 'SIGSTOP',
        effects: [{ kind: 'stopped', who: ['c2'] }],
      }),
  ],
])('is not named where %s', (_, told) => {
  expect(neverGranted(told)?.cause.name).not.toBe('granted-nobody');
});

it('is not named of a record that does not begin with the run', () => {
  const story = new Story().replicated().up('c1').refused('c1', 1, 1.1).recovered(5).refused('c1', 11, 11.1);
  story.event(13, { type: 'probe', key: KEY, client: 'c1', acquired: false, afterMs: 8_000, reason: 'held' });
  const [violation] = findingsOfOne(liveness, story.configured({ keys: [KEY] }).input()).violations;
  expect(violation!.cause.name).toBe('unexplained');
});
