/**
 * Histories of one key as the procedures see them: operations by their place, a call and a return, in small whole numbers of
 * nanoseconds. A short form of `../literal.ts`, whose words make the history, for tests in which nothing else matters.
 */
import fc from 'fast-check';
import type { KeyHistory } from '../../../../checkers/linearizability/types.js';
import { OP } from '../../../../harness/record/history-table.js';
import type { LockMode, LockModel } from '../../../../harness/vocabulary/protocol.js';
import { KEY, Story } from '../build.js';
import { operation, type Told } from '../literal.js';

export interface Operation {
  op: 'acquire' | 'release';
  client: string;
  callNs: number;
  /** Undefined: nothing is known of what came of it. */
  returnNs: number | undefined;
  /** Given: it failed. */
  reason?: string;
  token?: number;
  mode?: LockMode;
  leaseNs?: number;
  /** Of a release: the acquire, by its place in the list. */
  hold?: number;
}

/** When an operation of unknown outcome was given up, if it said anything at all. */
const GAVE_UP_NS = 1e6;

type More = Pick<Operation, 'reason' | 'token' | 'mode' | 'leaseNs'>;

export function acquire(client: string, callNs: number, returnNs?: number, more: More = {}): Operation {
  return { op: 'acquire', client, callNs, returnNs, ...more };
}

export function release(client: string, hold: number, callNs: number, returnNs?: number, reason?: string): Operation {
  return { op: 'release', client, hold, callNs, returnNs, ...(reason !== undefined && { reason }) };
}

/** Row n is the n-th operation of the list, which must be in the order of calls. */
export function literal(list: readonly Operation[]): KeyHistory {
  const told = list.flatMap(toldOf).sort((a, b) => a.at - b.at || isInvoke(b) - isInvoke(a));
  const { operations } = new Story(false).tell(told).history();
  return {
    key: KEY,
    operations,
    rows: Int32Array.from(list, (_, row) => row),
    callNs: Float64Array.from(list, ({ callNs }) => callNs),
    returnNs: Float64Array.from(list, ({ returnNs }) => returnNs ?? Number.POSITIVE_INFINITY),
    leaseNs: Float64Array.from(list, ({ leaseNs }, row) =>
      operations.op[row] === OP.acquire ? (leaseNs ?? Number.POSITIVE_INFINITY) : Number.NaN,
    ),
  };
}

/** The same operation in the words of all checkers' tests; its id is its place. */
function toldOf({ op, client, callNs, returnNs, reason, token, mode, hold }: Operation, id: number): Told[] {
  const unanswered = token === undefined ? 'none' : 'info';
  const type = returnNs === undefined ? unanswered : reason === undefined ? 'ok' : 'fail';
  const [at, until] = [callNs / 1e9, (returnNs ?? GAVE_UP_NS) / 1e9];
  return operation(op, client, id, { at, until, type, reason, token, mode, hold, stamps: false });
}

const isInvoke = ({ body }: Told) => Number(body.type === 'invoke');

export const MODELS: readonly LockModel[] = [
  { kind: 'mutex' },
  { kind: 'reentrant', depth: 2 },
  { kind: 'read-write' },
  { kind: 'semaphore', permits: 2 },
  { kind: 'fenced' },
  { kind: 'fair' },
];

export const readings = fc.record({ failedReleaseEnds: fc.boolean(), triesInform: fc.boolean() });

/**
 * A few operations of up to three clients, each after the client's last, close enough together for equal stamps to be
 * common. Releases are of any hold that the client may have, known or not, and some come twice.
 */
export function operations(most: number): fc.Arbitrary<Operation[]> {
  const step = fc.record({
    client: fc.nat(2),
    afterNs: fc.nat(3),
    longNs: fc.nat(4),
    outcome: fc.constantFrom('ok', 'ok', 'ok', 'ok', 'fail', 'info'),
    /** Which of the client's acquires it releases, the last most often; beyond those: it acquires. */
    releases: fc.constantFrom(0, 0, 0, 1, 2, 9, 9, 9),
    reason: fc.constantFrom('usual', 'usual', 'other'),
    token: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    mode: fc.constantFrom<LockMode>('read', 'read', 'write'),
    leaseNs: fc.constantFrom(2, 4, 7, undefined),
  });
  return fc.array(step, { minLength: 2, maxLength: most }).map((steps) => {
    const freeNs = [0, 0, 0];
    const acquires: Drawn[][] = [[], [], []];
    const drawn = steps.map((one): Drawn => {
      const callNs = freeNs[one.client]! + one.afterNs;
      const returnNs = one.outcome === 'info' ? undefined : callNs + one.longNs;
      freeNs[one.client] = callNs + one.longNs;
      const client = `c${one.client + 1}`;
      const of = acquires[one.client]!.at(-1 - one.releases);
      const failed = (usual: string, other: string) =>
        one.outcome === 'fail' ? { reason: one.reason === 'usual' ? usual : other } : {};
      if (of) {
        // Mostly a hold is released once.
        if (one.reason === 'usual') acquires[one.client]!.splice(acquires[one.client]!.indexOf(of), 1);
        return { op: 'release', client, callNs, returnNs, of, ...failed('not-owner', 'unreachable') };
      }
      const { token, mode, leaseNs } = one;
      const given = one.outcome === 'ok' && token !== undefined ? { token } : {};
      const refused = failed('held', 'no-quorum');
      const it: Drawn = { op: 'acquire', client, callNs, returnNs, mode, leaseNs, ...given, ...refused };
      if (one.outcome !== 'fail' || one.reason === 'other') acquires[one.client]!.push(it);
      return it;
    });
    const inOrder = drawn.map((it, n) => ({ it, n })).sort((a, b) => a.it.callNs - b.it.callNs || a.n - b.n);
    const place = new Map(inOrder.map(({ it }, at) => [it, at]));
    return inOrder.map(({ it: { of, ...operation } }) => (of ? { ...operation, hold: place.get(of)! } : operation));
  });
}

type Drawn = Operation & { of?: Drawn };
