/** A key of which the two procedures say the contrary accuses nobody, and is not called held either. */
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { decideHeld, type HeldVerdict } from '../../../../checkers/linearizability/decide-held.js';
import { Story } from '../build.js';

// Modules are loaded anew with the false one, and are not left to the files that come after.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());
vi.mock('../../../../checkers/linearizability/decide-held.js');

const by = (verdict: 'valid' | 'invalid' | 'unknown', why = 'because') => ({ verdict, procedure: 'cores', why: [why] });
let second: HeldVerdict[];
beforeEach(() => vi.mocked(decideHeld).mockImplementation(() => second));

/** On lock:0 two hold at once; on lock:1 nobody does; on lock:2 c1 acts on after its lease. */
const judged = (of: Partial<Record<'lock:0' | 'lock:1' | 'lock:2', Partial<HeldVerdict>>> = {}) => {
  second = [
    { key: 'lock:0', leased: by('invalid'), acted: by('invalid'), ...of['lock:0'] },
    { key: 'lock:1', leased: by('valid'), acted: by('valid'), ...of['lock:1'] },
    { key: 'lock:2', leased: by('valid'), acted: by('invalid'), ...of['lock:2'] },
  ];
  const story = new Story()
    .grant('c1', 1)
    .grant('c2', 2)
    .release('c2', 3)
    .release('c1', 4)
    .grant('c3', 1, { key: 'lock:1' })
    .release('c3', 2)
    .grant('c4', 1, { key: 'lock:2', leaseMs: 1_000 })
    .grant('c5', 3, { key: 'lock:2' })
    .release('c5', 4)
    .release('c4', 5);
  const { verdict, violations, notes, open, stats, second: told } = mutualExclusion.check(story.input());
  return { verdict, accused: violations.map((one) => `${one.class} on ${one.key}`), notes, open, stats, second: told };
};
const REPORT = 'please report it';

it('agreed: as the sweep says', () => {
  expect(judged()).toMatchObject({
    verdict: 'invalid',
    accused: ['exclusion on lock:0', 'stale on lock:2'],
    open: [],
    second: { agreed: 3, open: [], disagreed: [] },
  });
});

it('an overlap that there is none of by the other accuses nobody, and the run is open', () => {
  const result = judged({ 'lock:0': { leased: by('valid') }, 'lock:2': { acted: by('valid') } });
  expect(result).toMatchObject({
    verdict: 'unknown',
    accused: [],
    stats: { exclusion: 0, stale: 0 },
    second: { agreed: 1, open: [] },
  });
  expect(result.open).toEqual(['exclusion', 'stale']);
  const [exclusion, stale] = result.notes;
  expect(exclusion).toMatch(
    /^two procedures disagree about exclusion on lock:0: the sweep over holds found 1 \(c1 certainly held .*; by cores there is none\. /,
  );
  expect(stale).toMatch(/^two procedures disagree about stale on lock:2: the sweep over holds found 1 /);
  for (const note of [exclusion, stale]) expect(note).toContain(REPORT);
});

it('what is disputed of one key or of one class leaves the others as they are', () => {
  expect(judged({ 'lock:0': { leased: by('valid') } })).toMatchObject({
    verdict: 'invalid',
    accused: ['stale on lock:2'],
    stats: { exclusion: 0, stale: 1 },
    open: ['exclusion'],
  });
  expect(judged({ 'lock:2': { leased: by('invalid'), acted: by('invalid') } })).toMatchObject({
    accused: ['exclusion on lock:0', 'stale on lock:2'],
    open: ['exclusion'],
  });
});

it('one that only the other finds is not HELD: the run is open, with its proof', () => {
  const result = judged({ 'lock:1': { leased: by('invalid', 'both at once'), acted: by('invalid') } });
  // What both found elsewhere stands.
  expect(result).toMatchObject({ verdict: 'invalid', open: ['exclusion'], second: { agreed: 2 } });
  expect(result.notes[0]).toMatch(
    /^two procedures disagree about exclusion on lock:1: the sweep over holds found none; by cores there is one \(both at once\)\. /,
  );
  const alone = judged({ 'lock:1': { acted: by('invalid', 'after its lease') } });
  expect(alone.notes[0]).toMatch(/about stale on lock:1: .* found none; by cores there is one \(after its lease\)/);
});

it('what the other does not decide is told, and is no disagreement', () => {
  const result = judged({
    'lock:0': { leased: by('unknown', 'too much to search') },
    'lock:1': { acted: by('unknown', 'too much to search') },
  });
  expect(result).toMatchObject({
    verdict: 'invalid',
    accused: ['exclusion on lock:0', 'stale on lock:2'],
    open: [],
    second: { agreed: 1, open: ['lock:0: too much to search', 'lock:1: too much to search'], disagreed: [] },
  });
});
