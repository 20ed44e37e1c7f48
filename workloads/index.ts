/** What the clients can be told to do. */
import type { Workload } from '../harness/api.js';
import { mutex } from './mutex.js';

export const workloads: Record<string, Workload> = { mutex };
