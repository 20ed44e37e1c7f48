/** Locks that one client holds at a time, once: mutex, fair and fenced. */
import type { KeyHistory, Model } from '../types.js';
import { lockModel, type Rules } from './rules.js';

/** The acquire that holds, or this. */
const FREE = -1;

const mutexRules: Rules<number> = {
  free: FREE,
  // For any client: a mutex that its own client holds is not granted to it again.
  refuses: (held) => held !== FREE,
  grant: (_held, row) => row,
  end: (held, acquire) => (held === acquire && held !== FREE ? FREE : undefined),
  holds: (held) => (held === FREE ? [] : [held]),
  hash: (held) => held,
};

export function mutexModel(): Model<number> {
  return lockModel({ kind: 'mutex' }, mutexRules);
}

/** A mutex as far as this is concerned: in which order waiters were served does not affect who held. */
export function fairModel(): Model<number> {
  return lockModel({ kind: 'fair' }, mutexRules);
}

interface Fenced {
  readonly held: number;
  /** The highest token that was given out; -Infinity before the first. */
  readonly token: number;
}

/** A mutex whose tokens rise with every grant. A grant of which no token is known says nothing about tokens. */
export function fencedModel(): Model<Fenced> {
  return lockModel<Fenced>(
    { kind: 'fenced' },
    {
      free: { held: FREE, token: Number.NEGATIVE_INFINITY },
      refuses: ({ held }) => held !== FREE,
      grant({ token }, row, { operations }: KeyHistory) {
        const given = operations.token[row]!;
        if (Number.isNaN(given)) return { held: row, token };
        return given > token ? { held: row, token: given } : undefined;
      },
      end: ({ held, token }, acquire) => (held === acquire && held !== FREE ? { held: FREE, token } : undefined),
      holds: ({ held }) => (held === FREE ? [] : [held]),
      hash: ({ held, token }) => `${held}/${token}`,
      also: ({ token }) => (token === Number.NEGATIVE_INFINITY ? 'no token given yet' : `last token ${token}`),
    },
  );
}
