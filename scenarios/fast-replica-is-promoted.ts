import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, isLookedAt, knownTo, primaryFor } from './acts/asking.js';

export const fastReplicaIsPromoted: Scenario = {
  name: 'fast-replica-is-promoted',
  claim: 'a replica that has the lock keeps it when it is promoted',
  truth:
    'it has the instant at which the lock expires, and judges by its own clock: one that is ahead takes it for over',
  topology: 'replica',
  lock: 'set-nx-px',
  settings: { leaseMs: 9_000, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'clock-jumped' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const old = await primaryFor(stage, 'lock:0');
    const replicas = stage.topology.nodes.filter((node) => node !== old);
    const first = await holder.acquire('lock:0');
    await knownTo(stage, replicas, 'lock:0');
    const ahead = { offsetMs: 2 * stage.leaseMs };
    const jump = await stage.strike('clock', { names: replicas.map(({ name }) => name) }, ahead);
    const death = await stage.strike('kill', 'primary');

    const next = await primaryFor(stage, 'lock:0', old);
    // The record tells of a promotion by what is seen of the server itself.
    await isLookedAt(stage, next);
    // It grants the lock once more.
    const second = await granted(stage, other, 'lock:0');
    await other.release(second);
    await holder.release(first);
    await jump.heal();
    await death.heal();
  },
};
