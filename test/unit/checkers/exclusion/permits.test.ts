import { expect, it } from 'vitest';
import { permits } from '../../../../checkers/exclusion/permits.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import {
  acquire,
  checkInput,
  clientDown,
  clientUpWithoutLeases,
  fault,
  KEY,
  ns,
  release,
  type Told,
} from '../literal.js';

const TWO: LockModel = { kind: 'semaphore', permits: 2 };
const judged = (told: (Told | Told[])[], model: LockModel = TWO) => permits.check(checkInput(told.flat(), model));
const recovered = (at: number, missing: string[] = []): Told => ({
  at,
  body: { type: 'recovered', afterMs: 10, missing },
});
const refused = (client: string, id: number, at: number, reason = 'held') =>
  acquire(client, id, { at, until: at + 0.5, type: 'fail', reason });

/** c1 is granted a permit at 1 s, with a lease until 6 s, and killed at 2 s. */
const died = [acquire('c1', 1, { at: 1 }), clientDown('c1', 2)];

it('rejects a try that was refused although only one of two permits can have been taken', () => {
  const result = judged([...died, recovered(5), acquire('c2', 1, { at: 8 }), refused('c3', 1, 9)]);
  expect(result).toMatchObject({
    verdict: 'invalid',
    stats: { permitLeaks: 1 },
    violations: [
      {
        class: 'liveness',
        kind: 'permit-leak',
        key: KEY,
        fromNs: ns(9),
        untilNs: ns(9.5),
        evidence: [0, 1, 2, 3, 6, 7],
        holds: [{ client: 'c1' }],
        cause: { name: 'unexplained', chain: [{ history: 1 }, { history: 7 }] },
      },
    ],
  });
  expect(result.violations[0]!.proof).toBe(
    'Everything was healed and recovered at 5.000 s; c3 was refused lock:0 between 9.000 s and 9.500 s, when others can have had at most 1 of its 2 permits: at least 1 is lost.',
  );
});

it('says that more may be lost where another semaphore was not tried', () => {
  const story = [...died, recovered(5), acquire('c2', 1, { at: 8 }), refused('c3', 1, 9)];
  expect(judged(story).open).toBeUndefined();
  const other = [acquire('c4', 1, { at: 1, key: 'lock:1' }), release('c4', 2, { at: 2, hold: 1, key: 'lock:1' })];
  expect(judged([...other, ...story])).toMatchObject({ verdict: 'invalid', open: ['liveness'] });
});

it('rejects the same of a lock whose permits nothing ends: that is how they are lost', () => {
  const up = clientUpWithoutLeases('c1');
  const told = [up, ...died, recovered(5), acquire('c2', 1, { at: 8 }), refused('c3', 1, 9)];
  expect(judged(told).violations.map(({ kind }) => kind)).toEqual(['permit-leak']);
  // Before the lease that was asked for is over, it could still be given back by an operator.
  expect(judged([up, ...died, recovered(3), acquire('c2', 1, { at: 4 }), refused('c3', 1, 4.5)]).violations).toEqual(
    [],
  );
});

it('accepts where all permits were held at once after the recovery', () => {
  const end = release('c3', 9, { at: 11, hold: 1 });
  expect(judged([...died, recovered(5), acquire('c2', 1, { at: 8 }), acquire('c3', 1, { at: 9 }), end])).toMatchObject({
    verdict: 'valid',
    notes: [],
    violations: [],
  });
  // A refusal before that was not for good.
  const late = [acquire('c2', 1, { at: 8 }), refused('c3', 7, 9), acquire('c3', 1, { at: 10 }), end];
  expect(judged([...died, recovered(5), ...late]).verdict).toBe('valid');
});

it('but a permit that is lost after that is reported', () => {
  const late = [
    acquire('c2', 1, { at: 8 }),
    acquire('c3', 1, { at: 9 }),
    release('c2', 2, { at: 10, hold: 1 }),
    release('c3', 2, { at: 10, hold: 1 }),
    refused('c2', 3, 11),
  ];
  expect(judged([recovered(5), ...late])).toMatchObject({
    verdict: 'invalid',
    violations: [{ proof: expect.stringMatching(/at most 0 of its 2 permits: at least 2 are lost/) }],
  });
});

it('cannot tell while a permit may be taken: by a living holder, within a lease and a grace, or by an unknown try', () => {
  const verdictOf = (...told: (Told | Told[])[]) =>
    judged([recovered(5), acquire('c2', 1, { at: 5.1 }), ...told]).verdict;
  const dies = (at: number) => [acquire('c1', 1, { at, leaseMs: 1_000 }), clientDown('c1', at + 0.2)];
  expect(verdictOf(acquire('c1', 1, { at: 3 }), release('c1', 2, { at: 4, hold: 1 }), refused('c3', 1, 9))).toBe(
    'invalid',
  );
  // Held by c2 and by c1, which lives.
  expect(verdictOf(acquire('c1', 1, { at: 3 }), refused('c3', 1, 30))).toBe('valid');
  // The lease is over at 5 s; a grace of one second more.
  expect(verdictOf(...dies(4), refused('c3', 1, 5.9))).toBe('unknown');
  expect(verdictOf(...dies(4), refused('c3', 1, 6.1))).toBe('invalid');
  // A release of unknown outcome.
  const released = (type: 'info' | 'fail') => [
    acquire('c1', 1, { at: 4, leaseMs: 1_000 }),
    release('c1', 2, { at: 4.1, hold: 1, type, reason: 'x' }),
  ];
  expect(verdictOf(...released('info'), refused('c3', 1, 5.9))).toBe('unknown');
  expect(verdictOf(...released('info'), refused('c3', 1, 6.1))).toBe('invalid');
  expect(verdictOf(...released('fail'), refused('c3', 1, 5.9))).toBe('unknown');
  // An unknown try may have been granted until everything was healed: a lease of 1 s from then on, and the grace.
  const unknown = acquire('c1', 1, { at: 1, leaseMs: 1_000, type: 'info', reason: 'timeout' });
  expect(verdictOf(unknown, refused('c3', 1, 6.9))).toBe('unknown');
  expect(verdictOf(unknown, refused('c3', 1, 7.1))).toBe('invalid');
  const silent = acquire('c1', 1, { at: 1, leaseMs: 1_000, type: 'none' });
  expect(verdictOf(silent, refused('c3', 1, 60))).toBe('unknown');
  expect(verdictOf(silent, clientDown('c1', 6), refused('c3', 1, 7.9))).toBe('unknown');
  expect(verdictOf(silent, clientDown('c1', 6), refused('c3', 1, 8.1))).toBe('invalid');
});

