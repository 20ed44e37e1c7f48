/**
 * Text that locks, logs, servers and files chose, as people are shown it: no character of it acts on a terminal or a page, and
 * none of it is too long for a line. Pure.
 */

/** What a message shows of one foreign value, characters. */
const LONGEST = 300;

/** A foreign value in a message: on one line, visible, cut at `longest` characters. What is no text is shown as JSON. */
export function shown(value: unknown, longest = LONGEST): string {
  const text = typeof value === 'string' ? value : asJson(value);
  // Of ten megabytes most is not even looked at.
  const start = visible(text.slice(0, longest));
  return text.length <= longest && start.length <= longest ? start : `${start.slice(0, longest)}…`;
}

/** The same as JSON, in which a text has its quotes. */
export function shownAsJson(value: unknown, longest = LONGEST): string {
  return shown(asJson(value), longest);
}

function asJson(value: unknown): string {
  // JSON can say 1e999, which is read as Infinity, for which it has no word.
  if (typeof value === 'number') return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // JSON.parse takes brackets nested a million deep; its counterpart does not.
    return 'something nested too deep';
  }
}

/**
 * Makes control characters, bidirectional overrides and broken surrogates visible: a lock's text must not colour a
 * terminal, break a line or read differently from what it is. Stays on one line. A length of time or a share keeps three digits after
 * its point, whoever wrote it: `10513.948694674858 ms` is `10513.949 ms`. Numbers without a unit of their own stay, for those may be
 * part of a command or a path.
 */
export function visible(text: string): string {
  return (
    text
      .replace(LONG_FRACTION, (number) => String(Number(Number(number).toFixed(3))))
      .replace(/\p{Surrogate}/gu, '\ufffd')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      .replace(/[\u0000-\u001f]/g, (character) => String.fromCharCode(0x2400 + character.charCodeAt(0)))
      .replace(/\u007f/g, '\u2421')
      .replace(
        /[\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]/g,
        (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
  );
}

const LONG_FRACTION = /(?<![\w.,])\d+\.\d{4,}(?=\s(?:ns|µs|us|ms|s|min|%)(?![\w/]))/g;

/** At most `max` characters, and how many were left out. */
export function clipped(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`;
}
