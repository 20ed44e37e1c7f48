/** How much processes have computed, with real ones. */
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { processorMsOfSession } from '../../../../harness/machine/processor-time.js';
import { until } from '../../../support/torture.js';

test('what computes uses time, with its children; what is stopped uses none, however long it is', async () => {
  // A child of its own computes, as servers do beside the world.
  const works = "require('node:child_process').spawn(process.execPath, ['-e', 'for (;;);'])";
  const computing = spawn(process.execPath, ['-e', works], { detached: true, stdio: 'ignore' });
  const session = computing.pid!;
  try {
    await until('it has computed', () => processorMsOfSession(session) >= 200);
    process.kill(-session, 'SIGSTOP');
    await until('it stands', () => {
      const before = processorMsOfSession(session);
      return before === processorMsOfSession(session);
    });
    const before = processorMsOfSession(session);
    await until(
      'another second is over',
      (
        (beganMs) => () =>
          performance.now() - beganMs > 1_000
      )(performance.now()),
    );
    expect(processorMsOfSession(session) - before).toBeLessThan(50);
  } finally {
    process.kill(-session, 'SIGKILL');
  }
  await until('nothing of it is left', () => processorMsOfSession(session) === 0);
});
