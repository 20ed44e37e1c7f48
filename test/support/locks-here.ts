/** A lock client inside the test's own process, over the very access that lock programs get: the test decides its steps. */

import { CommandLog } from '../../harness/client/command-log.js';
import { topologyAccess } from '../../harness/client/topology-access.js';
import type { AcquireOptions, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { TopologyDescription } from '../../harness/vocabulary/topology.js';
import type { TestRedis } from './redis-server.js';

export interface ClientHere extends AsyncDisposable {
  readonly access: TopologyAccess;
  /** Every step that was reached. */
  readonly steps: string[];
  readonly renewals: { hold: LockHold; sentNs: number; leaseMs: number }[];
}

/** `at`: what happens at a step; the lock goes on when it resolves. */
export function clientHere(
  server: TestRedis,
  at: (step: string) => Promise<void> | void = () => {},
  commandTimeoutMs = 1_000,
): ClientHere {
  const steps: string[] = [];
  const renewals: ClientHere['renewals'] = [];
  const options = { client: 'here', leaseMs: 5_000, commandTimeoutMs, seed: 1 };
  const access = topologyAccess(single(server), options, new CommandLog(), {
    async step(name) {
      steps.push(name);
      await at(name);
    },
    renewed: (hold, sentNs, leaseMs) => void renewals.push({ hold, sentNs, leaseMs }),
  });
  return {
    access,
    steps,
    renewals,
    async [Symbol.asyncDispose]() {
      (await access.redis()).disconnect();
    },
  };
}

export function single(server: TestRedis): TopologyDescription {
  return { kind: 'single', node: server.endpoint };
}

/** A step at which the client stops for ever, as if it had died there: hand `at` to `clientHere`. */
export function diesAt(step: string): { at(reached: string): Promise<void>; reached: Promise<void> } {
  const gate = stopsAt(step);
  return { at: gate.at, reached: gate.reached };
}

/** A step at which the client stops until the test lets it go on. */
export function stopsAt(step: string) {
  let reached = () => {};
  let goOn = () => {};
  const whenReached = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const open = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  return {
    reached: whenReached,
    goOn: () => goOn(),
    at: async (name: string) => {
      if (name !== step) return;
      reached();
      await open;
    },
  };
}

/** One try, with a lease that no test outlives. */
export const now: AcquireOptions = { leaseMs: 5_000, waitMs: 0, signal: new AbortController().signal };
