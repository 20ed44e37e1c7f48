/**
 * Which errors are certainly mistakes in a lock's program: what it threw would be thrown however well servers and network are.
 *
 * Excludes whatever may go away by itself: time-outs, connections that were refused or lost, and every answer by which a server says
 * how it is (`NOSCRIPT`, `LOADING`, `READONLY`, `MOVED`, `CLUSTERDOWN`, `OOM`, `BUSY`, `NOAUTH`, ...).
 */
import { firstLine } from './outcome.js';

const OF_THE_LANGUAGE = new Set(['TypeError', 'ReferenceError', 'SyntaxError', 'RangeError']);

/** What a server says of a command itself, whatever it has stored and however it is. Redis 6 begins the same sentences in capitals. */
const OF_A_COMMAND = [
  /^ERR unknown (sub)?command/i,
  /^ERR wrong number of (arguments|args)/i,
  /^ERR syntax error/,
  /^ERR value is not (an integer|a valid float)/,
  /^ERR (invalid expire time|timeout is not an integer)/i,
  /^ERR number of keys can't be/i,
  /^ERR error compiling script/i,
  // Nothing but the lock has stored anything where its commands go.
  /^WRONGTYPE /,
  /^CROSSSLOT /,
];

/** What Lua and the server say of the text of a script that they carry out. A command that it called may have failed for another reason. */
const OF_A_SCRIPT =
  /^ERR .*(user_script.*: (attempt to (call|index|perform|compare|concatenate)|bad argument #)|nonexistent global variable|unknown redis command called from|wrong number of args calling redis command)/is;

/** What was thrown in one line, if it is one; undefined: it need not be. */
export function programmingError(thrown: unknown): string | undefined {
  const { name, message, cause, errors } = (thrown ?? {}) as Partial<AggregateError>;
  if (typeof message !== 'string') return undefined;
  if (Array.isArray(errors) && errors.length > 0) {
    const all = errors.map(programmingError);
    return all.every((one) => one !== undefined) ? all[0] : undefined;
  }
  // `fetch` throws a TypeError for a connection that was refused, with the reason as its cause.
  if (OF_THE_LANGUAGE.has(name!)) return cause === undefined ? `${name}: ${firstLine(thrown)}` : undefined;
  const isOfAServer = [...OF_A_COMMAND, OF_A_SCRIPT].some((pattern) => pattern.test(message));
  return isOfAServer ? firstLine(thrown) : undefined;
}
