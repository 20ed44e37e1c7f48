/** Findings are counted without being listed: here against counting them one by one. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide } from '../../../../checkers/linearizability/decide.js';
import type { Reading } from '../../../../checkers/linearizability/types.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { drawn, SEED } from '../../../support/drawn.js';
import type { SmallOp } from './brute-force.js';
import { keyHistory } from './small-histories.js';

const STRICT: Reading = { failedReleaseEnds: false, leases: false, triesInform: false };
const OPTIONS = { witnesses: 1_000_000, search: { configurations: 1_000, steps: 10_000 } };

interface Core {
  client: string;
  read: boolean;
  token: number;
  from: number;
  until: number;
}

/** Holds that each last some time, of clients of their own or of a few, many at once; some are never released. */
const cores = fc.array(
  fc.record({
    client: fc.integer({ min: 1, max: 4 }).map((n) => `c${n}`),
    read: fc.boolean(),
    token: fc.integer({ min: 1, max: 12 }),
    from: fc.integer({ min: 0, max: 60 }),
    length: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant(Number.POSITIVE_INFINITY)),
  }),
  { minLength: 1, maxLength: 25, size: 'max' },
);

/** As cores are all that counts here, operations take no time. */
function opsOf(holds: readonly Core[]): SmallOp[] {
  const ops: (SmallOp & { of: number })[] = [];
  holds.forEach(({ client, read, token, from, until }, of) => {
    const mode = read ? ('read' as const) : ('write' as const);
    ops.push({ op: 'acquire', client, call: from, ret: from, outcome: 'ok', mode, token, of });
    if (until !== Number.POSITIVE_INFINITY)
      ops.push({ op: 'release', client, call: until, ret: until, outcome: 'ok', of });
  });
  const kind = (op: SmallOp) => Number(op.op === 'release');
  ops.sort((a, b) => a.call - b.call || kind(a) - kind(b) || a.of - b.of);
  const acquireOf = new Map(ops.flatMap(({ op, of }, place) => (op === 'acquire' ? [[of, place]] : [])));
  return ops.map(({ of, ...op }) => (op.op === 'release' ? { ...op, hold: acquireOf.get(of)! } : op));
}

const overlap = (a: Core, b: Core) => a.from < b.until && b.from < a.until;

/** Whether `b`, granted after `a`, cannot have been for one of these reasons. */
const WRONG: { model: LockModel; reasons: ((a: Core, b: Core) => boolean)[] }[] = [
  { model: { kind: 'mutex' }, reasons: [overlap] },
  {
    model: { kind: 'read-write' },
    // A client that writes may read beside it, if it began with writing.
    reasons: [(a, b) => overlap(a, b) && !(a.read && b.read) && !(a.client === b.client && readsUnderOwnWrite(a, b))],
  },
  { model: { kind: 'reentrant', depth: 100 }, reasons: [(a, b) => overlap(a, b) && a.client !== b.client] },
  { model: { kind: 'fenced' }, reasons: [overlap, (a, b) => a.until <= b.from && a.token >= b.token] },
];

function readsUnderOwnWrite(a: Core, b: Core): boolean {
  const [write, read] = a.read ? [b, a] : [a, b];
  return read.read && !write.read && write.from <= read.from;
}

test.each(WRONG)(
  `each grant that cannot be is counted once, and listed if there is room: $model.kind (LOCK_TORTURE_TEST_SEED=${SEED})`,
  ({ model, reasons }) => {
    const modes = model.kind === 'read-write';
    fc.assert(
      fc.property(cores, (drawn) => {
        const holds = drawn.map(({ length, ...core }): Core => ({ ...core, until: core.from + length }));
        // In the order of their grants; a writer goes before its own reads of the same instant.
        const granted = holds.map((hold, of) => ({ ...hold, of }));
        granted.sort((a, b) => a.from - b.from || (modes ? Number(a.read) - Number(b.read) : 0) || a.of - b.of);
        const wrong = reasons.flatMap((isWrong) =>
          granted.filter((later, at) => granted.slice(0, at).some((earlier) => isWrong(earlier, later))),
        );
        const { found, witnesses, verdict } = decide(keyHistory(opsOf(holds)), model, STRICT, OPTIONS);
        expect({ found, verdict }).toEqual({ found: wrong.length, verdict: wrong.length > 0 ? 'invalid' : 'valid' });
        expect(witnesses).toHaveLength(wrong.length);
      }),
      drawn(60),
    );
  },
);
