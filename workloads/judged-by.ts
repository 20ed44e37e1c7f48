/** Names of checkers that several workloads have in common. */

/** Whether two held at once, or took themselves for holders; whether waiting clients got the lock; and whether it was free again in the end. */
export const EXCLUSION = ['mutual-exclusion', 'ownership', 'liveness', 'waiting'] as const;
/** Whether the run was worth something; and what is measured. */
export const WORTH = ['vacuity', 'availability', 'latency', 'loss-to-notice'] as const;
