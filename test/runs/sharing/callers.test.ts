/** Several callers in each client process: each is judged as an owner of its own, and what the servers' record shows is told of it. */
import { expect, it } from 'vitest';
import { QUIET, torture } from '../../support/torture.js';

const NAME = /^c\d+(\.\d+)?-[abc]$/;

it('a caller that deletes another’s lock is named, also where both are in one process', {
  timeout: 180_000,
}, async () => {
  const { status, results, output, errors } = await torture([
    ...QUIET,
    ...['--workload', 'callers', '--lock', 'broken/blind-del', '--careless'],
    ...['--lease', '1s', '--hold', '0.5x..1.5x', '--wait', '2s', '--time-limit', '10s', '--seed', '1'],
  ]);
  expect(status, output + errors).toBe(1);
  const broken = results.violations.filter((one) => one.class === 'exclusion');
  expect(broken.length).toBeGreaterThan(0);
  for (const { holds } of broken) for (const { client } of holds) expect(client).toMatch(NAME);
  const causes = new Set(broken.map(({ cause }) => cause.name));
  expect([...causes].filter((name) => name !== 'released-by-other' && name !== 'unexplained')).toEqual([]);
  expect(causes).toContain('released-by-other');
});

it('a lock whose client cannot have several is refused in one line', { timeout: 60_000 }, async () => {
  const { status, errors } = await torture([
    ...QUIET,
    ...['--callers', '2', '--lock', 'cmd:python3 lock-impl/external/python/lock_client.py'],
  ]);
  expect(status).toBe(3);
  expect(errors).toContain('are for locks with the feature callers');
});
