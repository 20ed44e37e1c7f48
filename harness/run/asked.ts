/** What of an instruction the lock is asked for, and what is only how it is staged. */

/** How an operation is staged is no part of what was asked of the lock. */
export function withoutStaging<One extends object>(instruction: One): One {
  const { stopAt: _, ...asked } = withoutCancel(instruction) as One & { stopAt?: string };
  return asked as One;
}

/** When its caller gives up is told when it does. */
export function withoutCancel<One extends object>(instruction: One): One {
  const { cancelAfterMs: _, ...asked } = instruction as One & { cancelAfterMs?: number };
  return asked as One;
}
