/** Clients queue for one key, and wait long enough for their turn. */
import type { Workload } from '../harness/vocabulary/workload.js';
import { contend } from './mutex.js';

export const fair: Workload = {
  name: 'fair',
  summary: 'clients queue for one key: is it granted in the order in which they came?',
  model: { kind: 'fair' },
  defaults: { lock: 'fair', keys: 1, waitMs: 10_000, hold: { min: 0.01, max: 0.1 } },
  script: contend,
};
