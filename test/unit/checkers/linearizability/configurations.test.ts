import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Configurations } from '../../../../checkers/linearizability/configurations.js';
import { cases, drawn } from '../../../support/drawn.js';

const COMPLETED = 200;
const UNKNOWN = 70;

/** A few operations, in several words of a set, come and go while most stay. */
const moves = fc.array(
  fc.record({
    n: fc.constantFrom(0, 1, 31, 32, 64, 69),
    isUnknown: fc.boolean(),
    state: fc.constantFrom(-1, 0, 'a b'),
  }),
  { minLength: 100, maxLength: 300 },
);

it('remembers exactly the sets and states that there were', () => {
  let [known, unheard] = [0, 0];
  fc.assert(
    fc.property(fc.nat(COMPLETED - 1), moves, (inOrder, list) => {
      const configurations = new Configurations(COMPLETED, UNKNOWN);
      const there = new Set<string>();
      const seen = new Set<string>();
      const toggle = (n: number, isUnknown: boolean) => {
        const name = `${isUnknown ? 'unknown' : 'completed'} ${n}`;
        expect(configurations.has(n, isUnknown)).toBe(there.has(name));
        if (there.delete(name)) configurations.remove(n, isUnknown);
        else {
          there.add(name);
          configurations.add(n, isUnknown);
        }
      };
      for (let n = 0; n < inOrder; n++) toggle(n, false);
      for (const { n, isUnknown, state } of list) {
        toggle(n, isUnknown);
        const configuration = JSON.stringify([state, [...there].sort()]);
        const isNew = !seen.has(configuration);
        seen.add(configuration);
        expect(configurations.remember(state)).toBe(isNew);
        isNew ? unheard++ : known++;
      }
      expect(configurations.count).toBe(seen.size);
    }),
    drawn(50),
  );
  expect(Math.min(known, unheard)).toBeGreaterThan(cases(100));
});
