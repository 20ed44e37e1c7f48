import { expect, it } from 'vitest';
import { ownership } from '../../../../checkers/exclusion/ownership.js';
import type { FaultRecord } from '../../../../harness/vocabulary/history.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { KEY, ns, Story } from '../build.js';

const judged = (story: Story) => ownership.check(story.input());
const kinds = (story: Story) => judged(story).violations.map(({ class: name, kind }) => `${name} ${kind}`);

/** c1 is granted at 1 s for 5 s, and stopped; c2 is granted at 7 s. */
const overtaken = () => new Story().grant('c1', 1).grant('c2', 7);

it('rejects a renewal that was carried out when another had been granted the lock, and held it still', () => {
  const result = judged(overtaken().renewed('c1', 8).release('c1', 9, { type: 'fail' }).release('c2', 9.5));
  expect(result).toMatchObject({
    verdict: 'invalid',
    notes: [],
    found: { exclusion: 1 },
    stats: { revivedHolds: 1, silentReleases: 0 },
    violations: [{ class: 'exclusion', kind: 'revived', key: KEY, fromNs: ns(8), untilNs: ns(9) }],
  });
  const [violation] = result.violations;
  expect(violation!.proof).toBe(
    'c1 was granted lock:0 at 1.000 s (lease until 5.998 s); c2 was granted it after that, at 7.000 s and still held it; the renewal that c1 sent at 8.000 s was carried out all the same, as if no other client had held since.',
  );
  expect(violation!.holds.map(({ client }) => client)).toEqual(['c1', 'c2']);
  expect(violation!.cause).toMatchObject({ name: 'unexplained', chain: [{}, {}, {}, { atNs: ns(8) }] });
});

it('calls no holder stale that nothing but itself ends', () => {
  const late = (lease?: 'none') => new Story().up('c1', [], lease).grant('c1', 1).grant('c2', 7);
  expect(kinds(late().release('c2', 8).release('c1', 9))).toEqual(['stale silent-release']);
  expect(kinds(late('none').release('c2', 8).release('c1', 9))).toEqual([]);
});

it('nor a release silent of what its client had been told was lost, before or after the next grant', () => {
  for (const told of [3, 7.5])
    expect(kinds(overtaken().lost('c1', told).release('c2', 8).release('c1', 9))).toEqual([]);
});

it('and one that created the lock again after the other had released it, reported or requested', () => {
  const released = () => overtaken().release('c2', 7.5);
  expect(kinds(released().renewed('c1', 8))).toEqual(['exclusion revived']);
  expect(kinds(released().extend('c1', 8))).toEqual(['exclusion revived']);
});

it('names what ended the lease under the holder, as for an overlap, and the renewal last', () => {
  const renewed = () => overtaken().up('c1').sample(5, 'r1').renewed('c1', 8).release('c1', 9, { type: 'fail' });
  const causeOf = (story: Story) => judged(story).violations[0]!.cause;
  const paused = (until: number) =>
    renewed()
      .fault(2, 0, 'pause', 'strike', { effects: [{ kind: 'stopped', who: ['c1'] }] })
      .fault(until, 0, 'pause', 'heal', { targets: ['c1'] });
  const { name, sentence, chain } = causeOf(paused(7.9));
  expect(name).toBe('client-paused');
  expect(sentence).toBe('c1 was paused when its lease ended at 5.998 s, and went on when it ran again.');
  expect(chain.map(({ text }) => text)).toEqual([
    'c1 was granted lock:0',
    'pause strike',
    "c1's lease of 5000 ms ended",
    'c1 ran again',
    "c1's renewal of lock:0 left, and was carried out",
    'until then c1 acted as the holder',
  ]);
  const cut = (host: string): Partial<FaultRecord> => ({ effects: [{ kind: 'cut', pairs: [[host, 'r1']] }] });
  expect(causeOf(paused(5.9)).name).toBe('unexplained');
  expect(causeOf(renewed().fault(5, 0, 'partition', 'strike', cut('c1'))).name).toBe('client-cut-off');
  expect(causeOf(renewed().fault(5, 0, 'partition', 'strike', cut('c3'))).name).toBe('unexplained');
  expect(causeOf(renewed()).name).toBe('unexplained');
});

