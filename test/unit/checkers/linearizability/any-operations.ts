/** Small histories of any operations at all, which no lock need ever have answered so: most of what a procedure must refuse. */
import fc from 'fast-check';
import type { LockMode } from '../../../../harness/vocabulary/protocol.js';
import type { SmallOp } from './brute-force.js';
import { inOrderOfCalls } from './small-histories.js';

export const readings = fc.record({ failedReleaseEnds: fc.boolean(), triesInform: fc.boolean() });

/**
 * A few operations of up to three clients, each after the client's last, close enough together for equal stamps to be
 * common. Releases are of any hold that the client may have, known or not, and some come twice.
 */
export function anyOperations(most: number): fc.Arbitrary<SmallOp[]> {
  const step = fc.record({
    client: fc.nat(2),
    after: fc.nat(3),
    long: fc.nat(4),
    outcome: fc.constantFrom('ok', 'ok', 'ok', 'ok', 'fail', 'info'),
    /** Which of the client's acquires it releases, the last most often; beyond those: it acquires. */
    releases: fc.constantFrom(0, 0, 0, 1, 2, 9, 9, 9),
    reason: fc.constantFrom('usual', 'usual', 'other'),
    token: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    mode: fc.constantFrom<LockMode>('read', 'read', 'write'),
    lease: fc.constantFrom(2, 4, 7, undefined),
  });
  return fc.array(step, { minLength: 2, maxLength: most }).map((steps) => {
    const free = [0, 0, 0];
    const acquires: number[][] = [[], [], []];
    const ops: SmallOp[] = [];
    for (const one of steps) {
      const call = free[one.client]! + one.after;
      free[one.client] = call + one.long;
      const ret = one.outcome === 'info' ? Number.POSITIVE_INFINITY : call + one.long;
      const common = { client: `c${one.client + 1}`, call, ret, outcome: one.outcome };
      const failed = (usual: string, other: string) =>
        one.outcome === 'fail' ? { reason: one.reason === 'usual' ? usual : other } : {};
      const mine = acquires[one.client]!;
      const hold = mine.at(-1 - one.releases);
      if (hold !== undefined) {
        // Mostly a hold is released once.
        if (one.reason === 'usual') mine.splice(mine.indexOf(hold), 1);
        ops.push({ ...common, op: 'release', hold, ...failed('not-owner', 'unreachable') });
        continue;
      }
      const { token, mode, lease } = one;
      const given = one.outcome === 'ok' && token !== undefined ? { token } : {};
      if (one.outcome !== 'fail' || one.reason === 'other') mine.push(ops.length);
      ops.push({ ...common, op: 'acquire', mode, lease, ...given, ...failed('held', 'no-quorum') });
    }
    return inOrderOfCalls(ops);
  });
}
