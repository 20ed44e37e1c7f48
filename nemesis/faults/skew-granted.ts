/** The clock of one of a bare majority of grantors jumps past the lease; see `granted.ts`. */
import type { NemesisContext, NemesisFault } from '../context.js';
import { redisWallMs } from '../levers/clock.js';
import { type Losing, strikeGranted } from './granted.js';

/** Past the lease, and past what a lock adds to it for drift. */
const LEASES = 1.2;

const jumpMs = (leaseMs: number) => Math.round(LEASES * leaseMs) + 500;

function skewing(context: NemesisContext): Losing {
  const offsetMs = jumpMs(context.leaseMs);
  return {
    async lose(node, inForce) {
      const skew = await inForce.add(context.levers.clock.skew(node.host, offsetMs, redisWallMs(node)));
      return { did: `clock of ${node.name} set forward by ${offsetMs} ms`, proof: skew.proof };
    },
    record: (node) => ({ offsetMs: context.levers.clock.offsetMs(node.host) }),
  };
}

export const skewGranted: NemesisFault = {
  name: 'skew-granted',
  summary: "wait for a grant on exactly a bare majority, then set one of those nodes' clocks forward past the lease",
  targets: ['minority'],
  strikes: ['node'],
  needs: ['network', 'clock'],
  args: {},
  unfit: ({ name }) => (name === 'redlock' ? undefined : `there are no independent grantors on ${name}`),
  shape: (_topology, _target, leaseMs) => ({
    lane: 'servers',
    forMs: { min: Math.min(leaseMs, 5_000), max: Math.min(Math.round(1.2 * leaseMs), 6_000) },
    leastMs: 2_000,
    settleMs: 1_000,
  }),
  strike: (step, context) => strikeGranted(step, context, skewing(context)),
};
