import type { Scenario } from '../harness/vocabulary/workload.js';
import { primaryFor } from './acts/asking.js';

export const movedSlotKeepsTheLock: Scenario = {
  name: 'moved-slot-keeps-the-lock',
  claim: 'a lock that is held is lost, or its lease begins anew, when its slot moves to another shard',
  truth:
    'MIGRATE takes the key along with the time that it has left: before it, in the midst of it and afterwards others are refused, and its holder releases it where it is then',
  topology: 'cluster',
  lock: 'set-nx-px',
  settings: { leaseMs: 20_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const isRefused = (when: string) =>
      stage.until(`${other.name} is refused ${when}`, async () => {
        const answer = await other.acquire('lock:0');
        stage.check('nobody else is granted it', answer.type !== 'ok');
        return answer.type === 'fail' && answer.reason === 'held';
      });
    const old = await primaryFor(stage, 'lock:0');
    const held = await holder.acquire('lock:0');
    stage.check('it is granted', held.type === 'ok');
    const leftMs = Number(await old.command('PTTL', 'lock:0'));
    const move = await stage.strike('move-slot', { names: [old.name] }, { until: 'keys' });
    await isRefused('by the one that is to have the slot');
    await move.heal();

    const next = await primaryFor(stage, 'lock:0', old);
    await isRefused('by the one that has it');
    const nowLeftMs = Number(await next.command('PTTL', 'lock:0'));
    stage.check('its lease went on', nowLeftMs > 0 && nowLeftMs <= leftMs);
    stage.check('its holder releases it', (await holder.release(held)).type === 'ok');
    const taken = await other.acquire('lock:0', { waitMs: 2_000 });
    stage.check('then it is free', taken.type === 'ok');
    await other.release(taken);
  },
};
