import { describe, expect, it } from 'vitest';
import { modelOf, models } from '../../../../checkers/linearizability/models/index.js';
import type { Reading } from '../../../../checkers/linearizability/types.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { Story } from '../build.js';
import { keyOf } from './key-of.js';

const READING: Reading = { failedReleaseEnds: true, leases: false, triesInform: true };

/** What the lock is like after each operation, one after another; `impossible` where it would not have answered so. */
function steps(model: LockModel, story: Story, reading: Partial<Reading> = {}): string[] {
  const history = keyOf(story);
  const lock = modelOf(model);
  let state = lock.init(history);
  return Array.from(history.rows, (row) => {
    const after = lock.step(state, row, history, { ...READING, ...reading });
    if (after === undefined) return 'impossible';
    state = after;
    return lock.describe(state, history);
  });
}

const held = { reason: 'held' };

it('there is a model for every kind of lock, which names itself', () => {
  const kinds: LockModel[] = [
    { kind: 'mutex' },
    { kind: 'fair' },
    { kind: 'fenced' },
    { kind: 'read-write' },
    { kind: 'reentrant', depth: 3 },
    { kind: 'semaphore', permits: 4 },
  ];
  expect(kinds.map((kind) => modelOf(kind).model)).toEqual(kinds);
  expect(Object.keys(models).sort()).toEqual(kinds.map(({ kind }) => kind).sort());
});

describe.each([{ kind: 'mutex' }, { kind: 'fair' }] satisfies LockModel[])('$kind', (model) => {
  it('is held by one client, once', () => {
    const story = new Story(false)
      .acquire('c1', [0, 0])
      .acquire('c2', [1, 1])
      .acquire('c1', [2, 2])
      .release('c1', [3, 3], { hold: 1 });
    expect(steps(model, story)).toEqual(['held by c1 (acquire at line 0)', 'impossible', 'impossible', 'free']);
  });

  it('is released once, by a release of that very hold', () => {
    const story = new Story(false)
      .acquire('c1', [0, 0])
      .release('c1', [1, 1])
      .acquire('c1', [2, 2])
      .release('c1', [3, 3], { hold: 1 })
      .release('c1', [4, 4]);
    expect(steps(model, story)).toEqual([
      'held by c1 (acquire at line 0)',
      'free',
      'held by c1 (acquire at line 4)',
      'impossible',
      'free',
    ]);
  });

  it('refuses every client while it is held, and only then', () => {
    const story = new Story(false)
      .acquire('c2', [0, 0], held)
      .acquire('c1', [1, 1])
      .acquire('c2', [2, 2], held)
      .acquire('c1', [3, 3], held);
    const hold = 'held by c1 (acquire at line 2)';
    expect(steps(model, story)).toEqual(['impossible', hold, hold, hold]);
    expect(steps(model, story, { triesInform: false })[0]).toBe('free');
  });
});

it('a release that was answered "not yours" changes nothing or ends the hold, and is never impossible', () => {
  const story = new Story(false)
    .acquire('c1', [0, 0])
    .release('c1', [1, 1], { reason: 'unreachable' })
    .release('c1', [2, 2], { reason: 'not-owner' })
    .release('c1', [3, 3], { reason: 'not-owner' });
  const hold = 'held by c1 (acquire at line 0)';
  expect(steps({ kind: 'mutex' }, story)).toEqual([hold, hold, 'free', 'free']);
  expect(steps({ kind: 'mutex' }, story, { failedReleaseEnds: false })).toEqual([hold, hold, hold, hold]);
});

it('an operation of unknown outcome is stepped as one that succeeded', () => {
  const story = new Story(false).acquire('c1', [0]).acquire('c2', [1]).release('c1', [2]);
  expect(steps({ kind: 'mutex' }, story)).toEqual(['held by c1 (acquire at line 0)', 'impossible', 'free']);
});

