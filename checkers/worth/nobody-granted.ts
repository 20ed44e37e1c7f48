/**
 * Why there are no holds, or hardly any: what clients met that asked for the lock. Too few holds, no contention and faults that never
 * found a holder all follow from it, so it is told before these. Never accuses.
 */
import { plural } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';

/** In one line; undefined: somebody was granted something, or nothing was recorded of anybody. */
export function nobodyGranted({ history, config }: CheckInput): string | undefined {
  const { operations: ops } = history;
  let tries = 0;
  for (let row = 0; row < ops.count; row++) {
    if (ops.op[row] !== OP.acquire) continue;
    if (ops.outcome[row] === OUTCOME.ok) return undefined;
    tries++;
  }
  if (tries === 0) return undefined;
  return `no client was granted anything: ${whatMost(history, config.clients) ?? 'no try was answered'}`;
}

/** Of whom more than half were gone for one reason, which no fault was: why there are so few holds. Undefined: not so many were. */
export function mostGone({ history, config }: CheckInput): string | undefined {
  const [most] = met(history, ({ isGone, reason }) => isGone && !ENDED.test(reason));
  return most && most.slots.size > config.clients / 2 ? inWords(most, config.clients) : undefined;
}

/** What the most clients met, and of such what most tries did. */
function whatMost(history: History, clients: number): string | undefined {
  const [most] = met(history);
  return most && inWords(most, clients);
}

/** Its process ended, by a fault or by itself. */
const ENDED = /^client (exited|is gone)/;

interface Met {
  reason: string;
  /** What came of it is not known, and its client was ended for that. */
  isGone: boolean;
  slots: Set<string>;
  times: number;
}

function inWords({ reason, isGone, slots, times }: Met, clients: number): string {
  const who = `${slots.size} of ${plural(clients, 'client')}`.replace(/ clients?$/, '');
  return isGone ? `${who} gone: ${reason}` : `${who} were answered "${reason}", in ${plural(times, 'try', 'tries')}`;
}

/** By reason, what most clients met first. */
function met(
  { operations: ops, rare }: History,
  counts: (one: Pick<Met, 'reason' | 'isGone'>) => boolean = () => true,
): Met[] {
  const slotOf = new Map(rare.flatMap((event) => (event.type === 'client-up' ? [[event.client, event.host]] : [])));
  const all = new Map<string, Met>();
  for (let row = 0; row < ops.count; row++) {
    const outcome = ops.outcome[row]!;
    if (ops.op[row] !== OP.acquire || (outcome !== OUTCOME.fail && outcome !== OUTCOME.info)) continue;
    const isGone = outcome === OUTCOME.info;
    const reason = withoutNames(ops.reasons[ops.reason[row]!] ?? 'no reason was given');
    if (!counts({ reason, isGone })) continue;
    const client = ops.clients[ops.client[row]!]!;
    const one = all.get(`${isGone} ${reason}`) ?? { reason, isGone, slots: new Set<string>(), times: 0 };
    one.slots.add(slotOf.get(client) ?? client);
    one.times++;
    all.set(`${isGone} ${reason}`, one);
  }
  return [...all.values()].sort((a, b) => b.slots.size - a.slots.size || b.times - a.times);
}

/** The same of each server is one reason: `ConnectionLossError: z2: no answer within 500 ms`. */
function withoutNames(reason: string): string {
  return reason.replace(/^(?:\w*Error: )?(?:[a-z]+\d+: )?/, '');
}
