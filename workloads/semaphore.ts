/** More clients than permits. */
import type { Workload } from '../harness/vocabulary/workload.js';
import { contend } from './mutex.js';

export const semaphore: Workload = {
  name: 'semaphore',
  summary:
    'clients contend for the permits of a semaphore: are there ever more out, or fewer left, than there should be?',
  // How many permits there are the lock says itself.
  model: { kind: 'semaphore', permits: 2 },
  defaults: { lock: 'semaphore', keys: 2 },
  script: contend,
};
