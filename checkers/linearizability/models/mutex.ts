/** Locks that one client holds at a time, once: mutex, fair and fenced. */
import type { KeyHistory, Model } from '../types.js';
import { lockModel, type Rules } from './rules.js';

/** The acquire that holds, or this. */
const NOBODY = -1;

const mutexRules: Rules<number> = {
  free: NOBODY,
  // Whoever asks: a mutex that its own client holds is not granted to it again.
  refuses: (held) => held !== NOBODY,
  grant: (_held, row) => row,
  end: (held, acquire) => (held === acquire && held !== NOBODY ? NOBODY : undefined),
  holds: (held) => (held === NOBODY ? [] : [held]),
  hash: (held) => held,
};

export function mutexModel(): Model<number> {
  return lockModel({ kind: 'mutex' }, mutexRules);
}

/** A mutex as far as this is concerned: in which order waiters were served is no matter of who held. */
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
      free: { held: NOBODY, token: Number.NEGATIVE_INFINITY },
      refuses: ({ held }) => held !== NOBODY,
      grant({ token }, row, { operations }: KeyHistory) {
        const given = operations.token[row]!;
        if (Number.isNaN(given)) return { held: row, token };
        return given > token ? { held: row, token: given } : undefined;
      },
      end: ({ held, token }, acquire) => (held === acquire && held !== NOBODY ? { held: NOBODY, token } : undefined),
      holds: ({ held }) => (held === NOBODY ? [] : [held]),
      hash: ({ held, token }) => `${held}/${token}`,
      also: ({ token }) => (token === Number.NEGATIVE_INFINITY ? 'no token given yet' : `last token ${token}`),
    },
  );
}
