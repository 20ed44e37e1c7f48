/**
 * A valid history of a correct lock, broken in one way at a random place: exactly that finding must come, on exactly those
 * rows. This is what keeps a witness from naming the wrong holds.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../../../../checkers/linearizability/decide.js';
import type { Decision, Reading, WitnessKind } from '../../../../checkers/linearizability/types.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { drawn, SEED } from '../../../support/drawn.js';
import type { SmallOp } from './brute-force.js';
import { keyHistory } from './small-histories.js';

const OPTIONS = { witnesses: 10, search: { configurations: 10_000, steps: 100_000 } };
const STRICT: Reading = { failedReleaseEnds: false, leases: false, triesInform: false };
const TRIES: Reading = { ...STRICT, triesInform: true };
const LEASES: Reading = { ...STRICT, leases: true };

const LEASE = 50;
/** Every section has so much time; in it, from its beginning: */
const TURN = 100;
const AT = { asked: 0, granted: 10, tried: 20, refused: 30, releases: 50, released: 60, over: 100 };

type Named = SmallOp & { name: string };

/**
 * Sections one after another by several clients, each with a try that is refused while it holds: correct for any lock that
 * one client holds at a time. Operations are named `acquire 3`, `try 3`, `release 3`.
 */
function correct(sections: number, clients: number): Named[] {
  return Array.from({ length: sections }, (_, n): Named[] => {
    const from = n * TURN;
    const client = `c${n % clients}`;
    const other = `t${n % 3}`;
    return [
      { name: `acquire ${n}`, op: 'acquire', client, call: from, ret: from + AT.granted, outcome: 'ok', token: n + 1 },
      {
        name: `try ${n}`,
        op: 'acquire',
        client: other,
        call: from + AT.tried,
        ret: from + AT.refused,
        outcome: 'fail',
        reason: 'held',
      },
      {
        name: `release ${n}`,
        op: 'release',
        client,
        call: from + AT.releases,
        ret: from + AT.released,
        outcome: 'ok',
        hold: 3 * n,
      },
    ];
  }).flat();
}

interface Broken {
  ops: Named[];
  /** What must be found, and on which operations. */
  kind: WitnessKind;
  names: string[];
}

function change(ops: readonly Named[], name: string, by: Partial<SmallOp>): Named[] {
  expect(ops.some((op) => op.name === name)).toBe(true);
  return ops.map((op) => (op.name === name ? { ...op, ...by } : op));
}

