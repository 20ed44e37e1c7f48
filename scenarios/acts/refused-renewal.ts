/** One renewal of a lock is answered with an error, while all else works. */
import type { OperationOutcome, Stage } from '../../harness/vocabulary/workload.js';
import { granted } from './asking.js';
import { renewals } from './renewals.js';

/** Resolves when a renewal of what client 1 holds was refused, and the next one would not be. */
export async function refuseOneRenewal(stage: Stage): Promise<OperationOutcome> {
  const server = stage.topology.nodes[0]!;
  const held = await granted(stage, stage.client(1), 'lock:0');
  await renewals(stage, 1);
  const refused = async () =>
    Number(
      /cmdstat_pexpire:\S*rejected_calls=(\d+)/.exec(String(await server.command('INFO', 'commandstats')))?.[1] ?? 0,
    );
  const before = await refused();
  await server.command('ACL', 'SETUSER', 'default', '-pexpire');
  await stage.until('a renewal is refused', async () => (await refused()) > before);
  await server.command('ACL', 'SETUSER', 'default', '+pexpire');
  return held;
}
