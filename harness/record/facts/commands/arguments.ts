/** Numbers and options in the arguments of commands, read as Redis reads them. */
import { NEVER, passed, type Times } from './state.js';
import { and, type Truth, truth } from './truth.js';

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;

/** A number as Redis stores it: in decimal, of 64 bits, without a plus or leading zeros; undefined: an error. */
export function integer(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  return within64Bits(BigInt(text));
}

/** The number, if it has 64 bits. */
export function within64Bits(value: bigint): bigint | undefined {
  return value < LEAST || value > MOST ? undefined : value;
}

/** A score. Undefined: an error, or in a notation that is not read here; see `isScore`. */
export function score(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[+-]?inf(?:inity)?$/i.test(text)) return text[0] === '-' ? -Infinity : Infinity;
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
}

/** The observer keeps the beginning of long arguments only; in older records bytes that are no UTF-8 cannot be distinguished. */
export function isWhole(argument: string): boolean {
  return !((argument.length > 200 && argument.endsWith('…')) || argument.includes('\ufffd'));
}

/** An argument as a value; undefined: not all of it is known. */
export function wholeText(argument: string): string | undefined {
  return isWhole(argument) ? argument : undefined;
}

/** `known` undefined: it may be anything. */
export function equals(known: string | undefined, argument: string): Truth {
  return known === undefined || !isWhole(argument) ? 'unknown' : truth(known === argument);
}

const TIME_UNITS = { EX: 1_000, PX: 1, EXAT: 1_000, PXAT: 1 } as const;
export type TimeOption = keyof typeof TIME_UNITS;

export function isTimeOption(word: string | undefined): word is TimeOption {
  return word !== undefined && Object.hasOwn(TIME_UNITS, word);
}

/** What a number with its unit comes to by the server's clock, of which it is known what it showed; undefined: an error. */
export function timeOf(option: TimeOption, amount: string | undefined, now: Times): Times | undefined {
  const number = integer(amount);
  const ms = number === undefined ? undefined : within64Bits(number * BigInt(TIME_UNITS[option]));
  if (ms === undefined) return undefined;
  if (option.endsWith('AT')) return { fromMs: Number(ms), untilMs: Number(ms) };
  if (within64Bits(ms + BigInt(Math.ceil(now.untilMs))) === undefined) return undefined;
  return { fromMs: now.fromMs + Number(ms), untilMs: now.untilMs + Number(ms) };
}

/** A time to live with a new value must be above zero. */
export function timeToKeep(option: TimeOption, amount: string | undefined, now: Times): Times | undefined {
  const number = integer(amount);
  return number === undefined || number <= 0n ? undefined : timeOf(option, amount, now);
}

/** Whether a time that a command gives is over at once: what is to expire then is removed. */
export function isOver(option: TimeOption, amount: string | undefined, to: Times, now: Times): Truth {
  if (!option.endsWith('AT')) return truth((integer(amount) ?? 0n) <= 0n);
  return passed(to, { fromMs: now.fromMs + 1, untilMs: now.untilMs + 1 });
}

/** Whether one time comes before another. */
export function isBefore(one: Times, other: Times): Truth {
  if (one.untilMs < other.fromMs) return 'yes';
  return one.fromMs >= other.untilMs ? 'no' : 'unknown';
}

export function isNever(times: Times): Truth {
  if (times.fromMs === NEVER.fromMs) return 'yes';
  return times.untilMs < NEVER.untilMs ? 'no' : 'unknown';
}

const EXPIRE_OPTIONS = ['NX', 'XX', 'GT', 'LT'] as const;
export type ExpireOption = (typeof EXPIRE_OPTIONS)[number];

/** The options of EXPIRE and its kin; undefined: an error. */
export function expireOptions(words: readonly string[]): ReadonlySet<ExpireOption> | undefined {
  const options = new Set<ExpireOption>();
  for (const word of words) {
    const option = EXPIRE_OPTIONS.find((one) => one === word.toUpperCase());
    if (!option) return undefined;
    options.add(option);
  }
  const clash = (options.has('NX') && options.size > 1) || (options.has('GT') && options.has('LT'));
  return clash ? undefined : options;
}

/** Whether EXPIRE with these options gives that time to what expires at `expires`. */
export function expireApplies(options: ReadonlySet<ExpireOption>, expires: Times, to: Times): Truth {
  const never = isNever(expires);
  const ifHas = (option: ExpireOption, applies: Truth): Truth => (options.has(option) ? applies : 'yes');
  return and(
    ifHas('NX', never),
    ifHas('XX', never === 'unknown' ? 'unknown' : truth(never === 'no')),
    // A key that never expires counts as one with the longest time.
    ifHas('GT', never === 'yes' ? 'no' : isBefore(expires, to)),
    ifHas('LT', isBefore(to, expires)),
  );
}
