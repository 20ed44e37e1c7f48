import type { Scenario } from '../harness/vocabulary/workload.js';
import { releaseTooLate } from './acts/requirements.js';

export const onlyTheOwnerReleases: Scenario = {
  name: 'only-the-owner-releases',
  claim: "no client gives back another one's lock (SET NX PX with a random value)",
  truth: 'the script compares before it deletes, so a late release does nothing and the lock of the next one stays',
  topology: 'single',
  lock: 'set-nx-px',
  settings: { leaseMs: 2_000, keys: 1 },
  expect: [],
  play: releaseTooLate,
};
