/**
 * That a client said ASKING unasked was true, as a model of one slot on its way knows it: r1 has the slot, r2 imports it, and each
 * answers as a node of a Cluster does. c1 is granted the lock by r1; then its key may go, by its own time or by a stranger, and c2
 * asks r2. The record has gaps.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { KEY, Story } from '../build.js';
import { ORACLES } from './every-cause.js';
import { one } from './oracle/drawing.js';
import { type Tried, tried } from './tried.js';

interface Setup {
  ttlMs: number;
  deletedAt?: number | undefined;
  movedAt: number;
  movedForS: number;
  isMoveRecorded: boolean;
  /** Whether r2 has the slot when the move is over; otherwise it never had it. */
  arrives: boolean;
  askedAt: number;
  says: 'ASKING' | 'nothing';
  /** When the watching of r1 breaks off, for 0.3 s. */
  blindAt?: number | undefined;
  looksUntil: number;
}

const at = (from: number, until: number) =>
  fc.integer({ min: from * 1_000, max: until * 1_000 }).map((ms) => ms / 1_000);
const setups = (isWhole: boolean): fc.Arbitrary<Setup> =>
  fc.record({
    ttlMs: one([3, 5_000], [1, 1_500]),
    deletedAt: fc.oneof(fc.constant(undefined), at(1.2, 4)),
    movedAt: at(1.2, 3.5),
    movedForS: at(0.2, 2.5),
    isMoveRecorded: isWhole ? fc.constant(true) : one([3, true], [1, false]),
    arrives: one([1, true], [1, false]),
    askedAt: at(1.5, 4),
    says: one<Setup['says']>([5, 'ASKING'], [1, 'nothing']),
    blindAt: isWhole ? fc.constant(undefined) : fc.oneof(fc.constant(undefined), at(1.1, 4)),
    looksUntil: isWhole ? fc.constant(5) : one([2, 5], [1, 2.5]),
  });

function judged(setup: Setup): Tried[] {
  const { ttlMs, deletedAt = 99, movedAt, movedForS, arrives, askedAt, says } = setup;
  const healedAt = movedAt + movedForS;
  // Who moves the slot takes its last keys along.
  const goneAt = Math.min(1 + ttlMs / 1_000, deletedAt, arrives ? healedAt : 99);
  const isMoving = askedAt >= movedAt && askedAt < healedAt;
  // Anybody else is sent to r1 (MOVED), and nothing is carried out.
  const isTaken = isMoving ? says === 'ASKING' : arrives && askedAt >= healedAt;
  if (!isTaken) return [];
  const truth = new Set(isMoving && askedAt < goneAt ? ['asking-unasked'] : []);
  const { violations } = mutualExclusion.check(recorded(setup, goneAt, healedAt).input());
  const isOthers = (name: string) => truth.size === 0 && name !== 'asking-unasked';
  // It is named only where r1 was looked at after the grant, and had the key still.
  const isHidden = 0.55 + Math.ceil((askedAt - 0.55) * 10) / 10 >= goneAt;
  // What else is named is judged where it can come about alone.
  return violations.flatMap((finding) => (isOthers(finding.cause.name) ? [] : [{ finding, truth, isHidden }]));
}

function recorded(setup: Setup, goneAt: number, healedAt: number): Story {
  const { ttlMs, deletedAt, movedAt, isMoveRecorded, askedAt, blindAt, looksUntil } = setup;
  const story = new Story().up('c1').up('c2').watch(0.1, 'r1').watch(0.1, 'r2');
  const isSeen = (when: number) => blindAt === undefined || when < blindAt || when > blindAt + 0.3;
  const lines: [number, () => void][] = [
    [0.999, () => story.take(0.999, 'r1', 'c1', undefined, 0, ttlMs)],
    [askedAt - 0.001, () => story.take(askedAt - 0.001, 'r2', 'c2')],
  ];
  if (deletedAt !== undefined && isSeen(deletedAt) && deletedAt < 1 + ttlMs / 1_000)
    lines.push([deletedAt, () => story.command(deletedAt, 'r1', 'stranger', ['DEL', KEY])]);
  if (setup.arrives && healedAt <= goneAt && isSeen(healedAt))
    lines.push([healedAt, () => story.command(healedAt, 'r1', 'stranger', ['DEL', KEY])]);
  if (blindAt !== undefined) {
    lines.push([blindAt, () => story.watch(blindAt, 'r1', false)]);
    lines.push([blindAt + 0.3, () => story.watch(blindAt + 0.3, 'r1')]);
  }
  for (let when = 0.55; when < looksUntil; when += 0.1) {
    const has = when > 1 && when < goneAt;
    lines.push([
      when,
      () =>
        story.sample(when, 'r1', has ? { owner: 'value-of-c1', pttlMs: Math.round(ttlMs - (when - 1) * 1_000) } : {}),
    ]);
    lines.push([when, () => story.sample(when, 'r2', when > askedAt ? { owner: 'value-of-c2' } : {})]);
  }
  for (const [, tell] of lines.sort(([a], [b]) => a - b)) tell();
  const events: [number, () => void][] = [
    [1, () => story.grant('c1', 1)],
    [askedAt, () => story.grant('c2', askedAt)],
    [5.5, () => story.release('c1', 5.5).release('c2', 5.6)],
  ];
  const effects = [{ kind: 'slot-moves' as const, who: ['r1', 'r2'], slot: 7_495, sinceNs: movedAt * 1e9 }];
  if (isMoveRecorded) {
    events.push([movedAt, () => story.fault(movedAt, 0, 'move-slot', 'strike', { did: 'began', effects })]);
    events.push([healedAt, () => story.fault(healedAt, 0, 'move-slot', 'heal', { targets: ['r1', 'r2'] })]);
  }
  for (const [, tell] of events.sort(([a], [b]) => a - b)) tell();
  return story;
}

it.each([
  ['whole', true],
  ['full of gaps', false],
])('names it only where it was true, of a record that is %s', (_, isWhole) => {
  const { told, share, names } = tried(300, setups(isWhole), judged);
  if (!isWhole) return;
  expect(share, told).toBeGreaterThan(0.9);
  for (const cause of ORACLES['slot-oracle.test.ts']) expect(names.get(cause) ?? 0, told).toBeGreaterThan(10);
});
