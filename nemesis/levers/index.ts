/** The few powers that all faults are made of, one set per run. */
import type { Clock, Random } from '../../harness/vocabulary/time.js';
import type { Topology } from '../../harness/vocabulary/topology.js';
import { minorityOf } from './basics.js';
import { ClockLever } from './clock.js';
import { LinkLever } from './links.js';
import { MemoryLedger } from './memory.js';
import { NetworkLever } from './network.js';
import { PressureLever } from './pressure.js';
import { KillLever, PauseLever } from './process.js';

export interface Levers {
  readonly network: NetworkLever;
  readonly links: LinkLever;
  readonly pause: PauseLever;
  readonly kill: KillLever;
  readonly clock: ClockLever;
  readonly memory: MemoryLedger;
  readonly pressure: PressureLever;
}

export function createLevers(
  clock: Clock,
  topology: Pick<Topology, 'nodes' | 'replicated' | 'describe'>,
  leaseMs: number,
  random: Random,
): Levers {
  // A single server has no minority: to strike it is to ask for what follows.
  const limit = topology.nodes.length > 1 ? minorityOf(topology.nodes.length) : undefined;
  // The one kind of deployment in which an address moves: it is on one of the nodes' hosts at a time.
  const homes = topology.describe().kind === 'replica' ? topology.nodes.map((node) => node.host) : [];
  const links = new LinkLever(clock, random.fork('links'));
  return {
    network: new NetworkLever(clock, homes, (pairs) => links.drop(pairs)),
    links,
    pause: new PauseLever(clock),
    kill: new KillLever(clock),
    clock: new ClockLever(clock),
    memory: new MemoryLedger(clock, leaseMs, limit),
    pressure: new PressureLever(clock, topology),
  };
}