const WAYS: { way: string; model: LockModel; reading: Reading; broken: (ops: Named[], n: number) => Broken }[] = [
  {
    way: 'two cores made to overlap',
    model: { kind: 'mutex' },
    reading: STRICT,
    broken: (ops, n) => ({
      ops: change(ops, `release ${n}`, { call: (n + 1) * TURN + AT.tried, ret: (n + 1) * TURN + AT.refused }),
      kind: 'overlap',
      names: [`acquire ${n}`, `acquire ${n + 1}`, `release ${n}`, `release ${n + 1}`],
    }),
  },
  {
    way: 'tokens swapped',
    model: { kind: 'fenced' },
    reading: STRICT,
    broken: (ops, n) => ({
      ops: change(change(ops, `acquire ${n}`, { token: n + 2 }), `acquire ${n + 1}`, { token: n + 1 }),
      kind: 'fence-inversion',
      names: [`acquire ${n}`, `release ${n}`, `acquire ${n + 1}`, `release ${n + 1}`],
    }),
  },
  {
    way: 'a refused try moved into a free gap',
    model: { kind: 'mutex' },
    reading: TRIES,
    broken: (ops, n) => ({
      ops: change(ops, `try ${n}`, { call: n * TURN + AT.released + 5, ret: n * TURN + AT.over - 5 }),
      kind: 'try-in-free-gap',
      names: [`acquire ${n}`, `release ${n}`, `try ${n}`, `acquire ${n + 1}`, `release ${n + 1}`],
    }),
  },
  {
    way: 'an unknown acquire whose release succeeded inside a core',
    model: { kind: 'mutex' },
    reading: STRICT,
    broken: (ops, n) => ({
      ops: [
        ...ops,
        {
          name: 'unknown',
          op: 'acquire',
          client: 'x',
          call: n * TURN + 5,
          ret: Number.POSITIVE_INFINITY,
          outcome: 'info',
        },
        {
          name: 'its release',
          op: 'release',
          client: 'x',
          call: n * TURN + AT.tried,
          ret: n * TURN + AT.refused,
          outcome: 'ok',
          hold: ops.length,
        },
      ],
      kind: 'zone-in-cores',
      names: [`acquire ${n}`, 'unknown', 'its release', `release ${n}`],
    }),
  },
  {
    way: 'a chain of leases that does not fit',
    model: { kind: 'mutex' },
    reading: LEASES,
    broken(ops, n) {
      const from = n * TURN;
      const unreached = { outcome: 'fail', reason: 'unreachable' } as const;
      const unreleased = [n, n + 1, n + 2].reduce((changed, k) => change(changed, `release ${k}`, unreached), ops);
      const taken = change(
        change(change(unreleased, `acquire ${n}`, { call: from, ret: from + 30, lease: LEASE }), `acquire ${n + 1}`, {
          call: from + 31,
          ret: from + 75,
          lease: LEASE,
        }),
        `acquire ${n + 2}`,
        { call: from + 60, ret: from + 99, lease: LEASE },
      );
      return { ops: taken, kind: 'lease-chain', names: [`acquire ${n}`, `acquire ${n + 1}`, `acquire ${n + 2}`] };
    },
  },
  {
    way: 'a hold released twice',
    model: { kind: 'mutex' },
    reading: STRICT,
    broken: (ops, n) => ({
      ops: [
        ...ops,
        {
          ...ops.find(({ name }) => name === `release ${n}`)!,
          name: 'again',
          call: n * TURN + AT.released + 5,
          ret: n * TURN + AT.over - 5,
        },
      ],
      kind: 'protocol',
      names: [`acquire ${n}`, `release ${n}`, 'again'],
    }),
  },
  {
    way: 'a reader beside a writer',
    model: { kind: 'read-write' },
    reading: STRICT,
    broken: (ops, n) => ({
      ops: change(change(ops, `acquire ${n}`, { mode: 'read' }), `release ${n}`, {
        call: (n + 1) * TURN + AT.tried,
        ret: (n + 1) * TURN + AT.refused,
      }),
      kind: 'overlap',
      names: [`acquire ${n}`, `acquire ${n + 1}`, `release ${n}`, `release ${n + 1}`],
    }),
  },
  {
    way: 'one more than there are permits',
    model: { kind: 'semaphore', permits: 2 },
    reading: STRICT,
    broken: (ops, n) => ({
      ops: [n, n + 1].reduce(
        (changed, k) =>
          change(changed, `release ${k}`, { call: (n + 2) * TURN + AT.tried, ret: (n + 2) * TURN + AT.refused }),
        ops,
      ),
      kind: 'overlap',
      names: [n, n + 1, n + 2].flatMap((k) => [`acquire ${k}`, `release ${k}`]),
    }),
  },
  {
    way: 'a reentrant lock taken once too often',
    model: { kind: 'reentrant', depth: 1 },
    reading: STRICT,
    broken: (ops, n) => ({
      ops: [
        ...ops,
        {
          ...ops.find(({ name }) => name === `acquire ${n}`)!,
          name: 'inner',
          call: n * TURN + AT.tried,
          ret: n * TURN + AT.refused,
        },
        {
          ...ops.find(({ name }) => name === `release ${n}`)!,
          name: 'inner release',
          call: n * TURN + AT.refused + 5,
          ret: n * TURN + AT.releases - 5,
          hold: ops.length,
        },
      ],
      kind: 'protocol',
      names: [`acquire ${n}`, 'inner', 'inner release', `release ${n}`],
    }),
  },
];

describe(`what is broken in one way is found in that way (LOCK_TORTURE_TEST_SEED=${SEED})`, () => {
  test.each(WAYS)('$way', ({ model, reading, broken }) => {
    const places = fc.record({ sections: fc.integer({ min: 5, max: 30 }), clients: fc.integer({ min: 4, max: 9 }) });
    fc.assert(
      fc.property(places, fc.nat(999), ({ sections, clients }, place) => {
        const ops = correct(sections, clients);
        expect(decided(ops, model, reading).verdict).toBe('valid');
        const { ops: changed, kind, names } = broken(ops, place % (sections - 3));
        const sorted = inOrderOfCalls(changed);
        const { verdict, found, witnesses, notes } = decided(sorted, model, reading);
        expect({ verdict, found, notes }).toEqual({ verdict: 'invalid', found: 1, notes: expect.anything() });
        expect(witnesses).toHaveLength(1);
        expect(witnesses[0]!.kind).toBe(kind);
        expect(witnesses[0]!.rows.map((row) => sorted[row]!.name).sort()).toEqual([...names].sort());
      }),
      drawn(50),
    );
  });
});

function decided(ops: readonly SmallOp[], model: LockModel, reading: Reading): Decision {
  return decide(keyHistory(ops), model, reading, OPTIONS);
}

function inOrderOfCalls(ops: readonly Named[]): Named[] {
  const order = ops.map((op, at) => ({ op, at })).sort((a, b) => a.op.call - b.op.call || a.at - b.at);
  const placeOf = new Map(order.map(({ at }, place) => [at, place]));
  return order.map(({ op }) => (op.hold === undefined ? op : { ...op, hold: placeOf.get(op.hold)! }));
}
