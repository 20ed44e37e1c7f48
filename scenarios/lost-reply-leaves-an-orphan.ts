import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, havingKey } from './acts/asking.js';

export const lostReplyLeavesAnOrphan: Scenario = {
  name: 'lost-reply-leaves-an-orphan',
  claim: 'a time-out means that the lock was not acquired',
  truth:
    'the answer was lost and the lock is set: the client does not know that it holds, and all others are refused for a lease',
  topology: 'single',
  lock: 'set-nx-px',
  settings: { leaseMs: 6_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [one, other] = [stage.client(1), stage.client(2)];
    const server = stage.topology.nodes[0]!;
    let cut = false;
    // The fault marks in the server's own order from when on answers are lost.
    const watching = await server.monitor(({ argv }) => {
      cut ||= argv[0]?.toUpperCase() === 'ECHO';
    });
    // It has struck once a command ran after that.
    const [loss, unknown] = await Promise.all([
      stage.strike('lost-reply', 'primary'),
      stage.until('answers are lost', () => cut).then(() => one.acquire('lock:0')),
    ]);
    watching.close();
    stage.check('whether it was granted is unknown', unknown.type === 'info');
    stage.check('it was', (await havingKey([server], 'lock:0')).length === 1);
    await loss.heal();
    stage.check('another client is refused', (await other.acquire('lock:0')).type === 'fail');
    // When the lease is over.
    const next = await granted(stage, other, 'lock:0');
    await other.release(next);
  },
};
