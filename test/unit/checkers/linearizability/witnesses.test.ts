/** What a finding of the fast procedures and of the search says: whom it names, when, and why that cannot be. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../../checkers/linearizability/decide.js';
import type { Reading, Witness } from '../../../../checkers/linearizability/types.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { Story } from '../build.js';
import { keyOf } from './key-of.js';

const STRICT: Reading = { failedReleaseEnds: false, leases: false, triesInform: false };
const DENIED_ENDS: Reading = { ...STRICT, failedReleaseEnds: true };
const TRIES: Reading = { ...STRICT, triesInform: true };
const LEASES: Reading = { ...STRICT, leases: true };
const mutex: LockModel = { kind: 'mutex' };
const fenced: LockModel = { kind: 'fenced' };
const held = { reason: 'held' };
const lease = { leaseMs: 5_000 };

const between = () =>
  new Story().acquire('c1', [0, 2]).release('c1', [4, 6]).acquire('c2', [10, 12]).release('c2', [14, 16]);

const told: [what: string, story: Story, model: LockModel, reading: Reading, says: string, from: number, to: number][] =
  [
    [
      'two at once',
      new Story().acquire('c1', [0, 2]).acquire('c2', [1, 4]).release('c1', [6, 8]).release('c2', [9, 10]),
      mutex,
      STRICT,
      'c1 certainly held lock:0 from 2.000 s to 6.000 s; c2 certainly held it from 4.000 s to 9.000 s; both at once for at least 2 s.',
      4,
      6,
    ],
    [
      'two that are never released',
      new Story().acquire('c1', [0, 2]).acquire('c2', [1, 4]),
      mutex,
      STRICT,
      'c1 certainly held lock:0 from 2.000 s on, never to release it; c2 certainly held it from 4.000 s on, never to release it; both at once from 4.000 s on.',
      4,
      4,
    ],
    [
      'more than there are permits',
      new Story().times(3, (one, n) => one.acquire(`c${n}`, [n, n + 1])),
      { kind: 'semaphore', permits: 2 },
      STRICT,
      'c0 certainly held lock:0 from 1.000 s on, never to release it; c1 certainly held it from 2.000 s on, never to release it; c2 certainly held it from 3.000 s on, never to release it; all 3 at once from 3.000 s on, and there are 2 permits.',
      3,
      3,
    ],
    [
      'more than one permit',
      new Story().acquire('c1', [0, 2]).acquire('c2', [1, 4]),
      { kind: 'semaphore', permits: 1 },
      STRICT,
      'c1 certainly held lock:0 from 2.000 s on, never to release it; c2 certainly held it from 4.000 s on, never to release it; both at once from 4.000 s on, and there is 1 permit.',
      4,
      4,
    ],
    [
      'one client twice',
      new Story().acquire('c1', [0, 1]).acquire('c1', [2, 3]),
      mutex,
      STRICT,
      'c1 certainly held lock:0 from 1.000 s on, never to release it; c1 certainly held it from 3.000 s on, never to release it; both at once from 3.000 s on.',
      3,
      3,
    ],
    [
      'one client with two permits of one',
      new Story().acquire('c1', [0, 1]).acquire('c1', [2, 3]),
      { kind: 'semaphore', permits: 1 },
      STRICT,
      'c1 certainly held lock:0 from 1.000 s on, never to release it; c1 certainly held it from 3.000 s on, never to release it; both at once from 3.000 s on, and there is 1 permit.',
      3,
      3,
    ],
    [
      'one client oftener than it may',
      new Story().times(3, (one, n) => one.acquire('c1', [2 * n, 2 * n + 1])),
      { kind: 'reentrant', depth: 2 },
      STRICT,
      'c1 certainly held lock:0 from 1.000 s on, never to release it; c1 certainly held it from 3.000 s on, never to release it; c1 certainly held it from 5.000 s on, never to release it; all 3 at once from 5.000 s on, which is more often than 2.',
      5,
      5,
    ],
    [
      'another client beside an owner',
      new Story().acquire('c1', [0, 1]).acquire('c2', [2, 3]),
      { kind: 'reentrant', depth: 2 },
      STRICT,
      'c1 certainly held lock:0 from 1.000 s on, never to release it; c2 certainly held it from 3.000 s on, never to release it; both at once from 3.000 s on.',
      3,
      3,
    ],
    [
      'with tokens',
      new Story().acquire('c1', [0, 2], { token: 7 }).acquire('c2', [1, 4], { token: 8 }),
      fenced,
      STRICT,
      'c1 (token 7) certainly held lock:0 from 2.000 s on, never to release it; c2 (token 8) certainly held it from 4.000 s on, never to release it; both at once from 4.000 s on.',
      4,
      4,
    ],
    [
      'an unknown acquire, released within another',
      new Story()
        .acquire('c1', [0])
        .acquire('c2', [1, 2])
        .release('c1', [3, 5])
        .release('c2', [6, 7])
        .acquire('c2', [8, 9]),
      mutex,
      STRICT,
      'c1 must have held lock:0 at some instant from 3.000 s to 5.000 s, as its release succeeded, though its acquire was never answered; but c2 certainly held lock:0 from 2.000 s to 6.000 s.',
      3,
      5,
    ],
    [
      'an acquire that was released at once, within another',
      new Story().acquire('c2', [1, 2]).acquire('c1', [3, 4]).release('c1', [4, 4]).release('c2', [6, 7]),
      mutex,
      STRICT,
      'c1 must have held lock:0 at 4.000 s, as its release came at once; but c2 certainly held lock:0 from 2.000 s to 6.000 s.',
      4,
      4,
    ],
    [
      'a chain of leases',
      new Story().acquire('c1', [0, 3], lease).acquire('c2', [3, 7], lease).acquire('c3', [6, 9], lease),
      mutex,
      LEASES,
      'c1 was granted lock:0 at 0.000 s at the earliest and held it until its lease had run or it released it, then c2 for a lease: lock:0 was not free again before 10.000 s; but c3 had been granted it by 9.000 s, 1 s too early.',
      9,
      10,
    ],
    [
      'a longer chain of leases',
      new Story()
        .acquire('c1', [0, 3], lease)
        .acquire('c2', [3, 7], lease)
        .acquire('c3', [6, 10], lease)
        .acquire('c4', [9, 13], lease),
      mutex,
      LEASES,
      'c1 was granted lock:0 at 0.000 s at the earliest and held it until its lease had run or it released it, then c2 and c3 for a lease each: lock:0 was not free again before 15.000 s; but c4 had been granted it by 13.000 s, 2 s too early.',
      13,
      15,
    ],
    [
      'what only a search finds',
      new Story()
        .acquire('c1', [0, 3], lease)
        .acquire('c2', [3, 7], lease)
        .acquire('c3', [6, 12], lease)
        .acquire('c4', [9, 14], lease),
      mutex,
      LEASES,
      'No order of these 4 operations of c1, c2, c3 and c4 on lock:0 explains them all: every one that is possible within their times was tried.',
      0,
      14,
    ],
    [
      'a lease of two',
      new Story().acquire('c1', [0, 2], { leaseMs: 9_000 }).acquire('c2', [6, 8]),
      mutex,
      LEASES,
      'c1 certainly held lock:0 from 2.000 s to 9.000 s; c2 certainly held it from 8.000 s on, never to release it; both at once for at least 1 s.',
      8,
      9,
    ],
    [
      'tokens that fall, in the order of calls',
      new Story().acquire('c1', [0, 1], { token: 2 }).release('c1', [2, 3]).acquire('c2', [4, 5], { token: 1 }),
      fenced,
      STRICT,
      'c1 (token 2) had been granted lock:0 (1.000 s) before c2 (token 1) asked for it (4.000 s); but the token of the first is 2 and that of the second 1, which is not higher.',
      1,
      5,
    ],
    [
      'tokens that fall, by who held when',
      new Story()
        .acquire('c1', [0, 2], { token: 8 })
        .release('c1', [3, 5])
        .acquire('c2', [1, 4], { token: 7 })
        .release('c2', [6, 7]),
      fenced,
      STRICT,
      'c1 (token 8) was done with lock:0 (3.000 s) before c2 (token 7) got it (4.000 s); but the token of the first is 8 and that of the second 7, which is not higher.',
      2,
      4,
    ],
    [
      'a refusal between two holds',
      between().acquire('c3', [7, 9], held),
      mutex,
      TRIES,
      'c3 was refused lock:0 between 7.000 s and 9.000 s because somebody held it; but c1 had released it by 6.000 s, and c2 asked for it at 10.000 s only.',
      7,
      9,
    ],
    [
      'a refusal after all holds',
      between().acquire('c3', [17, 18], held),
      mutex,
      TRIES,
      'c3 was refused lock:0 between 17.000 s and 18.000 s because somebody held it; but c2 had released it by 16.000 s, and it was not held after.',
      17,
      18,
    ],
    [
      'a refusal before all holds',
      new Story().acquire('c3', [0, 1], held).acquire('c1', [2, 3]),
      mutex,
      TRIES,
      'c3 was refused lock:0 between 0.000 s and 1.000 s because somebody held it; but it had not been held before, and c1 asked for it at 2.000 s only.',
      0,
      1,
    ],
    [
      'a release of nothing',
      new Story().acquire('c1', [0, 1], held).release('c1', [2, 3], { hold: 1 }),
      mutex,
      STRICT,
      "c1's release of lock:0 (2.000 s to 3.000 s) succeeded without an acquire that it could end.",
      2,
      3,
    ],
    [
      'a release of what was released',
      new Story().acquire('c1', [0, 1]).release('c1', [2, 3]).release('c1', [4, 5]),
      mutex,
      STRICT,
      'c1 released one hold of lock:0 successfully twice: (2.000 s to 3.000 s) and (4.000 s to 5.000 s).',
      4,
      5,
    ],
    [
      'a release of what was over',
      new Story().acquire('c1', [0, 1]).release('c1', [2, 3], { reason: 'not-owner' }).release('c1', [4, 5]),
      mutex,
      DENIED_ENDS,
      'c1 was told (2.000 s to 3.000 s) that its hold of lock:0 was over, and then released it successfully (4.000 s to 5.000 s).',
      4,
      5,
    ],
  ];

function found(story: Story, model: LockModel, reading: Reading): Witness {
  const { witnesses } = decide(keyOf(story), model, reading, {
    witnesses: 10,
    search: { configurations: 10_000, steps: 100_000 },
  });
  return witnesses[0]!;
}

describe('what a witness says', () => {
  it.each(told)('%s', (_, story, model, reading, says, from, to) => {
    const { proof, fromNs, untilNs } = found(story, model, reading);
    expect([proof, fromNs / 1e9, untilNs / 1e9]).toEqual([says, from, to]);
  });
});
