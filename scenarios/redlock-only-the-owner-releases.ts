import type { Scenario } from '../harness/vocabulary/workload.js';
import { releaseTooLate } from './acts/requirements.js';

export const redlockOnlyTheOwnerReleases: Scenario = {
  name: 'redlock-only-the-owner-releases',
  claim: "no client gives back another one's lock (Redlock)",
  truth: "each node compares before it releases, so the next one's majority stays as it is",
  topology: 'redlock',
  lock: 'redlock',
  settings: { leaseMs: 6_000, keys: 1 },
  expect: [],
  play: releaseTooLate,
};
