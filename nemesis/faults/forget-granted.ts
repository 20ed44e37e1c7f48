/** One of a bare majority of grantors is killed, wiped and started again at once; see `granted.ts`. */
import { grantedFault, type Losing } from './granted.js';

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

export const forgetGranted = grantedFault(
  {
    name: 'forget-granted',
    summary: 'wait for a grant on exactly a bare majority, then make one of those nodes forget it',
    needs: ['network', 'process'],
  },
  () => forgetting,
);
