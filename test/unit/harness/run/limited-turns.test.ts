import { expect, test } from 'vitest';
import { limitedTurns } from '../../../../harness/run/limited-turns.js';
import type { ClientScript, Instruction, Outcome } from '../../../../harness/vocabulary/workload.js';

/** For ever: takes one lock, another beside it, lets both go, and rests. */
function* nested(): ClientScript {
  for (;;) {
    const outer = yield { do: 'acquire', key: 'a', leaseMs: 1, waitMs: 0 };
    if (outer.type === 'ok') {
      const inner = yield { do: 'acquire', key: 'b', leaseMs: 1, waitMs: 0 };
      if (inner.type === 'ok') yield { do: 'release', hold: inner.id };
      yield { do: 'release', hold: outer.id };
    }
    yield { do: 'idle', ms: 5 };
  }
}

/** What is asked of a client in turn; every acquire ends as `granted` says. */
function asked(script: ClientScript, granted: readonly boolean[]): string[] {
  const all: Instruction[] = [];
  let id = 0;
  let tries = 0;
  const answer = (instruction: Instruction): Outcome => {
    if (instruction.do === 'idle') return { type: 'woke', lost: false };
    const type = instruction.do !== 'acquire' || granted[tries++] ? 'ok' : 'fail';
    return { type, id: ++id } as Outcome;
  };
  let step = script.next();
  while (!step.done) {
    all.push(step.value);
    step = script.next(answer(step.value));
  }
  return all.map((one) => (one.do === 'acquire' ? one.key : one.do === 'idle' ? `idle ${one.ms}` : one.do));
}

const EVER = 'idle 86400000';
const WHOLE = ['a', 'b', 'release', 'release', 'idle 5'];

test('a turn is a try, or all that is done under what it got; then nothing more', () => {
  const yes = [true, true, true, true];
  expect(asked(limitedTurns(nested(), { turns: 2 }), yes)).toEqual([...WHOLE, ...WHOLE, EVER]);
  expect(asked(limitedTurns(nested(), { turns: 2 }), [false, true, true])).toEqual(['a', 'idle 5', ...WHOLE, EVER]);
  expect(asked(limitedTurns(nested(), { turns: 0 }), yes)).toEqual([EVER]);
});

test('who comes in its place has what is left', () => {
  const left = { turns: 3 };
  const first = limitedTurns(nested(), left);
  first.next(); // the first turn is begun, and its process dies
  expect(asked(limitedTurns(nested(), left), [true, true, true, true])).toEqual([...WHOLE, ...WHOLE, EVER]);
  expect(asked(limitedTurns(nested(), left), [])).toEqual([EVER]);
});
