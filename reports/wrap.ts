/** Lines broken at words, to a terminal's width, under the text that they go on with. Pure. */
import { stripVTControlCharacters } from 'node:util';

/** A label, a number or a moment with which a line begins: what follows it is continued under itself. */
const LABEL = /^ *(?:\d+\. |[\w-]+: +|[\d.]+ s {2}(?:\w+ {2,}| +)?)?/;
/** With the space before it. A number stays with its unit. */
const WORD = /^ *\S*|\s+\S*\d (?:ns|µs|ms|s|min|%)(?!\w)\S*|\s+\S*/g;
/** Of the width; a deeper indent leaves too little room for words. */
const DEEPEST_INDENT = 0.4;
/** What a shell would read differently once it is broken, and no mouse selects whole: it is left to the terminal to fold. */
const COMMAND =
  /(?:^|[\s(])(?:npx \S|npm (?:run|i|install|ci|test)\b|node (?:\S*\/|\S+\.m?js)|sudo \S|docker (?:run|build|pull|load)\b|apt-get \S)/;

/**
 * By how many columns lines are broken. None where there is no terminal: logs fold lines by themselves, and whoever searches or reads
 * them by a program finds each sentence whole.
 */
export function breakingAt({ isTTY, columns }: Stream): { columns?: number } {
  return isTTY === true ? { columns: columns || 80 } : {};
}

/** A text as it is written to a stream: broken where that is a terminal. */
export function wrappedFor(stream: Stream, text: string): string {
  const { columns } = breakingAt(stream);
  return columns === undefined ? text : wrapped(text, columns);
}

/** As far as it matters here: `process.stdout`. */
interface Stream {
  isTTY?: boolean;
  columns?: number;
}

/**
 * A text's lines, each of at most `columns` if its words allow that. A word that is longer stays whole, and so does a line with a
 * command in it: what is copied from a terminal is to be what was printed. Colours count for no width.
 */
export function wrapped(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => wrappedLine(line, columns))
    .join('\n');
}

function wrappedLine(line: string, columns: number): string[] {
  const bare = stripVTControlCharacters(line);
  if (bare.length <= columns || COMMAND.test(bare)) return [line];
  const indent = Math.min(LABEL.exec(bare)![0].length, Math.floor(columns * DEEPEST_INDENT));
  const lines: string[] = [];
  let current = '';
  // The line's own indent goes with its first word.
  for (const word of line.match(WORD) ?? []) {
    if (current !== '' && width(current) + width(word) > columns && width(current) > indent) {
      lines.push(current);
      current = `${' '.repeat(indent)}${word.trimStart()}`;
    } else current += word;
  }
  return [...lines, current];
}

function width(text: string): number {
  return stripVTControlCharacters(text).length;
}
