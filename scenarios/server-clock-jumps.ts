import type { Scenario } from '../harness/vocabulary/workload.js';

export const serverClockJumps: Scenario = {
  name: 'server-clock-jumps',
  claim: 'a lease lasts as long as it was asked for',
  truth: 'it lasts until the clock of the server says so: one that is set forward ends it under its holder',
  topology: 'single',
  lock: 'set-nx-px',
  settings: { leaseMs: 8_000, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'clock-jumped' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const first = await holder.acquire('lock:0');
    const jump = await stage.strike('clock', 'primary', { offsetMs: 2 * stage.leaseMs });
    const second = await other.acquire('lock:0');
    stage.check('the next client is granted the lock', second.type === 'ok');
    await other.release(second);
    await holder.release(first);
    await jump.heal();
  },
};
