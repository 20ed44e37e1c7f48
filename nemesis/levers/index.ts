/** The few powers that all faults are made of, one set per run. */
import type { OwnNetwork } from '../../harness/vocabulary/host.js';
import type { Clock, Random } from '../../harness/vocabulary/time.js';
import type { Topology } from '../../harness/vocabulary/topology.js';
import { minorityOf } from './basics.js';
import { ClockLever } from './clock.js';
import type { LostReplies } from './link-shaper.js';
import { LinkLever } from './links.js';
import { MemoryLedger } from './memory.js';
import { NetworkLever, type Pair } from './network.js';
import { OwnLinkLever } from './own-links.js';
import { OwnNetworkLever } from './own-network.js';
import { PressureLever } from './pressure.js';
import { KillLever, PauseLever } from './process.js';
import { Serial } from './serial.js';

/** What every implementation of them can do. */
export type NetworkPower = Pick<NetworkLever, keyof NetworkLever>;
export interface LinkPower extends Omit<Pick<LinkLever, keyof LinkLever>, 'shown' | 'loseReplies'> {
  shown(pair: Pair): Promise<LostReplies>;
  loseReplies(pair: Pair, port: number, count: number, which?: 'any' | 'numbers'): Promise<LostReplies>;
}

export interface Levers {
  readonly network: NetworkPower;
  readonly links: LinkPower;
  readonly pause: PauseLever;
  readonly kill: KillLever;
  readonly clock: ClockLever;
  readonly memory: MemoryLedger;
  readonly pressure: PressureLever;
  /** What changes the deployment as planned: each strikes when the one before has, or has been undone. */
  readonly planned: Serial;
}

export function createLevers(
  clock: Clock,
  topology: Pick<Topology, 'nodes' | 'replicated' | 'describe'>,
  leaseMs: number,
  random: Random,
  ownNetwork?: OwnNetwork,
): Levers {
  // A single server has no minority: to strike it is to ask for what follows.
  const limit = topology.nodes.length > 1 ? minorityOf(topology.nodes.length) : undefined;
  // The one kind of deployment in which an address moves: it is on one of the nodes' hosts at a time.
  const homes = topology.describe().kind === 'replica' ? topology.nodes.map((node) => node.host) : [];
  const kernels = new LinkLever(clock, random.fork('links'));
  return {
    network: ownNetwork
      ? new OwnNetworkLever(ownNetwork, clock)
      : new NetworkLever(clock, homes, (pairs) => kernels.drop(pairs)),
    links: ownNetwork ? new OwnLinkLever(ownNetwork, clock) : kernels,
    pause: new PauseLever(clock),
    kill: new KillLever(clock),
    clock: new ClockLever(clock),
    memory: new MemoryLedger(clock, leaseMs, limit),
    pressure: new PressureLever(clock, topology),
    planned: new Serial(),
  };
}
