/** How long a lock's client waits for one answer, and the harness for an operation. Milliseconds. */
import type { RunConfig } from '../vocabulary/run.js';
import type { TopologyKind } from '../vocabulary/topology.js';

const COMMAND_TIMEOUT_MS = 500;
/** What a lock may take that tries five nodes, twice, some of them dead: so many times what one command may. */
const COMMANDS = 8;
/** Nobody asks so often where a command may take longer. */
const LONGEST_GRACE_MS = 6_000;

type Kind = Pick<TopologyKind, 'commandTimeoutMs'>;
type Leases = Pick<RunConfig, 'leaseMs'>;

/** For how long a lock's client waits for the answer to one command. */
export function commandTimeoutOf(kind: Kind, { leaseMs }: Leases): number {
  return kind.commandTimeoutMs?.(leaseMs) ?? COMMAND_TIMEOUT_MS;
}

/** How much longer than it may wait an acquire may take. */
export function operationGraceOf(kind: Kind, config: Leases): number {
  return Math.min(LONGEST_GRACE_MS, COMMANDS * commandTimeoutOf(kind, config));
}
