/** The clock of one of a bare majority of grantors jumps past the lease; see `granted.ts`. */

import type { NemesisContext } from '../striking/context.js';
import { grantedFault, type Lose } from './granted.js';

/** Past the lease, and past what a lock adds to it for drift. */
const LEASES = 1.2;

const jumpMs = (leaseMs: number) => Math.round(LEASES * leaseMs) + 500;

function skewing({ levers, leaseMs }: NemesisContext): Lose {
  const offsetMs = jumpMs(leaseMs);
  return async (node, inForce) => {
    const { proof, effects } = await inForce.add(levers.clock.skew(node.host, offsetMs, () => node.clockMs()));
    return { did: `clock of ${node.name} set forward by ${offsetMs} ms`, proof, effects: [...effects] };
  };
}

export const skewGranted = grantedFault(
  {
    name: 'skew-granted',
    summary: "wait for a grant on exactly a bare majority, then set one of those nodes' clocks forward past the lease",
    explained: {
      does: 'A minority of the nodes is cut from what clients send, until a lock is held that only the bare majority granted; the cut is healed and at once one of the grantors has its clock set forward past the lease. Again and again while the step lasts, as often as the minority rule allows. Of a lock that needs all nodes nothing is cut, and one of them is struck.',
      proof: 'The node itself must say the new time.',
      breaks: 'Redlock: exclusion (`clock-jumped`); it assumes that clocks run at about the same rate and do not jump.',
    },
    effects: ['cut', 'clock-jumped'],
    needs: ['network', 'clock', 'redis'],
  },
  skewing,
);