it('two tries that were refused together may have refused each other', () => {
  const story = (second: number) => [
    recovered(5),
    acquire('c2', 1, { at: 6 }),
    refused('c3', 1, 9),
    refused('c4', 1, second),
  ];
  expect(judged(story(9.5)).verdict).toBe('unknown');
  expect(judged(story(9.51)).verdict).toBe('invalid');
});

it('a refusal for another reason, before the recovery, or of another key proves nothing', () => {
  expect(judged([recovered(5), refused('c3', 1, 9, 'unreachable')]).verdict).toBe('unknown');
  expect(judged([refused('c3', 1, 3), recovered(5)]).verdict).toBe('unknown');
});

it('cannot tell where no client tried to take them all, where the lock had not recovered, and for other locks', () => {
  expect(judged([...died, recovered(5), acquire('c2', 1, { at: 8 })])).toMatchObject({
    verdict: 'unknown',
    notes: [expect.stringMatching(/^no try was made to take all 2 permits of lock:0/)],
  });
  const leaked = [...died, acquire('c2', 1, { at: 8 }), refused('c3', 1, 9)];
  expect(judged([...leaked, recovered(5, ['no primary'])])).toMatchObject({
    verdict: 'unknown',
    notes: [expect.stringMatching(/had not recovered \(no primary\)/)],
  });
  expect(judged(leaked)).toMatchObject({ verdict: 'unknown', notes: [expect.stringMatching(/no record/)] });
  expect(judged([...leaked, recovered(5)], { kind: 'mutex' }).verdict).toBe('unknown');
});

it('permits that were all held before the recovery, and not after it, show nothing of the recovery', () => {
  const before = ['c1', 'c2'].flatMap((client) => [
    acquire(client, 1, { at: 1 }),
    release(client, 2, { at: 2, hold: 1 }),
  ]);
  expect(judged([...before, recovered(5)])).toMatchObject({
    verdict: 'unknown',
    notes: [expect.stringMatching(/^no try was made/)],
  });
  // And do not excuse what is refused after it.
  expect(judged([...before, recovered(5), refused('c3', 1, 9)]).verdict).toBe('invalid');
});

it('names only who never gave back a permit of that semaphore by then', () => {
  const gaveBack = [acquire('c4', 1, { at: 1 }), release('c4', 2, { at: 2, hold: 1 }), clientDown('c4', 3)];
  const elsewhere = [acquire('c5', 1, { at: 1, key: 'lock:1' }), clientDown('c5', 2)];
  const later = [acquire('c6', 1, { at: 20 }), clientDown('c6', 21)];
  const [first] = judged([
    ...died,
    ...gaveBack,
    ...elsewhere,
    recovered(12),
    refused('c3', 1, 15),
    ...later,
  ]).violations;
  expect(first).toMatchObject({ key: KEY, holds: [{ client: 'c1' }] });
  expect(first!.holds).toHaveLength(1);
  expect(first!.cause.chain.map(({ text }) => text)).toEqual([
    'c1, granted a permit at 1.001 s, ended without having given it back',
    'c3 was refused lock:0',
  ]);
});

it('cannot tell where a fault was not healed, or something befell the run, and says which', () => {
  const leaked = [...died, recovered(5), acquire('c2', 1, { at: 8 }), refused('c3', 1, 9)];
  const failed = fault(4, -1, 'heal', 'failed');
  const after = (mishap: 'unhealed' | 'disk') =>
    judged([{ ...failed, body: { ...failed.body, proof: 'r1 is still stopped', mishap } as Told['body'] }, ...leaked]);
  expect(after('unhealed')).toMatchObject({
    verdict: 'unknown',
    notes: [expect.stringMatching(/: not everything could be healed \(r1 is still stopped\)$/)],
  });
  expect(after('disk')).toMatchObject({ verdict: 'unknown', notes: [expect.stringMatching(/: r1 is still stopped$/)] });
});

it('a try that was refused is over: it takes no permit from the next one', () => {
  const tries = ['c2', 'c4', 'c5'].map((client, n) => refused(client, 1, 8 + n / 10, 'unreachable'));
  expect(judged([...died, recovered(5), ...tries, refused('c3', 1, 12)])).toMatchObject({
    verdict: 'invalid',
    violations: [{ proof: expect.stringMatching(/at most 0 of its 2 permits/) }],
  });
});
