/** Tries what checkers find in drawn runs of a model against what was true in these. */
import fc from 'fast-check';
import type { Violation } from '../../../../harness/vocabulary/verdict.js';
import { cases, SEED } from '../../../support/drawn.js';

/** A finding, and which causes of it were true. */
export interface Tried {
  finding: Violation;
  truth: ReadonlySet<string>;
  /** Whether the model says that no record could tell any of them. */
  isHidden?: boolean;
}

export interface Told {
  /** How often each cause was named. */
  names: ReadonlyMap<string, number>;
  /** Of the findings of which a cause was true, how many have one; NaN: there were none. */
  share: number;
  told: string;
}

/** Whether this is the deep layer. */
export const isDeep = process.env.LOCK_TORTURE_TEST_DEEP === '1';

/** Throws where a cause is named that was not true. `sample`: how many runs; in the deep layer a hundred times as many are drawn. */
export function tried<Setup>(sample: number, setups: fc.Arbitrary<Setup>, judged: (setup: Setup) => Tried[]): Told {
  // The deep layer draws other runs each time, and prints what it drew.
  const seed = isDeep && process.env.LOCK_TORTURE_TEST_SEED === undefined ? Math.floor(Math.random() * 2 ** 31) : SEED;
  const names = new Map<string, number>();
  let [explicable, explained] = [0, 0];
  fc.assert(
    fc.property(setups, (setup) => {
      for (const { finding, truth, isHidden } of judged(setup)) {
        const { name, sentence, chain } = finding.cause;
        if (truth.size > 0 && !isHidden) explicable++;
        if (truth.size > 0 && !isHidden && name !== 'unexplained') explained++;
        names.set(name, (names.get(name) ?? 0) + 1);
        if (name === 'unexplained' || truth.has(name)) continue;
        const links = chain.map(({ atNs, text }) => `${atNs / 1e9} s: ${text}`).join('\n');
        throw new Error(
          `${finding.kind} of class ${finding.class} is said to be "${name}"; true was ${[...truth].join(', ') || 'none'}.\n${finding.proof}\n${sentence}\n${links}`,
        );
      }
    }),
    { numRuns: cases(sample), seed },
  );
  const told = `seed ${seed}: explained ${explained} of ${explicable}; ${[...names].map(([name, times]) => `${name}: ${times}`).join(', ')}`;
  if (isDeep) console.log(told);
  return { names, share: explained / explicable, told };
}
