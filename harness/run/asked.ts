/** What of an instruction the lock is asked for, and what is only how it is staged. */

/** How an operation is staged, and under which hold it shows that the process runs, is no part of what was asked of the lock. */
export function withoutStaging<One extends object>(instruction: One): One {
  const { stopAt: _, under: __, ...asked } = withoutGivingUp(instruction) as One & { stopAt?: string; under?: number };
  return asked as One;
}

/** When its caller gives up, the operation or what it holds beside it, is told when it does. */
export function withoutGivingUp<One extends object>(instruction: One): One {
  const { cancelAfterMs: _, givesUp: __, ...asked } = instruction as One & { cancelAfterMs?: number; givesUp?: object };
  return asked as One;
}
