/** What every fault needs that cuts one direction only. */

import { Refusal } from '../levers/basics.js';
import type { Pair } from '../levers/network.js';
import type { NemesisContext } from '../striking/context.js';

/** With reverse path filtering a one-way cut is a cut both ways; to call it one-way would be a lie. */
export async function requireOneWay(pairs: readonly Pair[], context: NemesisContext): Promise<void> {
  const senders = [...new Map(pairs.map(([from]) => [from.name, from])).values()];
  const trouble = await context.levers.network.oneWayTrouble(senders);
  if (trouble.length === 0) return;
  throw new Refusal(
    `a one-way cut would cut both ways here: ${trouble.join('; ')}; remedy: sysctl net.ipv4.conf.all.rp_filter=0 and default.rp_filter=0`,
  );
}