it('reentrant: its owner takes it again, up to its depth, and ends either hold first', () => {
  const story = new Story(false)
    .acquire('c1', [0, 0])
    .acquire('c1', [1, 1])
    .acquire('c1', [2, 2])
    .acquire('c1', [3, 3], held)
    .release('c1', [4, 4], { hold: 1 })
    .acquire('c1', [5, 5], held)
    .acquire('c2', [6, 6])
    .acquire('c2', [7, 7], held)
    .release('c1', [8, 8], { hold: 2 })
    .acquire('c2', [9, 9]);
  const [outer, inner] = ['c1 (acquire at line 0)', 'c1 (acquire at line 2)'];
  expect(steps({ kind: 'reentrant', depth: 2 }, story)).toEqual([
    `held by ${outer}`,
    `held by ${outer} and ${inner}`,
    'impossible',
    `held by ${outer} and ${inner}`,
    `held by ${inner}`,
    'impossible', // it would have been granted
    'impossible',
    `held by ${inner}`,
    'free',
    'held by c2 (acquire at line 18)',
  ]);
});

describe('read-write', () => {
  const read = { mode: 'read' } as const;
  const write = { mode: 'write' } as const;
  const model: LockModel = { kind: 'read-write' };

  it('readers share, and keep writers out', () => {
    const story = new Story(false)
      .acquire('c1', [0, 0], read)
      .acquire('c2', [1, 1], read)
      .acquire('c3', [2, 2], write)
      .acquire('c3', [3, 3], { ...write, ...held })
      .acquire('c3', [4, 4], { ...read, ...held })
      .acquire('c1', [5, 5], write);
    const both = 'held by c1 (acquire at line 0) and c2 (acquire at line 2)';
    expect(steps(model, story).slice(1)).toEqual([both, 'impossible', both, 'impossible', 'impossible']);
  });

  it('a writer keeps others out, may read besides, and does not write twice', () => {
    const story = new Story(false)
      .acquire('c1', [0, 0]) // no mode: exclusive
      .acquire('c2', [1, 1], read)
      .acquire('c2', [2, 2], { ...read, ...held })
      .acquire('c1', [3, 3], write)
      .acquire('c1', [4, 4], read)
      .release('c1', [5, 5], { hold: 1 })
      .acquire('c2', [6, 6], read);
    const first = 'held by c1 (acquire at line 0)';
    expect(steps(model, story)).toEqual([
      first,
      'impossible',
      first,
      'impossible',
      `${first} and c1 (acquire at line 8)`,
      'held by c1 (acquire at line 8)',
      'held by c1 (acquire at line 8) and c2 (acquire at line 12)',
    ]);
  });
});

it('semaphore: as many holds as there are permits, by any clients', () => {
  const story = new Story(false)
    .acquire('c1', [0, 0])
    .acquire('c2', [1, 1], held)
    .acquire('c1', [2, 2])
    .acquire('c2', [3, 3])
    .acquire('c2', [4, 4], held)
    .release('c1', [5, 5], { hold: 1 })
    .acquire('c2', [6, 6]);
  const two = 'held by c1 (acquire at line 0) and c1 (acquire at line 4)';
  expect(steps({ kind: 'semaphore', permits: 2 }, story)).toEqual([
    'held by c1 (acquire at line 0)',
    'impossible',
    two,
    'impossible',
    two,
    'held by c1 (acquire at line 4)',
    'held by c1 (acquire at line 4) and c2 (acquire at line 12)',
  ]);
});

it('fenced: tokens rise with every grant that has one', () => {
  const story = new Story(false)
    .acquire('c1', [0, 0], { token: 7 })
    .release('c1', [1, 1])
    .acquire('c2', [2, 2], { token: 7 })
    .acquire('c2', [3, 3])
    .release('c2', [4, 4])
    .acquire('c3', [5, 5], { token: 6 })
    .acquire('c3', [6, 6], { token: 8 });
  expect(steps({ kind: 'fenced' }, story)).toEqual([
    'held by c1 (acquire at line 0), last token 7',
    'free, last token 7',
    'impossible',
    'held by c2 (acquire at line 6), last token 7',
    'free, last token 7',
    'impossible',
    'held by c3 (acquire at line 12), last token 8',
  ]);
});
