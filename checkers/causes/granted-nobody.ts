/**
 * A lock that never granted anything to anybody, though no fault was ever in force: `granted-nobody`.
 *
 * Example: the answer of SET is compared with "Ok", and so `acquire` returns null every time.
 *
 * Named where the record has the run from its beginning, no acquire in it was granted, and no fault is in it that did anything. Why the
 * lock answers so it does not say.
 */
import { answersInWords } from '../../harness/record/facts/answers-in-words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import { shown } from '../../harness/record/schemas/foreign-text.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause } from '../../harness/vocabulary/verdict.js';

export function grantedNobody({ history, config }: CheckInput): Cause | undefined {
  const { rare, operations: ops } = history;
  if (!rare.some((event) => event.type === 'phase' && event.phase === 'warm-up')) return undefined;
  if (rare.some((event) => event.type === 'fault' && event.effects.length > 0)) return undefined;
  const answers = new Map<string, number>();
  let first: number | undefined;
  let last: number | undefined;
  for (let row = 0; row < ops.count; row++) {
    if (ops.op[row] !== OP.acquire) continue;
    if (ops.outcome[row] === OUTCOME.ok) return undefined;
    const reason = shown(ops.reasons[ops.reason[row]!] ?? '');
    answers.set(reason, (answers.get(reason) ?? 0) + 1);
    if (ops.outcome[row] === OUTCOME.none) continue;
    first ??= row;
    last = row;
  }
  if (first === undefined || last === undefined) return undefined;
  const at = (row: number) => ({
    atNs: ops.readNs[row]!,
    text: `${ops.clients[ops.client[row]!]} was answered "${shown(ops.reasons[ops.reason[row]!] ?? '')}"`,
    history: ops.completionLine[row]!,
  });
  const said = answersInWords(answers, config.lock.startsWith('cmd:'));
  return {
    name: 'granted-nobody',
    sentence: `${said} and no client ever held the lock; no fault was in force.`,
    chain: first === last ? [at(first)] : [at(first), at(last)],
  };
}