it('accepts what was refused or is unknown, and what may precede the next grant', () => {
  expect(kinds(overtaken().extend('c1', 8, 5_000, { type: 'fail' }))).toEqual([]);
  expect(kinds(overtaken().extend('c1', 8, 5_000, { type: 'info' }))).toEqual([]);
  expect(kinds(overtaken().extend('c1', 8, 5_000, { type: 'never' }))).toEqual([]);
  // Sent when c2 had no answer yet: it may have come first, and the grant may be a wrong one.
  expect(kinds(overtaken().renewed('c1', 7))).toEqual([]);
  expect(kinds(overtaken().renewed('c1', 6.5))).toEqual([]);
  // The attempt by which c2 was granted it left before c1 had it: c2 may be the earlier one.
  expect(kinds(new Story().grant('c1', 1).grant('c2', 7, { grantSent: 0.9 }).renewed('c1', 8))).toEqual([]);
});

it("a client's stamp counts only where it can be true", () => {
  // c1 says of another operation that it ended before it was sent: when its renewal left is unknown.
  const liar = () =>
    overtaken()
      .event(0.5, { type: 'invoke', client: 'c1', id: 90, op: 'clock', key: '' })
      .event(0.6, {
        type: 'ok',
        client: 'c1',
        id: 90,
        op: 'clock',
        key: '',
        beganNs: ns(0.4),
        endedNs: ns(0.55),
      });
  expect(kinds(liar().renewed('c1', 8))).toEqual([]);
  // An extension was sent to it at a known time.
  expect(kinds(liar().extend('c1', 8))).toEqual(['exclusion revived']);
  expect(kinds(liar().extend('c1', 8, 5_000, { sent: 6.9 }))).toEqual([]);
});

it('leaves broken exclusion to its own checker, and accuses each hold once', () => {
  expect(kinds(new Story().grant('c1', 1).renewed('c1', 2).grant('c2', 3).renewed('c1', 4))).toEqual([]);
  expect(kinds(overtaken().renewed('c1', 8).renewed('c1', 9))).toEqual(['exclusion revived']);
});

it('a renewal that was under way when its hold ended says nothing', () => {
  expect(kinds(overtaken().release('c1', 7.5, { type: 'fail' }).renewed('c1', 8))).toEqual([]);
  expect(kinds(overtaken().lost('c1', 7.5).renewed('c1', 8))).toEqual([]);
});

it('a client that asked for the key again may renew what it was granted anew', () => {
  const nested = overtaken().release('c2', 7.5).grant('c1', 7.9);
  expect(kinds(nested.promised({ kind: 'reentrant', depth: 4 }).extend('c1', 8))).toEqual([]);
  const first = new Story().grant('c1', 1).grant('c2', 7).release('c2', 7.5).refused('c1', 7.6, 7.7, 'info');
  expect(kinds(first.promised({ kind: 'reentrant', depth: 4 }).renewed('c1', 8))).toEqual([]);
});

it('readers share, permits are several; a writer is on its own', () => {
  const modes = (first: 'read' | 'write', second: 'read' | 'write', model: LockModel) =>
    kinds(
      new Story().promised(model).grant('c1', 1, { mode: first }).grant('c2', 7, { mode: second }).renewed('c1', 8),
    );
  expect(modes('read', 'read', { kind: 'read-write' })).toEqual([]);
  expect(modes('read', 'write', { kind: 'read-write' })).toEqual([]);
  expect(modes('write', 'read', { kind: 'read-write' })).toEqual(['exclusion revived']);
  expect(modes('write', 'write', { kind: 'semaphore', permits: 2 })).toEqual([]);
});

it('rejects a release that a stale holder was told had succeeded', () => {
  const result = judged(overtaken().release('c1', 8).release('c2', 9, { type: 'fail' }));
  expect(result).toMatchObject({
    verdict: 'invalid',
    found: { stale: 1 },
    violations: [
      { class: 'stale', kind: 'silent-release', fromNs: ns(8), holds: [{ client: 'c1' }, { client: 'c2' }] },
    ],
  });
  expect(result.violations[0]!.proof).toMatch(
    /c1 began to release it 1 s after that, at 8\.000 s, and was told that it had released what was no longer its own/,
  );
});

it('names what made the holder of a silent release stale', () => {
  const released = () => overtaken().up('c1').release('c1', 8);
  const causeOf = (story: Story) => judged(story).violations[0]!.cause;
  const slow = causeOf(released());
  expect(slow.name).toBe('client-slow');
  expect(slow.chain.at(-1)).toMatchObject({
    atNs: ns(8),
    text: 'c1 began to release lock:0, and was told that it had',
  });
  expect(causeOf(released().fault(2, 0, 'pause', 'strike', { effects: [{ kind: 'stopped', who: ['c1'] }] })).name).toBe(
    'client-paused',
  );
  // A fault on it that could have made it slow, and need not have.
  expect(causeOf(released().fault(2, 0, 'cpu', 'strike', { targets: ['c1'] })).name).toBe('unexplained');
});

