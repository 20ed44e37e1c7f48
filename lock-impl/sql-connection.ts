/**
 * Connections to SQL databases as locks use them: each bounded in time, none used again after anything went wrong with it. What
 * makes an answer doubtful is told apart from what was certainly not done.
 */
import type { TopologyAccess } from '../harness/vocabulary/lock.js';
import type { Endpoint } from '../harness/vocabulary/topology.js';
import { refused } from './define-lock.js';
import { LockNotUsableError } from './not-usable-here.js';

export interface SqlConnection<Answer> {
  /** Rejects with a refusal where it was certainly not carried out, with another error where it may have been. */
  query(sql: string, values?: readonly unknown[], timeoutMs?: number): Promise<Answer>;
  /** Aborts when the connection has ended. */
  readonly ended: AbortSignal;
  end(): void;
}

/** A connection of a database's own client library, open. */
export interface RawConnection<Answer> {
  query(sql: string, values: readonly unknown[], timeoutMs: number): Promise<Answer>;
  /** At once, and not after a word with a server that may not hear. */
  destroy(): void;
}

/** Of errors: what the server answered instead of doing it; undefined: it did not answer, or may have done it. */
export type ReadError = (error: unknown) => string | undefined;

/** `open` is given what to call when the connection ends. Rejects with a refusal. */
export async function sqlConnection<Answer>(
  access: TopologyAccess,
  open: (end: (why: string) => void) => Promise<RawConnection<Answer>>,
  notDone: ReadError,
): Promise<SqlConnection<Answer>> {
  const ended = new AbortController();
  const end = (why: string) => ended.abort(why);
  const raw = await open(end).catch((error: unknown) => {
    throw refused(notDone(error) ?? 'unreachable');
  });
  const query = async (sql: string, values: readonly unknown[], timeoutMs: number) => {
    if (ended.signal.aborted) throw refused('unreachable');
    try {
      return await raw.query(sql, values, timeoutMs);
    } catch (error) {
      const reason = notDone(error);
      if (reason !== undefined) throw refused(reason);
      end(String(error));
      raw.destroy();
      throw error;
    }
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    ended: ended.signal,
    end() {
      end('we ended it');
      raw.destroy();
    },
    // One after the other: a renewal in the background must not get between a question and its answer.
    query(sql, values = [], timeoutMs = access.options.commandTimeoutMs) {
      const answer = last.then(() => query(sql, values, timeoutMs));
      last = answer.catch(() => {});
      return answer;
    },
  };
}

/** Keeps one, and makes another when it has ended. */
export function kept<One extends { ended: AbortSignal }>(connect: () => Promise<One>): () => Promise<One> {
  let one: One | undefined;
  return async () => {
    if (!one || one.ended.aborted) one = await connect();
    return one;
  };
}

/** Where clients are to connect to: the primary unless given. Throws where the deployment is of something else. */
export function addressed(
  { description }: TopologyAccess,
  kind: 'postgres' | 'mariadb' | 'mysql',
  title: string,
  where?: Endpoint,
): Endpoint & { user: string; password: string } {
  if (description.kind !== kind) throw new LockNotUsableError(`this lock is for ${title}, not for ${description.kind}`);
  const { primary, user, password } = description;
  return { ...(where ?? primary!), user: user!, password: password! };
}

/** Whether an error is this refusal. */
export function isRefusedAs(error: unknown, reason: string): boolean {
  return error instanceof Error && error.message === refused(reason).message;
}
