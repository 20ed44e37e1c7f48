/** The server is away for as long as one renewal takes, and back, with everything in it, long before the lease is over. */
import type { OperationOutcome, Stage } from '../../harness/vocabulary/workload.js';
import { havingKey } from './asking.js';

export async function failOneRenewal(stage: Stage): Promise<OperationOutcome> {
  const holder = stage.client(1);
  const held = await holder.acquire('lock:0');
  const outage = await stage.strike('kill', 'primary');
  const struck = await stage.event('the server is away', (event) => event.type === 'fault' && event.state === 'strike');
  await stage.event(
    'the holder tries to renew',
    (event) => event.i > struck.i && event.type === 'step' && event.name === 'before-renewal',
  );
  await outage.heal();
  stage.check('the server still has the lock', (await havingKey(stage.topology.nodes, 'lock:0')).length === 1);
  return held;
}
