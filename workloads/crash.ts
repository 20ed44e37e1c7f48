/** Holders die: a lock that only its holder can free is lost with it. */
import type { Workload } from '../harness/vocabulary/workload.js';
import { contend } from './mutex.js';

export const crash: Workload = {
  name: 'crash',
  summary: 'as mutex, and holders are killed: can their locks be acquired again?',
  model: { kind: 'mutex' },
  defaults: { nemesis: 'kill:holder' },
  script: contend,
};
