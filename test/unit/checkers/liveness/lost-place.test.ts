import { expect, it, test } from 'vitest';
import { fifo } from '../../../../checkers/liveness/fifo.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import type { Deadlines } from '../../../../harness/vocabulary/protocol.js';
import { Story } from '../build.js';
import { acquire, clientUp, fault, KEY, ns, queued, stall, type Told } from '../literal.js';

interface Overtaken {
  place?: Deadlines['place'];
  /** When the server ran c1's commands on the key, and read them. */
  shown?: readonly number[];
  told?: readonly Told[];
  /** When the server saw c2 again, after its grant; absent: never. */
  released?: number;
}

/** c1 asks at 1 s and is queued at 1.5 s; c2 asks at 3.5 s and has the lock at 4 s; c1 is granted it at 8 s. */
function overtaken({ place = 1_000, shown = every(0.5), told = [], released = 4.1 }: Overtaken = {}): Story {
  const story = new Story()
    .promised({ kind: 'fair' })
    .tell([
      clientUp('c1', 'place-1', [], { place }),
      clientUp('c2', 'place-2'),
      ...acquire('c1', 1, { at: 1, until: 8, grantSent: 7.999, leaseMs: 2_000 }),
      queued('c1', 1, 1.5),
      ...acquire('c2', 1, { at: 3.5, until: 4 }),
      ...told,
    ]);
  for (const at of shown) story.command(at, 'r1', 'c1', ['EVAL', 'take', '2', KEY, `{${KEY}}:queue`]);
  story.command(3.9, 'r1', 'c2', ['EVAL', 'take', '2', KEY, `{${KEY}}:queue`]);
  if (released) story.command(released, 'r1', 'c2', ['EVAL', 'give back', '1', KEY]);
  return story;
}

const every = (seconds: number) => Array.from({ length: 7 / seconds }, (_, n) => 1.2 + n * seconds);
const judged = (story: Story) => fifo.check(story.input());
const verdict = (options: Overtaken) => judged(overtaken(options)).verdict;

it('accuses where the server heard of the one overtaken again and again before its place could end', () => {
  expect(judged(overtaken())).toMatchObject({ verdict: 'invalid', stats: { fifoOvertaken: 1, fifoInDoubt: 0 } });
});

it('whatever stood still meanwhile, and for however long', () => {
  const told = [stall(1.6, 2_000), ...struck('stopped', 1.6, 3.6)];
  expect(judged(overtaken({ told }))).toMatchObject({ verdict: 'invalid', notes: [] });
});

