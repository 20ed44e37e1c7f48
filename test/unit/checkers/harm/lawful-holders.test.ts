import { expect, it } from 'vitest';
import { fencing } from '../../../../checkers/harm/fencing.js';
import { lawfulHolders } from '../../../../checkers/harm/lawful-holders.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { Story } from '../build.js';
import {
  acquire,
  checkInput,
  clientUpWithoutLeases,
  KEY,
  ns,
  type OperationOptions,
  read,
  release,
  type Told,
  write,
} from '../literal.js';

const FENCED: LockModel = { kind: 'fenced' };
const judged = (told: (Told | Told[])[], model: LockModel = FENCED) =>
  lawfulHolders.check(checkInput(told.flat(), model));

/** Two tokens of which it is not known exactly which numbers they are, so that nothing is said of their order. */
const [LOW, HIGH] = [2 ** 53 + 2, 2 ** 53 + 8];
const stale = { type: 'fail', reason: `stale-token: ${LOW} is older than ${HIGH}` } as const;

/** c1 holds and writes until 2 s; c2 is granted the key at 3 s until 8 s, and the resource refuses it at 4 s. */
const earlier = [
  acquire('c1', 1, { at: 1, token: HIGH }),
  write('c1', 2, { at: 1.5, hold: 1, value: 1, version: 1 }),
  release('c1', 3, { at: 2, hold: 1 }),
];
const grant = (options: Partial<OperationOptions> = {}) => acquire('c2', 1, { at: 3, token: LOW, ...options });
const refusal = (options: Partial<OperationOptions> = {}, op = write) =>
  op('c2', 2, { at: 4, until: 4.1, hold: 1, ...stale, ...options });
const story = [...earlier, grant(), refusal()];
const verdict = (...told: (Told | Told[])[]) => judged(told).verdict;

it('accuses a refusal of the one holder whose lease runs', () => {
  const result = judged(story);
  expect(result).toMatchObject({
    verdict: 'invalid',
    stats: { refusedForTheirToken: 1, lawfulHoldersRefused: 1 },
    violations: [
      {
        class: 'harm',
        kind: 'lawful-holder-refused',
        key: KEY,
        fromNs: ns(3.001),
        untilNs: ns(4.1),
        evidence: [6, 7, 8, 9],
        cause: { name: 'unexplained', chain: [{ history: 7 }, { history: 9 }] },
      },
    ],
  });
  expect(result.violations[0]!.proof).toBe(
    `c2 was granted lock:0 at 3.001 s with token ${LOW}; its write, begun at 4.000 s, was refused at 4.100 s (${stale.reason}), 3.9 s before its lease ended. No other client was granted the key or used the resource since the granted attempt left.`,
  );
  expect(verdict(...earlier, grant(), refusal({}, read))).toBe('invalid');
});

it('accuses that of a lock without leases however long it was held', () => {
  const refused = refusal({ at: 60, until: 60.1 });
  expect(judged([...earlier, grant(), refused]).verdict).toBe('valid');
  const [violation] = judged([clientUpWithoutLeases('c1'), ...earlier, grant(), refused]).violations;
  expect(violation!.proof).toContain('while it held it, for no lease could end. No other client');
});

it('tells each hold once', () => {
  const again = write('c2', 3, { at: 4.5, hold: 1, ...stale });
  expect(judged([...story, again])).toMatchObject({
    stats: { refusedForTheirToken: 2, lawfulHoldersRefused: 1 },
    violations: [{ untilNs: ns(4.1) }],
  });
});

it('a token that did not rise is reported by fencing alone', () => {
  const known = [
    acquire('c1', 1, { at: 1, token: 6 }),
    write('c1', 2, { at: 1.5, hold: 1, value: 1, version: 1 }),
    release('c1', 3, { at: 2, hold: 1 }),
    grant({ token: 5 }),
    refusal(),
  ];
  expect(judged(known)).toMatchObject({
    verdict: 'valid',
    stats: { refusedForTheirToken: 1, lawfulHoldersRefused: 0 },
  });
  expect(fencing.check(checkInput(known.flat(), FENCED)).violations).toMatchObject([{ kind: 'fence-inversion' }]);
  expect(fencing.check(checkInput(story.flat(), FENCED)).violations).toEqual([]);
});

it('what the resource took, and what it refused for another reason, is no such refusal', () => {
  expect(verdict(...earlier, grant(), refusal({ type: 'ok', value: 2, version: 2 }))).toBe('valid');
  expect(verdict(...earlier, grant(), refusal({ reason: 'no-token' }))).toBe('valid');
  expect(judged([grant()]).notJudged).toBe('no holder used a protected resource');
});

