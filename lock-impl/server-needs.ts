/** Commands that some locks cannot do without, and which servers have them. */
import type { ServerNeeds } from '../harness/vocabulary/topology.js';

/** What compares by itself: by SET … IFEQ, without a script. */
export const ifeqCommands: ServerNeeds = { oneOf: ['DELIFEQ', 'DELEX'], server: 'valkey@9' };
/** By SET … IFNE. */
export const ifneCommands: ServerNeeds = { oneOf: ['DELEX'], server: 'redis@8.4' };
/** A hash whose fields expire. */
export const expiringFields: ServerNeeds = { oneOf: ['HPEXPIRE'], server: 'valkey@9' };
/** Redis had the same fault in 7.4 and mended it: https://github.com/redis/redis/pull/13793. */
export const waitsForDisks: ServerNeeds = {
  oneOf: ['WAITAOF'],
  server: 'redis@8.0',
  notOn: { kind: 'valkey', because: 'WAITAOF is answered there before a log that is synced each second was' },
};