it('cannot tell where it was silent for as long as a place lives: with the stall, the step, or nothing as the reason', () => {
  const shown = [1.2, 1.4, 5];
  const silent = 'c1 did not show itself for 2.7 s, a place lives for 1 s, and';
  const notes = (told: Told[]) => judged(overtaken({ shown, told })).notes.map((note) => note.replace(/.* But /, ''));
  expect(judged(overtaken({ shown }))).toMatchObject({
    verdict: 'unknown',
    violations: [],
    open: ['liveness'],
    stats: { fifoOvertaken: 0, fifoInversions: 0, fifoInDoubt: 1 },
  });
  expect(notes([])).toEqual([`${silent} nothing that was recorded kept it from it`]);
  expect(notes([stall(1.6, 1_500)])).toEqual([`${silent} the harness stood still for 1.5 s from 1.600 s on`]);
  expect(notes([stall(4.5, 1_500)])).toEqual([`${silent} nothing that was recorded kept it from it`]);
  const step: Told = {
    at: 2,
    body: { type: 'disturbance', disturbance: 'wall-clock-step', ms: 40, beganNs: ns(1.9) },
  };
  expect(notes([step])[0]).toMatch(/the machine's own clock was stepped by 40 ms/);
});

test.each<[Overtaken, string]>([
  // Silent from 2.7 s until c2, which had the lock at 4 s, was seen again at 4.1 s: 1.4 s.
  [{ shown: [1.2, 1.9, 2.7, 5], place: 1_500 }, 'invalid'],
  [{ shown: [1.2, 1.9, 2.7, 5], place: 1_300 }, 'unknown'],
  // And before: from 1.4 s to 3.2 s.
  [{ shown: [1.2, 1.4, 3.2, 3.9, 5], place: 1_500 }, 'unknown'],
  [{ shown: [1.2, 1.4, 3.2, 3.9, 5], place: 2_000 }, 'invalid'],
  // Silence before it was queued, at 1.5 s, does not count: it had queued again.
  [{ shown: [1.0, 1.45, 1.8, 2.2, 2.6, 3, 3.4, 3.8], place: 430 }, 'invalid'],
  [{ place: 'lease', shown: [1.2, 1.4, 3.2, 3.9, 5] }, 'invalid'],
  [{ place: 'lease', shown: [1.2, 1.4, 3.9, 5] }, 'unknown'],
  [{ place: 'never', shown: [1.2], told: [stall(1.6, 2_000)] }, 'invalid'],
])('%j: %s', (options, expected) => {
  expect(verdict(options)).toBe(expected);
});

it('what was not seen may have been silence, but no longer than the wait', () => {
  expect(judged(overtaken({ shown: [] })).notes[0]).toMatch(/not known whether c1 showed itself in 3 s/);
  expect(verdict({ shown: [], place: 3_100 })).toBe('invalid');
  // Of a server that is not seen to have granted anything nothing is known.
  expect(verdict({ released: 0 })).toBe('unknown');
});

it('commands on another server, and those of others, show nothing', () => {
  const elsewhere = overtaken({ shown: [1.2, 1.4] });
  for (const at of every(0.5)) elsewhere.command(at, 'r2', 'c1', ['EVAL', 'take', '1', KEY]);
  for (const at of every(0.5)) elsewhere.command(at, 'r1', 'c3', ['EVAL', 'take', '1', KEY]);
  for (const at of every(0.5)) elsewhere.command(at, 'r1', 'c1', ['PING']);
  expect(judged(elsewhere).verdict).toBe('unknown');
});

const struck = (kind: 'stopped' | 'killed' | 'off-network', from: number, until: number, who = 'c1') => {
  const effects: FaultEffect[] = [{ kind, who: [who] }];
  return [fault(from, 0, 'any', 'strike', [who], effects), fault(until, 0, 'any', 'heal', [who], [])];
};

it('a fault on the client, its place or its server excuses where it made the silence, and only there', () => {
  const shown = [1.2, 1.4, 3.7, 5]; // silent for 2.3 s
  const all = (told: Told[], place = 1_000) => judged(overtaken({ shown, told, place }));
  for (const who of ['c1', 'place-1', 'r1'])
    expect(all(struck('stopped', 1.6, 3.6, who))).toMatchObject({
      verdict: 'valid',
      stats: { fifoWaitersNotJudged: 1, fifoInDoubt: 0 },
    });
  expect(all(struck('stopped', 1.6, 3.6, 'c2')).verdict).toBe('unknown');
  // Without the fault it would have been silent for 1.8 s all the same.
  expect(all(struck('stopped', 1.6, 2.1)).verdict).toBe('unknown');
  expect(all(struck('stopped', 1.6, 2.1), 2_000).verdict).toBe('valid');
  expect(all(struck('stopped', 4.1, 6)).verdict).toBe('unknown');
  expect(all(struck('stopped', 1.6, 3.6), 2_400).verdict).toBe('invalid');
});

it('a clock that a fault moved far enough excuses, too', () => {
  const jumped = (who: string, offsetMs: number, from = 2) => {
    const effects: FaultEffect[] = [{ kind: 'clock-jumped', who: [who], offsetMs }];
    return [fault(from, 0, 'clock', 'strike', [who], effects), fault(6, 0, 'clock', 'heal', [who], [])];
  };
  const all = (told: Told[]) => judged(overtaken({ told, place: 1_000 })).verdict;
  expect(all(jumped('r1', 900))).toBe('valid');
  expect(all(jumped('r1', 300))).toBe('invalid');
  expect(all(jumped('r1', 900, 0.5))).toBe('invalid'); // before it was queued
  expect(all(jumped('place-2', 900, 0.5))).toBe('valid'); // by whose clock places may be counted
  const stepped: Told = {
    at: 2,
    body: { type: 'disturbance', disturbance: 'wall-clock-step', ms: 900, beganNs: ns(1.9) },
  };
  expect(all([stepped])).toBe('unknown');
  // It keeps no client from showing itself.
  expect(judged(overtaken({ shown: [1.2, 1.4, 5], told: jumped('place-1', 40) })).verdict).toBe('unknown');
});

it('where a lock declares nothing any stall is "cannot tell"', () => {
  const story = (told: Told[]) =>
    fifo.check(
      new Story()
        .promised({ kind: 'fair' })
        .tell([
          ...acquire('c1', 1, { at: 1, until: 8, grantSent: 7.999 }),
          queued('c1', 1, 1.5),
          ...acquire('c2', 1, { at: 3.5, until: 4 }),
          ...told,
        ])
        .input(),
    ).verdict;
  expect(story([])).toBe('invalid');
  expect(story([stall(1.6, 300)])).toBe('unknown');
  expect(story([stall(0.5, 300)])).toBe('invalid');
  expect(story([stall(4.2, 300)])).toBe('invalid');
});
