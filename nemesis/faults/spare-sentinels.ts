/** Faults that stop Sentinels leave a quorum of them alone: nothing would fail over, and nothing would be shown. */

import { minorityOf, Refusal } from '../levers/basics.js';
import type { Grip } from '../levers/network.js';
import type { NemesisContext } from '../striking/context.js';
import { isNode, type Struck } from '../striking/targets.js';

/** Counts the Sentinels among those struck; refused when, with those that other faults stop, they are more than a minority. */
export function spareSentinels(struck: readonly Struck[], context: NemesisContext): Pick<Grip, 'heal'> {
  const { sentinels } = context.topology;
  const stopped = context.levers.pause.sentinels;
  const names = struck.flatMap((one) => (isNode(one) && one.node.kind === 'sentinel' ? [one.name] : []));
  const all = new Set([...stopped, ...names]);
  if (names.length > 0 && all.size > minorityOf(sentinels.length)) {
    throw new Refusal(`${all.size} of ${sentinels.length} Sentinels would be stopped: never more than a minority`);
  }
  stopped.push(...names);
  return {
    heal: async () => {
      for (const name of names.splice(0)) stopped.splice(stopped.indexOf(name), 1);
      return '';
    },
  };
}
