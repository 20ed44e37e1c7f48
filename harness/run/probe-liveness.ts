/** The liveness probe: whether every lock can be acquired again once all is healed. */
import { declaredMs } from '../record/facts/deadlines.js';
import type { Recorder } from '../record/recorder.js';
import type { HandshakeValue } from '../vocabulary/protocol.js';
import type { RunConfig } from '../vocabulary/run.js';
import type { Clock } from '../vocabulary/time.js';
import type { Workload } from '../vocabulary/workload.js';
import type { ProbeResult } from './client-slot.js';
import type { Scheduler } from './scheduler.js';

/** What a lock may take beyond its lease until it can be acquired again. */
const LIVENESS_GRACE_MS = 2_000;
const PROBE_WAIT_MS = 500;

interface Probing {
  clock: Clock;
  workload: Workload;
  recorder: Pick<Recorder, 'record'>;
  scheduler: Scheduler;
}

/**
 * Every key must be acquired again once a lease and the declared deadlines are over, within a grace: each by one client. Of what
 * the lock protects the value is read, so that the last writes are looked at too. All permits of a semaphore are wanted at once.
 */
export async function probeLiveness(
  config: RunConfig,
  lock: HandshakeValue,
  { clock, workload, recorder, scheduler }: Probing,
): Promise<void> {
  const beganNs = clock.nowNs();
  const dueNs = beganNs + (config.leaseMs + declaredMs(lock.deadlines, config.leaseMs)) * 1e6;
  const giveUpNs = dueNs + LIVENESS_GRACE_MS * 1e6;
  const probe = { waitMs: PROBE_WAIT_MS, dueNs, giveUpNs, ...(workload.resource && { read: true }) };
  const record = (key: string, result: ProbeResult) =>
    recorder.record({ type: 'probe', key, ...result, afterMs: Math.round((clock.nowNs() - beganNs) / 1e6) });
  const { model = workload.model } = lock;
  if (model.kind === 'semaphore' && model.permits <= config.clients) {
    for (const key of config.keys)
      for (const result of await scheduler.probeTogether(model.permits, key, probe)) record(key, result);
    return;
  }
  const bySlot = new Map<number, string[]>();
  config.keys.forEach((key, n) => {
    const slot = n % config.clients;
    bySlot.set(slot, [...(bySlot.get(slot) ?? []), key]);
  });
  await Promise.all(
    [...bySlot].map(async ([slot, keys]) => {
      for (const key of keys) record(key, await scheduler.probe(slot, key, probe));
    }),
  );
}
