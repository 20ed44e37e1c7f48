/** Moments, lengths of time and counts as the checkers' sentences give them. */

/** A moment of the run: `7.412 s`. */
export function moment(ns: number): string {
  return `${(ns / 1e9).toFixed(3)} s`;
}

/** A length of time in milliseconds: `712 ms`, and with decimals where whole milliseconds would hide it: `0.38 ms`. */
export function length(ns: number): string {
  const ms = ns / 1e6;
  return `${ms >= 100 ? grouped(Math.round(ms)) : Number(ms.toPrecision(ms >= 1 ? 3 : 2))} ms`;
}

/** `1 hold`, `1,024 holds`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}
