/** What the user's terminal can show, from its environment. */

/** A stream's own word and the environment, as far as they matter here. */
export interface Surroundings {
  isTTY: boolean;
  env: Readonly<Record<string, string | undefined>>;
}

export function surroundings(): Surroundings {
  return { isTTY: process.stdout.isTTY === true, env: process.env };
}

/** How a live view looks on this terminal. */
export interface LiveLook {
  colour: boolean;
  unicode: boolean;
}

/** Undefined: lines that scroll by, and nothing else. */
export function liveLook(here: Surroundings): LiveLook | undefined {
  return canRedraw(here) ? { colour: wantsColour(here), unicode: showsUnicode(here) } : undefined;
}

/** Whether a picture can be redrawn in place; CI keeps what is written and shows it as a log. */
export function canRedraw({ isTTY, env }: Surroundings): boolean {
  return isTTY && env.TERM !== undefined && !['', 'dumb'].includes(env.TERM) && ['', 'false'].includes(env.CI ?? '');
}

/** See no-color.org: set and not empty means no. */
export function wantsColour({ isTTY, env }: Surroundings): boolean {
  return isTTY && env.TERM !== 'dumb' && (env.NO_COLOR ?? '') === '';
}

/** The first of these that is set decides, as in every POSIX program; the Linux console's font lacks most of it. */
export function showsUnicode({ env }: Surroundings): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return /utf-?8/i.test(locale) && env.TERM !== 'linux';
}
