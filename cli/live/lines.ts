/**
 * Lines of styled text of a known width: built of pieces, cut to fit, and only then painted. Every character that gets in
 * is one column wide, so that widths are lengths.
 */

export type Style = 'plain' | 'bold' | 'dim' | 'red' | 'yellow' | 'green';

/** What a terminal can show. */
export interface Display {
  columns: number;
  rows: number;
  colour: boolean;
  unicode: boolean;
}

export type StyledText = readonly [style: Style, text: string];
export type Line = readonly StyledText[];

const CODES = { bold: '1', dim: '2', red: '1;31', yellow: '33', green: '32' };

/** A name that fits a place: printable ASCII only, so that nothing a user or a lock chose acts on the terminal. */
export function name(text: string, longest: number, { unicode }: Pick<Display, 'unicode'>): string {
  return cut(text.replace(/[^\x20-\x7e]/g, '?'), longest, unicode);
}

/** `12.4 s`, `400 ms` only where tenths would hide it all is not needed here: always seconds, with one decimal. */
export function seconds(ms: number): string {
  return `${(Math.max(0, ms) / 1e3).toFixed(1)} s`;
}

export function widthOf(line: Line): number {
  return line.reduce((sum, [, text]) => sum + text.length, 0);
}

/** The line as it goes to the terminal: not wider than `width`, coloured if wanted. */
export function paint(line: Line, width: number, look: Pick<Display, 'colour' | 'unicode'>): string {
  let left = width;
  let painted = '';
  for (const [n, [style, text]] of line.entries()) {
    const isLast = line.slice(n + 1).every(([, rest]) => rest === '');
    // The mark of a cut needs a column of its own: where this piece fits but the next does not, it goes here.
    const fits = text.length < left || (isLast && text.length === left);
    const shown = fits ? text : cut(`${text} `, left, look.unicode);
    if (shown !== '') painted += look.colour && style !== 'plain' ? `\u001b[${CODES[style]}m${shown}\u001b[0m` : shown;
    if (!fits) break;
    left -= shown.length;
  }
  return painted;
}

/** Ends in a mark where something was cut off. */
function cut(text: string, longest: number, unicode: boolean): string {
  if (text.length <= longest) return text;
  return text.slice(0, Math.max(0, longest - 1)) + (longest > 0 ? (unicode ? '…' : '~') : '');
}
