import { expect, it } from 'vitest';
import { collectGarbage } from '../../../../harness/cli/memory.js';

it('gives back typed arrays that nobody has any more', async () => {
  const before = process.memoryUsage().arrayBuffers;
  let large: Float64Array | undefined = new Float64Array(4_000_000);
  large.fill(1);
  expect(process.memoryUsage().arrayBuffers - before).toBeGreaterThan(30e6);
  large = undefined;
  collectGarbage();
  // V8 sweeps them in a thread of its own.
  await expect.poll(() => process.memoryUsage().arrayBuffers - before, { timeout: 10_000 }).toBeLessThan(10e6);
});
