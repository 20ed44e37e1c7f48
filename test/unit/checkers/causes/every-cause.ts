/** By what each cause is judged: by which oracle, or why by none and by which tests of its links then. */
import type { Program } from './queue-oracle/run.js';

/** What each oracle must name in the deep layer, where its model says that it was true. */
export const ORACLES = {
  'oracle.test.ts': [
    'adopted-stale-key',
    'client-cut-off',
    'client-paused',
    'client-slow',
    'clock-jumped',
    'clock-ran-fast',
    'counter-expired',
    'counter-removed',
    'evicted',
    'failover-lost-renewal',
    'failover-lost-write',
    'granted-late',
    'lease-too-short',
    'minority-granted',
    'never-granted',
    'node-forgot',
    'not-told',
    'overwritten',
    'released-by-itself',
    'released-by-other',
    'shared-owner',
    'shortened-by-other',
    'split-brain',
    'taken-over-by-clock',
    'token-drawn-early',
  ],
  'queue-oracle.test.ts': [
    'granted-past-queue',
    'key-never-expires',
    'node-forgot',
    'outlives-its-lease',
    'place-removed',
    'prolonged-for-others',
    'prolonged-too-long',
    'queue-head-gone',
  ],
  'slot-oracle.test.ts': ['asking-unasked'],
  'count-oracle.test.ts': ['clock-jumped', 'count-expired', 'returned-too-often'],
} as const;

/**
 * What was in the way of the probe at the end, by `probe-oracle.test.ts`, and the mistake of a program by which its model must
 * come to it: some of what `queue-oracle.test.ts` judges in the midst of a run.
 */
export const PROBED = {
  'key-never-expires': { ttlFactor: 0 },
  'outlives-its-lease': { ttlFactor: 20 },
  'prolonged-too-long': { renews: 'on-and-on' },
  'queue-head-gone': { queues: 'abandons', sweepsAfterMs: Number.POSITIVE_INFINITY },
} as const satisfies Record<string, Partial<Program>>;

/** Of those whom it judges in the midst of a run, who cannot be in the way of the probe, and why. */
export const NEVER_PROBED: Readonly<Record<string, string>> = {
  'granted-past-queue': 'it is a grant out of turn, and a probe that is refused has none',
  'node-forgot': 'as for granted-past-queue',
  'place-removed': 'as for granted-past-queue',
  'prolonged-for-others': 'who asks and is refused prolongs it: the others have ended before the probe asks',
};

/** Why no oracle judges it, and the tests, from `test/unit/checkers` on, that take each of its links away. */
export const WITHOUT_ORACLE: Readonly<Record<string, { why: string; tests: string }>> = {
  'granted-beside': {
    why: 'no model has a lock whose record names several at once, readers and writers, and grants by it',
    tests: 'causes/granted-beside.test.ts',
  },
  'granted-unacknowledged': {
    why: 'it is failover-lost-write or split-brain, which the oracle judges, of a lock that waits for replicas, which no model has',
    tests: 'causes/unacknowledged.test.ts',
  },
  'place-expired': {
    why: 'the queue of the model has no time of its own',
    tests: 'causes/place-lost.test.ts',
  },
  'granted-nobody': {
    why: 'every model of a lock grants something',
    tests: 'causes/granted-nobody.test.ts',
  },
  'script-unknown': {
    why: 'no model has scripts that a server may know or not, and MONITOR does not show what it answered',
    tests: 'causes/script-unknown.test.ts',
  },
  'loss-ignored': {
    why: 'no model has a client that does not look at what its lock tells it',
    tests: 'causes/loss-ignored.test.ts',
  },
  'released-meanwhile': {
    why: 'it is named of one kind of finding only, whose checker asks for each of its links before it accuses, and no model has what a lock tells its client after a release',
    tests: 'liveness/false-loss.test.ts',
  },
  'stored-again': {
    why: 'it is named of one kind of finding only, which no model has: what stays on a server without anybody holding it',
    tests: 'causes/stored-again.test.ts',
  },
  'went-on-trying': {
    why: 'it is two tries of an acquire that no model has: one that waits, whose commands may take their time',
    tests: 'liveness/overstayed.test.ts',
  },
  'removed-early': {
    why: 'services beside Redis tell themselves who removed what and when: there is no reading of commands that a model could refute',
    tests: 'causes/own-record.test.ts',
  },
  'session-expired': {
    why: 'as for removed-early: the record says that the service ended the session, and when',
    tests: 'causes/own-record.test.ts',
  },
  'session-lost': {
    why: 'as for removed-early: the record says which session held it, and when its server was gone',
    tests: 'causes/own-record.test.ts',
  },
  'failover-lost-row': {
    why: 'as for removed-early: the record says what each server had when it was promoted',
    tests: 'causes/own-record.test.ts',
  },
  'failover-lost-extension': {
    why: 'as for removed-early: the record says what each server had when it was promoted, and for how long',
    tests: 'causes/own-record.test.ts',
  },
  'local-to-one-server': {
    why: 'as for removed-early: the record says which server each session was of',
    tests: 'causes/own-record.test.ts',
  },
};
