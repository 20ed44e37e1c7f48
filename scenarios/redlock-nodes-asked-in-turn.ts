import type { Scenario } from '../harness/vocabulary/workload.js';

const ANSWER_MS = 200;

export const redlockNodesAskedInTurn: Scenario = {
  name: 'redlock-nodes-asked-in-turn',
  claim: 'a Redlock takes as long as its slowest node',
  truth: 'where the nodes are asked one after the other, a grant takes the sum over all of them',
  topology: 'redlock',
  lock: 'redlock-multi',
  settings: { nodes: 5, leaseMs: 20_000, keys: 1 },
  needs: ['network'],
  expect: [],
  async play(stage) {
    const client = stage.client(1);
    const slow = await stage.strike('delay', { names: [client.name] }, { delayMs: ANSWER_MS / 2 });
    const beganMs = stage.nowMs();
    const held = await client.acquire('lock:0', { waitMs: 10_000 });
    const tookMs = stage.nowMs() - beganMs;
    const { length } = stage.topology.nodes;
    stage.check('it is granted', held.type === 'ok');
    stage.check(`no sooner than after ${length} answers (${Math.round(tookMs)} ms)`, tookMs >= length * ANSWER_MS);
    await slow.heal();
    await client.release(held);
  },
};