it('accepts a release that was refused or not answered, and one that came first, or nearly', () => {
  expect(kinds(overtaken().release('c1', 8, { type: 'fail' }))).toEqual([]);
  expect(kinds(overtaken().release('c1', 8, { type: 'info' }))).toEqual([]);
  expect(kinds(overtaken().release('c1', 6.9))).toEqual([]);
  // Within the margin of a lease's end the servers may have been right, and there is no stale holder.
  expect(kinds(overtaken().release('c1', 7.006))).toEqual([]);
  expect(kinds(overtaken().release('c1', 7.008))).toEqual(['stale silent-release']);
});

it('the second release of a hold may say "released" of what the first one did', () => {
  expect(kinds(overtaken().release('c1', 7.5, { type: 'info' }).release('c1', 8))).toEqual([]);
  expect(kinds(overtaken().release('c1', 7.5, { type: 'never' }).release('c1', 8))).toEqual([]);
});

it('a holder whose lease still ran was robbed, and releases in good faith', () => {
  // Two primaries: what c1 releases on its own is its own.
  expect(kinds(new Story().grant('c1', 1).grant('c2', 3).release('c1', 4))).toEqual([]);
  // A renewal that made the lock again is one finding, and what it releases then is its own.
  expect(kinds(overtaken().release('c2', 7.5).renewed('c1', 8).release('c1', 9))).toEqual(['exclusion revived']);
});

it("says nothing of a stale holder that need not be the lock's fault", () => {
  const stalled = (ms: number) =>
    overtaken().disturbed(5.9, 'harness-stall', ms).release('c1', 8, { sent: 7.999 }).release('c2', 9);
  expect(kinds(stalled(2_000))).toEqual([]);
  expect(kinds(stalled(10))).toEqual(['stale silent-release']);
});

it('holds that follow one another break nothing', () => {
  const story = new Story().grant('c1', 1).renewed('c1', 3).release('c1', 5).grant('c2', 6).extend('c2', 7);
  expect(judged(story.release('c2', 8))).toMatchObject({ verdict: 'valid', violations: [], found: {} });
});

it('a release is judged that comes after extensions, and not one that comes after its client asked for the key again', () => {
  const extended = new Story().grant('c1', 1).extend('c1', 3).grant('c2', 9).release('c2', 10).release('c1', 11);
  expect(kinds(extended)).toEqual(['stale silent-release']);
  const askedAgain = overtaken().refused('c1', 7.6, 7.7).release('c2', 8).release('c1', 9, { hold: 1 });
  expect(kinds(askedAgain)).toEqual([]);
});

it('says that the next one still held it only where it did', () => {
  const proofOf = (story: Story) => judged(story).violations[0]!.proof;
  expect(proofOf(overtaken().renewed('c1', 8).release('c2', 9))).toContain('at 7.000 s and still held it; the renewal');
  expect(proofOf(overtaken().release('c2', 7.5).renewed('c1', 8))).toContain('at 7.000 s; the renewal');
});

it('tells both grants, the end of the lease and the false word, with the lines that prove them', () => {
  const [revived] = judged(overtaken().renewed('c1', 8).release('c2', 9)).violations;
  expect(revived!.cause.chain.map(({ text }) => text)).toEqual([
    'c1 was granted lock:0',
    "c1's lease of 5000 ms ended",
    'c2 was granted lock:0',
    "c1's renewal of lock:0 left, and was carried out",
  ]);
  // Each grant by call and answer, and the renewal; each once, in order.
  expect(revived!.evidence).toEqual([1, 2, 3, 4, 5]);
  expect(revived!.cause.chain.map(({ history }) => history)).toEqual([2, 2, 4, 5]);
});

it('gives a release the margin of the longer of both leases', () => {
  // One of them is long: clocks may be wrong by 62 ms in a minute.
  const story = (release: number) =>
    new Story()
      .grant('c1', 1, { leaseMs: 1_000 })
      .grant('c2', 7, { leaseMs: 60_000 })
      .release('c1', release)
      .release('c2', 9);
  expect(kinds(story(7.02))).toEqual([]);
  expect(kinds(story(7.2))).toEqual(['stale silent-release']);
});
