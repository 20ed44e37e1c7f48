/**
 * Where the two procedures that decide exclusion do not say the same of a key: the sweep over holds, which accuses, and the
 * linearizability checker, which has the same semantics and shares neither the holds nor the sweep (`linearizability/held.ts`).
 * Nobody is accused, and nothing is called held, that only one of them says where the other says the contrary.
 */
import type { SecondProcedure } from '../../harness/vocabulary/verdict.js';
import type { HeldDecision, HeldVerdict } from '../linearizability/decide-held.js';

type OverlapClass = 'exclusion' | 'stale';

/** What the sweep found of one key in one class. */
export interface SweptClass {
  /** All overlaps, and those of which no disturbance makes a doubt. */
  count: number;
  certain: number;
  /** Of the first of them. */
  proof: () => string;
}

export type SweptKey = Record<OverlapClass, SweptClass>;

export interface Disagreement {
  class: OverlapClass;
  key: string;
  /** Both proofs, and what to do. */
  text: string;
}

const REPORT = 'This is a bug in lock-torture: please report it with the folder of the run';

/** `swept`: by key; a key of which the sweep found nothing is not there. */
export function compareProcedures(
  swept: ReadonlyMap<string, SweptKey>,
  second: readonly HeldVerdict[],
): { summary: SecondProcedure; disagreements: Disagreement[] } {
  const disagreements: Disagreement[] = [];
  const open = new Set<string>();
  let agreed = 0;
  for (const { key, leased, acted } of second) {
    const { exclusion, stale } = swept.get(key) ?? {};
    const found = disagreementOf('exclusion', key, exclusion, leased);
    // Where leases are broken, nothing more is to be learnt from who acted on after his own.
    const isBroken = (exclusion?.count ?? 0) > 0 || leased.verdict === 'invalid';
    const other = isBroken ? undefined : disagreementOf('stale', key, stale, acted);
    const disagreed = [found, other].filter((one) => one !== undefined);
    disagreements.push(...disagreed);
    const undecided = [leased, ...(isBroken ? [] : [acted])].filter(({ verdict }) => verdict === 'unknown');
    for (const { why } of undecided) open.add(`${key}: ${why[0] ?? 'it gives no reason'}`);
    if (disagreed.length === 0 && undecided.length === 0) agreed++;
  }
  const summary = { agreed, open: [...open], disagreed: disagreements.map(({ text }) => text) };
  return { summary, disagreements };
}

function disagreementOf(
  name: OverlapClass,
  key: string,
  swept: SweptClass | undefined,
  { verdict, why, procedure }: HeldDecision,
): Disagreement | undefined {
  const isFound = swept !== undefined && swept.count > 0;
  if (verdict === 'unknown' || isFound === (verdict === 'invalid')) return undefined;
  const bySweep = isFound
    ? `the sweep over holds found ${swept.count} (${swept.proof()})`
    : 'the sweep over holds found none';
  const byOther =
    verdict === 'valid' ? `by ${procedure} there is none` : `by ${procedure} there is one (${why[0] ?? ''})`;
  const text = `two procedures disagree about ${name} on ${key}: ${bySweep}; ${byOther}. ${REPORT}`;
  return { class: name, key, text };
}
