/** One of a bare majority of grantors is killed, wiped and started again at once; see `granted.ts`. */
import { ended } from '../levers/network.js';
import { grantedFault, type Lose } from './granted.js';

const forgetting: Lose = async (node, _inForce, context) => {
  const { clock, levers } = context;
  const down = await levers.kill.kill(node);
  let [untilNs, back] = [0, ''];
  try {
    await node.forget();
  } finally {
    // Also where its data could not be removed: the step goes on, and nothing else would start it again before its end.
    untilNs = clock.nowNs();
    back = await down.heal();
  }
  const size = Number(await node.command('DBSIZE'));
  return {
    did: `SIGKILL to ${node.name}, data removed, started again`,
    proof: `${down.proof}; ${back}, with ${size} keys`,
    effects: [...ended(down.effects, untilNs), { kind: 'forgot', who: [node.name], sinceNs: untilNs }],
  };
};

export const forgetGranted = grantedFault(
  {
    name: 'forget-granted',
    summary: 'wait for a grant on exactly a bare majority, then make one of those nodes forget it',
    explained: {
      does: 'A minority of the nodes is cut from what clients send, until a lock is held that only the bare majority granted; the cut is healed and at once one of the grantors is killed and started again without its data. Again and again while the step lasts, as often as the minority rule allows. Of a lock that needs all nodes nothing is cut, and one of them is struck.',
      proof: 'Routes, the kill and the restart are read back, and the keys that were lost are named.',
      breaks:
        "Redlock without delayed restarts: exclusion (`node-forgot`). The paper's own condition, crashed nodes that stay away for longer than a lease, is violated on purpose.",
    },
    effects: ['cut', 'killed', 'forgot'],
    needs: ['network', 'process', 'redis'],
  },
  () => forgetting,
);
