/** The small parts of a drawing: bars, labels, hover texts. Nothing here knows a run. */
import { type Markup, markup, stacked } from '../markup.js';

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Hover text, one line for each part; readers without a mouse get it as the element's name. */
export function hover(...lines: (string | undefined)[]): Markup {
  return markup`<title>${stacked(lines.filter((line) => line !== undefined))}</title>`;
}

export function box(className: string, { x, y, width, height }: Box, inside?: Markup): Markup {
  return inside === undefined
    ? markup`<rect class="${className}" x="${x}" y="${y}" width="${width}" height="${height}"/>`
    : markup`<rect class="${className}" x="${x}" y="${y}" width="${width}" height="${height}">${inside}</rect>`;
}

export function line(className: string, x1: number, y1: number, x2: number, y2: number, inside?: Markup): Markup {
  return markup`<line class="${className}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}">${inside}</line>`;
}

export function label(className: string, x: number, y: number, text: string): Markup {
  return markup`<text class="${className}" x="${x}" y="${y}">${text}</text>`;
}

/** About how wide a text comes out; drawings only use it to leave out what would not fit. */
export function textWidth(text: string, fontPx: number): number {
  return text.length * fontPx * 0.58;
}

/** A text shortened to a width, or nothing when even three letters would not fit. */
export function fitted(text: string, widthPx: number, fontPx: number): string {
  const letters = Math.floor(widthPx / (fontPx * 0.58));
  if (text.length <= letters) return text;
  return letters < 3 ? '' : `${text.slice(0, letters - 1)}…`;
}

/** Puts spans into as few rows as they need so that none overlaps another; gives the row of each. */
export function rowOfEach(spans: readonly { from: number; until: number }[], mostRows: number): number[] {
  const packing = new Packing(mostRows);
  return spans.map(({ from, until }) => packing.rowFor(from, until));
}

/** The same for one span after another; whatever needs more rows than there may be shares the last. */
export class Packing {
  private readonly ends: number[] = [];

  constructor(private readonly mostRows: number) {}

  /** The row of the next span, in the order in which they begin. */
  rowFor(from: number, until: number): number {
    let row = this.ends.findIndex((end) => end <= from);
    if (row < 0) row = Math.min(this.ends.length, this.mostRows - 1);
    this.ends[row] = Math.max(this.ends[row] ?? Number.NEGATIVE_INFINITY, until);
    return row;
  }
}
