/** The few powers that all faults are made of, one set per run. */
import type { Clock, Topology } from '../../harness/api.js';
import { minorityOf } from '../context.js';
import { ClockLever } from './clock.js';
import { MemoryLedger } from './memory.js';
import { NetworkLever } from './network.js';
import { KillLever, PauseLever } from './process.js';

export interface Levers {
  readonly network: NetworkLever;
  readonly pause: PauseLever;
  readonly kill: KillLever;
  readonly clock: ClockLever;
  readonly memory: MemoryLedger;
}

export function createLevers(clock: Clock, topology: Pick<Topology, 'nodes'>, leaseMs: number): Levers {
  // A single server has no minority: whoever strikes it asks for what follows.
  const limit = topology.nodes.length > 1 ? minorityOf(topology.nodes.length) : undefined;
  return {
    network: new NetworkLever(),
    pause: new PauseLever(clock),
    kill: new KillLever(clock),
    clock: new ClockLever(clock),
    memory: new MemoryLedger(clock, leaseMs, limit),
  };
}
