/** What looks at a server add to what its commands say: every link of it by itself. */
import { describe, expect, it, test } from 'vitest';
import type { Change } from '../../../../../../harness/record/facts/commands/changes.js';
import {
  refined,
  type SampleLine,
  type StoredSample,
  settle,
} from '../../../../../../harness/record/facts/commands/samples.js';
import {
  ABSENT,
  ANY_TIME,
  type Held,
  NEVER,
  type Origin,
  type Part,
  part,
  present,
  type StoredState,
  type Times,
  UNKNOWN,
} from '../../../../../../harness/record/facts/commands/state.js';

const KEY = 'lock:0';

/** A look while the server's clock went from 3000 to 3001; `stored` undefined: the key was not there. */
const look = (stored?: StoredSample, exact = true): SampleLine => ({
  line: 9,
  atNs: 3e9,
  ranFromNs: 3e9,
  wall: { fromMs: 3_000, untilMs: 3_001 },
  exact,
  role: 'primary',
  runId: 'a',
  covers: [KEY],
  keys: stored ? { [KEY]: stored } : {},
});

const origin = (line: number, wallMs = line * 1_000, name = 'SET'): Origin => ({
  line,
  atNs: wallMs * 1e6,
  serverWallMs: wallMs,
  name,
  client: `c${line}`,
  source: `10.0.0.${line}:1`,
});
const text = (value: string | undefined, by?: Origin): Held => ({ type: 'string', value, by });
const hash = (parts: Record<string, Part>, complete = true): Held => ({
  type: 'hash',
  parts: new Map(Object.entries(parts)),
  complete,
});
const list: Held = { type: 'list', items: undefined };
const times = (fromMs: number, untilMs = fromMs): Times => ({ fromMs, untilMs });
const within = times(3_000 + 2_000, 3_001 + 2_000);

/** What is known of a key by a look alone. */
const shownBy = (stored?: StoredSample, { exact = true, fieldsExpire = false } = {}) =>
  refined(UNKNOWN, KEY, look(stored, exact), fieldsExpire);

describe('what a look shows', () => {
  test('its time to live, by the bounds of the server’s clock; perhaps read a good while before, where the server did not say when', () => {
    const stored = { owner: 'v', pttlMs: 2_000 };
    expect(shownBy(stored)).toEqual(present(text('v'), within));
    expect(shownBy(stored, { exact: false })).toEqual(present(text('v'), times(4_750, 5_001)));
    expect(shownBy({ owner: 'v', pttlMs: 0 })).toEqual(present(text('v'), times(3_000, 3_001)));
    expect(shownBy({ owner: 'v', pttlMs: -1 })).toEqual(present(text('v')));
  });

  test('its time to live by the millisecond that had begun, where fractions are told', () => {
    const stored = { owner: 'v', pttlMs: 2_000 };
    const seen = (...[fromMs, untilMs]: [number, number]) =>
      refined(UNKNOWN, KEY, { ...look(stored), between: { fromMs, untilMs } }, false);
    expect(seen(3_000.2, 3_000.9)).toEqual(present(text('v'), times(5_000)));
    expect(seen(3_000.2, 3_001)).toEqual(present(text('v'), times(5_000, 5_001)));
  });

  test('nothing of what expired while it was looked at; that it is not there', () => {
    expect(shownBy({ owner: 'v', pttlMs: -2 })).toBeUndefined();
    expect(shownBy()).toBe(ABSENT);
  });

  const fields = (expires?: Times) => hash({ a: part('1', undefined, expires), b: part('2', undefined, expires) });

  test('fields of a hash, which may have times to live of their own where any have', () => {
    const stored = { owner: '{"a":"1","b":"2"}', pttlMs: -1, type: 'hash' as const };
    expect(shownBy(stored)?.held).toEqual(fields());
    expect(shownBy(stored, { fieldsExpire: true })?.held).toEqual(fields(ANY_TIME));
  });

  test.each<[string, StoredSample['type'], Held | undefined]>([
    ['{"a":"1","b":"2"}', 'string', text('{"a":"1","b":"2"}')],
    ['{"a":"1","b":"2"}', 'other', undefined],
    ['a list', 'other', undefined],
    ['{"a":', 'hash', undefined],
    // Older records, which do not say the type.
    ['{"a":"1","b":"2"}', undefined, fields()],
    ['["a","1","b","2"]', undefined, fields()],
    ['"a","1","b","2"', undefined, text('"a","1","b","2"')],
    ['12', undefined, text('12')],
    ['{"a":1}', undefined, text('{"a":1}')],
    ['{"a":', undefined, text('{"a":')],
    ['"(list)"', undefined, undefined],
  ])('%s as %s', (owner, type, held) => {
    expect(shownBy({ owner, pttlMs: -1, ...(type && { type }) })).toEqual({ exists: 'yes', held, expires: NEVER });
  });
});

