/**
 * How an answer says that the lock's own program is wrong, and not what befell it: a reason that begins with `bug: `. What was thrown
 * follows, and where.
 */
const BUG = 'bug: ';

/** The reason of an answer of which `what` was the cause. */
export function asBug(what: string): string {
  return `${BUG}${what}`;
}

/** What an answer with this reason says of a mistake in the lock's program; undefined: nothing. */
export function bugIn(reason: string | undefined): string | undefined {
  return reason?.startsWith(BUG) ? reason.slice(BUG.length) : undefined;
}
