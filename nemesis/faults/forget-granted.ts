/** One of a bare majority of grantors is killed, wiped and started again at once; see `granted.ts`. */
import type { NemesisFault } from '../context.js';
import { type Losing, strikeGranted } from './granted.js';

const forgetting: Losing = {
  async lose(node, inForce, context) {
    const down = await inForce.add(context.levers.kill.kill(node));
    await node.forget();
    const back = await down.heal();
    const size = Number(await node.command('DBSIZE'));
    return {
      did: `SIGKILL to ${node.name}, data removed, started again`,
      proof: `${down.proof}; ${back}, with ${size} keys`,
    };
  },
  record: (node) => ({ forgot: [node.name] }),
};

export const forgetGranted: NemesisFault = {
  name: 'forget-granted',
  summary: 'wait for a grant on exactly a bare majority, then make one of those nodes forget it',
  targets: ['minority'],
  strikes: ['node'],
  needs: ['network', 'process'],
  args: {},
  unfit: ({ name }) => (name === 'redlock' ? undefined : `there are no independent grantors on ${name}`),
  shape: (_topology, _target, leaseMs) => ({
    lane: 'servers',
    forMs: { min: Math.min(leaseMs, 5_000), max: Math.min(Math.round(1.2 * leaseMs), 6_000) },
    leastMs: 2_000,
    settleMs: 1_000,
  }),
  strike: (step, context) => strikeGranted(step, context, forgetting),
};
