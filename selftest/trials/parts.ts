/** What several trials have in common. */

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