describe('what was known and what a look shows', () => {
  const meets = (state: StoredState, stored?: StoredSample, exact = true) =>
    refined(state, KEY, look(stored, exact), false);
  const by = origin(1);
  const string = (owner: string) => ({ owner, pttlMs: -1, type: 'string' as const });
  const fields = (of: Record<string, string>) => ({ owner: JSON.stringify(of), pttlMs: -1, type: 'hash' as const });
  const other = { owner: 'a list', pttlMs: -1, type: 'other' as const };

  it('is the same: nothing is added', () => {
    expect(meets({ ...ABSENT })).toBeUndefined();
    expect(meets(present(text('v', by)), string('v'))).toBeUndefined();
    expect(meets(present(hash({ a: part('1', by) })), fields({ a: '1' }))).toBeUndefined();
    expect(meets(present(list), other)).toBeUndefined();
    expect(meets({ exists: 'yes', held: undefined, expires: NEVER }, other)).toBeUndefined();
  });

  it('is more: what was known stays, and whose it is', () => {
    expect(meets({ exists: 'unknown', held: text('v', by), expires: NEVER })).toBe(ABSENT);
    expect(meets({ exists: 'unknown', held: text('v', by), expires: NEVER }, undefined, false)).toBe(ABSENT);
    const isThere = meets({ exists: 'unknown', held: text('v', by), expires: NEVER }, string('v'));
    expect(isThere).toEqual(present(text('v', by)));
    expect(meets(present(text(undefined, by)), string('v'))).toEqual(present(text('v', by)));
    expect(meets({ exists: 'yes', held: undefined, expires: NEVER }, string('v'))).toEqual(present(text('v')));
    expect(meets(present(text('v', by), ANY_TIME), string('v'))).toEqual(present(text('v', by)));
    expect(meets({ exists: 'unknown', held: undefined, expires: NEVER }, other)).toEqual({
      exists: 'yes',
      held: undefined,
      expires: NEVER,
    });
  });

  it.each<[string, StoredState, StoredSample | undefined]>([
    ['it is there', present(text('v', by)), undefined],
    ['it is not there', ABSENT, string('v')],
    ['it is another value', present(text('v', by)), string('w')],
    ['it is a string, and not of another type', present(text('v', by)), other],
    ['it is a hash, and not of another type', present(hash({ a: part('1', by) })), other],
    ['it is a list, and no string', present(list), string('v')],
    ['it is a string, and no hash', present(text('v', by)), fields({ a: '1' })],
    ['it is some string, and no hash', present(text(undefined, by)), fields({ a: '1' })],
    ['it is a hash, and no string', present(hash({ a: part('1', by) })), string('v')],
    ['it has a field', present(hash({ a: part('1', by), b: part('2', by) }, false)), fields({ a: '1' })],
    ['it has no other field', present(hash({ a: part('1', by) })), fields({ a: '1', b: '2' })],
    ['the field has another value', present(hash({ a: part('1', by) })), fields({ a: '2' })],
  ])('contradict each other: %s, say the commands', (_, state, stored) => {
    const alone = shownBy(stored);
    expect(meets(state, stored)).toEqual(alone);
    // A look of which it is not known when it was may be old.
    expect(meets(state, stored, false)).toBe(UNKNOWN);
  });

  it('fields are known by both: those that may be there, their values, and that there are no others', () => {
    const perhaps = (value?: string): Part => ({ there: 'unknown', value, expires: NEVER, by });
    const there = hash({ a: part('1', by) });
    expect(meets(present(hash({ a: part('1', by) }, false)), fields({ a: '1' }))?.held).toEqual(there);
    expect(meets(present(hash({ a: part('1', by), b: perhaps('2') })), fields({ a: '1' }))?.held).toEqual(there);
    expect(meets(present(hash({ a: perhaps('1') })), fields({ a: '1' }))?.held).toEqual(there);
    expect(meets(present(hash({ a: part(undefined, by) })), fields({ a: '1' }))?.held).toEqual(there);
    const more = meets(present(hash({ a: part('1', by) }, false)), fields({ a: '1', b: '2' }))?.held;
    expect(more).toMatchObject({
      parts: new Map([
        ['a', part('1', by)],
        ['b', expect.objectContaining({ value: '2' })],
      ]),
    });
  });

  it('times to live are as near as both say, and as far where they contradict each other', () => {
    const lasts = (was: Times) => meets(present(text('v', by), was), { owner: 'v', pttlMs: 2_000, type: 'string' });
    expect(lasts(ANY_TIME)?.expires).toEqual(within);
    expect(lasts(times(4_900, 5_000))?.expires).toEqual(times(5_000));
    expect(lasts(times(5_001, 9_000))?.expires).toEqual(times(5_001));
    expect(lasts(times(4_900, 4_950))?.expires).toEqual(times(4_900, 5_001));
    // Near enough.
    expect(lasts(times(4_995, 5_005))).toBeUndefined();
    expect(lasts(times(4_995, 5_006))?.expires).toEqual(within);
    expect(meets(present(text('v', by)), string('v'))).toBeUndefined();
  });
});

