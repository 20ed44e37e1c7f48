/** What is noted beside the messages: grants, releases, leases that end, keys that expire. */
import { exactMoment } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { Violation } from '../../harness/vocabulary/verdict.js';
import type { Story } from '../story/story.js';
import type { Entry } from './entry.js';
import type { ToldOperation, ToldSpan } from './selection.js';
import type { OwnerNames } from './words.js';

const MS = 1e6;

const OUTCOME_WORDS: Record<number, string> = {
  [OUTCOME.ok]: 'done',
  [OUTCOME.fail]: 'not its own any more',
  [OUTCOME.info]: 'outcome unknown',
};

export function notesOf(operation: ToldOperation, { key, holds }: Violation): Entry[] {
  const { host, op, outcome, fromNs, untilNs, leaseFromNs, leaseMs, token } = operation;
  const isHeldHere = holds.some((hold) => hold.fromNs === untilNs);
  const note = (atNs: number, text: string, tone: 'hold' | 'client' = 'client'): Entry[] =>
    Number.isFinite(atNs) ? [{ kind: 'note', atNs, host, text, tone }] : [];
  if (op === OP.acquire) {
    if (outcome !== OUTCOME.ok) return [];
    const lease = Number.isFinite(leaseFromNs + leaseMs)
      ? `, lease until ${exactMoment(leaseFromNs + leaseMs * MS)}`
      : '';
    const named = Number.isNaN(token) ? '' : `, token ${token}`;
    return note(untilNs, `is granted ${key}${named}${lease}`, isHeldHere ? 'hold' : 'client');
  }
  const name = op === OP.release ? 'release' : 'extend';
  const isLast = holds.some((hold) => hold.untilNs === fromNs);
  return [
    ...note(fromNs, `begins to ${name} ${key}`, isLast ? 'hold' : 'client'),
    ...note(untilNs, `${name}: ${OUTCOME_WORDS[outcome] ?? 'never answered'}`),
  ];
}

/** Where a hold ended by itself; a release has notes of its own. */
export function endsOf({ holds, key }: Violation, hostOf: ReadonlyMap<string, string>): Entry[] {
  return holds.flatMap((hold): Entry[] => {
    const host = hostOf.get(hold.client) ?? hold.client;
    const past: Entry[] =
      hold.leaseEndNs < hold.untilNs
        ? [
            {
              kind: 'note',
              atNs: hold.leaseEndNs,
              host,
              text: `its lease of ${key} ends, and it goes on`,
              tone: 'wrong',
            },
          ]
        : [];
    const gone: Entry[] =
      hold.endedBy === 'client-down' || hold.endedBy === 'lost'
        ? [
            {
              kind: 'note',
              atNs: hold.untilNs,
              host,
              text: hold.endedBy === 'lost' ? `learns that it lost ${key}` : 'is gone',
              tone: 'client',
            },
          ]
        : [];
    return [...past, ...gone];
  });
}

/** Sampled expiries may be off by this. */
const EXPIRY_ERROR_NS = 2 * MS;

export function expiriesOf(
  story: Story,
  { key }: Violation,
  servers: readonly string[],
  window: ToldSpan,
  owners: OwnerNames,
): Entry[] {
  const { fromNs, untilNs } = window;
  return story.beliefs.within(fromNs, untilNs).flatMap(({ node, owners: owned }): Entry[] => {
    if (!servers.includes(node)) return [];
    return (owned.get(key) ?? [])
      .filter(({ untilNs: until, expiresNs }) => Math.abs(until - expiresNs) <= EXPIRY_ERROR_NS)
      .filter(({ expiresNs }) => expiresNs >= fromNs && expiresNs <= untilNs)
      .map(({ expiresNs, value }) => ({
        kind: 'note',
        atNs: expiresNs,
        host: node,
        text: `${key} (${owners.named(value)}) expires`,
        tone: 'server',
      }));
  });
}
