import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { collectGarbage } from '../../../../cli/common/memory.js';

const dropped = () => new WeakRef(new Float64Array(4_000_000));

it('gives back typed arrays that are no longer referenced', async () => {
  const large = dropped();
  // What a WeakRef was made of in this turn of the event loop is kept until its end.
  await setImmediate();
  collectGarbage();
  // Its memory is given back by a thread of V8's own, some time later.
  expect(large.deref()).toBeUndefined();
});
