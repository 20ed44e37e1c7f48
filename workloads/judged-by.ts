/** Names of checkers that several workloads have in common. */

/** Whether two held at once or were told so, and whether the lock could be had by who waited, and again. */
export const EXCLUSION = ['mutual-exclusion', 'ownership', 'liveness', 'waiting'] as const;
/** Whether the run was worth something; and what is measured. */
export const WORTH = ['vacuity', 'availability', 'latency', 'loss-to-notice'] as const;
