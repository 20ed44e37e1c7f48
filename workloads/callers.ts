/** Several callers in each process, threads or tasks of it, contend with each other and with those of the other processes. */
import type { Workload } from '../harness/vocabulary/workload.js';
import { contend } from './mutex.js';

export const callers: Workload = {
  name: 'callers',
  summary: 'three callers in each client process contend for the keys, each an owner of its own',
  model: { kind: 'mutex' },
  needs: ['callers'],
  defaults: { clients: 3, callers: 3, keys: 3 },
  script: contend,
};
