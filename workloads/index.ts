/** What the clients can do. */
import type { Workload } from '../harness/vocabulary/workload.js';
import { callers } from './callers.js';
import { cancel } from './cancel.js';
import { counter } from './counter.js';
import { crash } from './crash.js';
import { fair } from './fair.js';
import { fencedResource } from './fenced-resource.js';
import { latch } from './latch.js';
import { lateRelease } from './late-release.js';
import { multi } from './multi.js';
import { mutex } from './mutex.js';
import { readWrite } from './read-write.js';
import { reentrant } from './reentrant.js';
import { renewal } from './renewal.js';
import { semaphore } from './semaphore.js';
import { singletonJob } from './singleton-job.js';
import { tries } from './try.js';

const all = [
  mutex,
  counter,
  fencedResource,
  renewal,
  reentrant,
  fair,
  readWrite,
  multi,
  semaphore,
  crash,
  singletonJob,
  tries,
  lateRelease,
  callers,
  cancel,
  latch,
];

export const workloads: Record<string, Workload> = Object.fromEntries(all.map((workload) => [workload.name, workload]));
