/**
 * Clients queue for one key, and wait long enough for their turn. Work is mostly brief, so that the lock changes hands hundreds of
 * times: between a release and the one who is next there are milliseconds in which somebody may push in.
 */
import type { Workload } from '../harness/vocabulary/workload.js';
import { contend } from './mutex.js';

export const fair: Workload = {
  name: 'fair',
  summary: 'clients queue for one key: is it granted in the order in which they came?',
  model: { kind: 'fair' },
  defaults: { lock: 'fair', keys: 1, waitMs: 10_000 },
  script: contend,
};
