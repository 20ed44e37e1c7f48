/** What several trials have in common. */
import type { Needs } from '../trial.js';

export const planFile = (name: string) => ['--plan', `selftest/plans/${name}.json`];
export const calm = ['--nemesis', 'none'];
/** Work long enough for a slow answer, or a death, to come while somebody holds. */
export const atWork = ['--hold', '0.02x..0.7x'];
/** Work that outlives the lease now and then. */
export const overrun = ['--careless', '--hold', '0.5x..1.5x', '--lease', '1s'];

export const overlap = { checker: 'mutual-exclusion', class: 'exclusion' } as const;
export const stale = { checker: 'mutual-exclusion', class: 'stale' } as const;
export const grantedLate = { ...stale, cause: 'granted-late' } as const;
export const neverGrantedHold = { checker: 'never-granted', class: 'exclusion', kind: 'never-granted' } as const;
export const revived = { checker: 'ownership', class: 'exclusion', kind: 'revived' } as const;

/** What compares by itself: by SET … IFEQ, without a script. */
export const ifeqCommands: Needs = { oneOf: ['DELIFEQ', 'DELEX'], server: 'valkey@9' };
/** A hash whose fields expire. */
export const expiringFields: Needs = { oneOf: ['HPEXPIRE'], server: 'valkey@9' };
/** Redis had the same fault in 7.4 and mended it: https://github.com/redis/redis/pull/13793. */
export const waitsForDisks: Needs = {
  oneOf: ['WAITAOF'],
  server: 'redis@8.0',
  notOn: { kind: 'valkey', because: 'WAITAOF is answered there before a log that is synced each second was' },
};
