/** Names of checkers that several workloads have in common. */

/** Whether two held at once, and whether the lock could be had again. */
export const EXCLUSION = ['mutual-exclusion', 'liveness'] as const;
/** Whether the run was worth something; and what is measured. */
export const WORTH = ['vacuity', 'availability', 'latency', 'loss-to-notice'] as const;