it('a holder whose lease had ended, but for the margin, is rightly refused', () => {
  // Granted at 3 s with a lease of 5 s: 7 ms of it are left out.
  expect(verdict(...earlier, grant(), refusal({ until: 7.992 }))).toBe('invalid');
  expect(verdict(...earlier, grant(), refusal({ until: 7.994 }))).toBe('valid');
  expect(verdict(...earlier, grant(), refusal({ until: 8.5 }))).toBe('valid');
});

it('one that had given the lock back is no holder', () => {
  expect(verdict(...story, release('c2', 3, { at: 4.05, hold: 1 }))).toBe('valid');
  expect(verdict(...story, release('c2', 3, { at: 4.2, hold: 1 }))).toBe('invalid');
});

it('a grant that may have been made later is what the resource refuses it for', () => {
  const other = (options: Partial<OperationOptions>) => acquire('c3', 1, { at: 3.5, token: HIGH, ...options });
  expect(verdict(...story, other({}))).toBe('valid');
  expect(verdict(...story, other({ at: 2.5, until: 3.2 }))).toBe('valid'); // or earlier: not known
  expect(verdict(...story, other({ at: 2.5, until: 2.9 }))).toBe('invalid');
  expect(verdict(...story, other({ at: 4.2 }))).toBe('invalid');
  expect(verdict(...story, other({ at: 3.5, until: 5, grantSent: 4.5 }))).toBe('invalid');
  expect(verdict(...story, other({ key: 'lock:1' }))).toBe('invalid');
});

it('so is an acquire of unknown outcome that had begun', () => {
  for (const type of ['info', 'none'] as const) {
    const unknown = (at: number, key = KEY) => acquire('c3', 1, { at, until: at + 0.1, type, reason: 'timeout', key });
    expect(verdict(...story, unknown(0.5))).toBe('valid');
    expect(verdict(...story, unknown(3.5))).toBe('valid');
    expect(verdict(...story, unknown(4.2))).toBe('invalid');
    expect(verdict(...story, unknown(3.5, 'lock:1'))).toBe('invalid');
    expect(verdict(...story, release('c1', 4, { at: 2.5, hold: 1, type, reason: 'timeout' }))).toBe('invalid');
  }
});

it('another access since its grant may be the reason, taken or not', () => {
  const held = [acquire('c3', 1, { at: 0.1, token: HIGH, leaseMs: 60_000 }), ...earlier];
  const access = (options: Partial<OperationOptions>, op = write) => op('c3', 2, { at: 3.5, hold: 1, ...options });
  expect(verdict(...held, grant(), refusal())).toBe('invalid');
  expect(verdict(...held, grant(), refusal(), access({}))).toBe('valid');
  expect(verdict(...held, grant(), refusal(), access({}, read))).toBe('valid');
  expect(verdict(...held, grant(), refusal(), access({ type: 'fail', reason: 'no-token' }))).toBe('valid');
  expect(verdict(...held, grant(), refusal(), access({ at: 2.9, until: 3.05 }))).toBe('valid');
  expect(verdict(...held, grant(), refusal(), access({ at: 2.8, until: 2.9 }))).toBe('invalid');
  expect(verdict(...held, grant(), refusal(), access({ at: 2.8, until: 2.9, type: 'info', reason: 'timeout' }))).toBe(
    'valid',
  );
  expect(verdict(...held, grant(), refusal(), access({ at: 4.2 }))).toBe('invalid');
});

it('its own accesses are no reason', () => {
  const own = write('c2', 3, { at: 3.5, hold: 1, value: 2, version: 2 });
  expect(verdict(...earlier, grant(), own, refusal())).toBe('invalid');
});

it('asks nothing of nested holds, readers and permits', () => {
  const outer = acquire('c2', 9, { at: 2.5, token: LOW, leaseMs: 60_000 });
  expect(verdict(...earlier, outer, grant(), refusal())).toBe('valid');
  expect(verdict(...earlier, grant({ mode: 'read' }), refusal())).toBe('valid');
  expect(judged(story, { kind: 'semaphore', permits: 2 }).verdict).toBe('valid');
});

it('blames the deployment where the count was lost with the lock', () => {
  const lost = new Story()
    .promised(FENCED)
    .up('c1')
    .up('c2')
    .grant('c1', 1, { token: HIGH })
    .grant('c2', 3, { token: LOW })
    .tell(refusal())
    .watch(0, 'r1')
    .watch(0, 'r2')
    .sample(0.5, 'r1')
    .sample(0.5, 'r2', { role: 'replica' })
    .sample(2, 'r2', { role: 'replica' })
    .sample(2.5, 'r2')
    .takeCounted(0.999, 'r1', 'c1')
    .takeCounted(2.999, 'r2', 'c2');
  expect(lawfulHolders.check(lost.input()).violations).toMatchObject([
    { kind: 'lawful-holder-refused', cause: { name: 'failover-lost-write' } },
  ]);
});
