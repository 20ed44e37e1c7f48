/** A run in containers, interrupted: judged, and nothing of it is left. */
import { afterEach, describe, expect, it } from 'vitest';
import { FIRST_RUN_MS, inFullSwing, leftOf } from '../../support/containers.js';
import { containers } from '../../support/needs-docker.js';
import { endAll, type Torture } from '../../support/torture.js';

describe('a run in containers', containers, () => {
  let run: Torture | undefined;
  afterEach(() => {
    if (run) endAll(run);
  });

  it(
    'is judged and leaves nothing when it is interrupted',
    async () => {
      run = await inFullSwing(['--topology', 'single']);
      run.child.kill('SIGINT');
      const { code } = await run.ended;
      expect([0, 1, 2], `${run.output()}${run.errors()}`).toContain(code);
      expect(run.output()).toContain('Report: ');
      expect(await leftOf(run.output())).toEqual([]);
    },
    FIRST_RUN_MS,
  );
});