describe('a write of which it was not known whether it was refused', () => {
  const either: StoredState = { exists: 'yes', held: text(undefined), expires: times(0, 99_000) };
  const change = (line: number, fields: Partial<Change> = {}): Change => ({
    how: 'command',
    line,
    atNs: line * 1e9,
    ranFromNs: line * 1e9,
    by: origin(line),
    before: { ...UNKNOWN },
    after: either,
    applied: 'unknown',
    ...fields,
  });
  /** SET NX at second `line`, to last until then. */
  const take = (line: number, value: string, lastsUntilMs = line * 1_000 + 5_000, fields: Partial<Change> = {}) =>
    change(line, {
      wanted: present(text(value, origin(line)), times(lastsUntilMs, lastsUntilMs + 1)),
      onlyNew: true,
      ...fields,
    });
  const expire = (line: number, untilMs: number) =>
    change(line, {
      by: origin(line, line * 1_000, 'PEXPIRE'),
      after: { ...either, expires: times(untilMs, untilMs + 1) },
    });
  const applied = (changes: Change[], stored?: StoredSample) => {
    settle(changes, KEY, look(stored));
    return changes.map((one) => one.applied).join(' ');
  };
  const has = (owner: string, pttlMs = 3_000) => ({ owner, pttlMs });

  it('was not, where its value is there; since then it is known what is', () => {
    const [won, later] = [take(1, 'v'), expire(2, 9_000)];
    const wasBefore = won.before;
    expect(applied([won, later], has('v', 6_000))).toBe('yes unknown');
    expect(won.before).toBe(wasBefore);
    expect(won.after).toEqual(present(text('v', origin(1)), times(6_000, 6_001)));
    expect(later.before).toEqual({
      exists: 'yes',
      held: text('v', origin(1)),
      expires: times(3_000, Number.POSITIVE_INFINITY),
    });
    expect(later.after).toEqual(present(text('v', origin(1)), times(9_000, 9_001)));
  });

  it('was there until it was looked at, though it asked for less', () => {
    const won = take(1, 'v', 2_000);
    expect(applied([won], has('v'))).toBe('yes');
    expect(won.after.expires).toEqual({ fromMs: 3_000, untilMs: 2_001 });
  });

  it('was, where another value is there and its own would still be', () => {
    expect(applied([take(1, 'v')], has('w'))).toBe('no');
    expect(applied([take(1, 'v', 3_002)], has('w'))).toBe('no');
    expect(applied([take(1, 'v', 3_001)], has('w'))).toBe('unknown');
  });

  it('is not known where the key is not there; it is where it never expires', () => {
    expect(applied([take(1, 'v')])).toBe('unknown');
    expect(applied([take(1, 'v')], has('v', -1))).toBe('yes');
  });

  it('is not known where others stored the same value', () => {
    expect(applied([take(1, 'v'), take(2, 'v')], has('v', 4_000))).toBe('unknown unknown');
    const before = change(1, { applied: 'yes', after: present(text('v')) });
    expect(applied([before, take(2, 'v')], has('v', 4_000))).toBe('yes unknown');
    const another = change(1, { applied: 'yes', after: present(text('w')) });
    expect(applied([another, take(2, 'v')], has('v', 4_000))).toBe('yes yes');
  });

  it('is not known where less time is left than it asked for: it was there before', () => {
    // 3001 ms + 2989 ms is 10 ms short of 6000 ms.
    expect(applied([take(1, 'v')], has('v', 2_989))).toBe('yes');
    expect(applied([take(1, 'v')], has('v', 2_988))).toBe('unknown');
    expect(applied([take(1, 'v')], has('v', 0))).toBe('unknown');
  });

  it('was before another that was not, if its value would have been there then; and after that one, if it would be now', () => {
    const beside = (...changes: Change[]) => applied(changes, has('won', 4_000));
    expect(beside(take(1, 'v', 2_001), take(2, 'won'))).toBe('no yes');
    expect(beside(take(1, 'v', 2_000), take(2, 'won'))).toBe('unknown yes');
    expect(beside(take(2, 'won'), take(2.5, 'v', 3_002))).toBe('yes no');
    expect(beside(take(2, 'won'), take(2.5, 'v', 3_000))).toBe('yes unknown');
    // Who won is not known: only what would be there now was refused.
    expect(beside(take(1, 'v', 2_001), take(2, 'won', 9_000))).toBe('unknown unknown');
  });

  it('is told by what comes after the last that is known', () => {
    const beside = (...changes: Change[]) => applied(changes, has('w'));
    // What was refused changed nothing.
    expect(beside(take(1, 'v'), take(2, 'x', 7_000, { applied: 'no' }))).toBe('no no');
    expect(beside(take(1, 'v'), take(2, 'x', 7_000, { applied: 'yes' }))).toBe('unknown yes');
    expect(beside(take(1, 'v'), take(2, 'x', 7_000, { after: present(text('x')) }))).toBe('unknown unknown');
    expect(beside(take(1, 'v'), take(2, 'x', 7_000, { after: present(list) }))).toBe('unknown unknown');
    expect(beside(take(1, 'v'), take(2, 'x', 7_000, { after: UNKNOWN }))).toBe('no no');
    expect(beside(take(1, 'v'), change(2, { how: 'gap' }))).toBe('unknown unknown');
    expect(beside(take(1, 'v'), change(2, { by: origin(2, 2_000, 'APPEND') }))).toBe('unknown unknown');
    expect(beside(take(1, 'v'), expire(2, 7_000))).toBe('no unknown');
  });

  it('is not known where its value may have expired meanwhile', () => {
    const beside = (...changes: Change[]) => applied(changes, has('w'));
    expect(beside(take(1, 'v'), expire(2, 3_001))).toBe('unknown unknown');
    expect(beside(take(1, 'v', 3_001), expire(2, 9_000))).toBe('unknown unknown');
    const ran = (clockMs: number) => change(2, { how: 'expired', clockMs, by: undefined });
    expect(beside(take(1, 'v'), ran(5_999))).toBe('no unknown');
    expect(beside(take(1, 'v'), ran(6_000))).toBe('unknown unknown');
    expect(beside(take(1, 'v'), change(2, { how: 'expired', by: undefined }))).toBe('no unknown');
  });
});
