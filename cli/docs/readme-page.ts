/** README.md's verdict: the first lines of what a run says at its end. */
import { closingSummary } from '../../reports/index.js';
import { ofExampleRun } from './example-run.js';
import { between } from './measured.js';

const LINES = 8;
const COLUMNS = 118;

/** README.md with its verdict made anew. */
export async function readmePage(path: string): Promise<string> {
  const told = await ofExampleRun(({ results, config }) => closingSummary({ results, failOn: config.failOn }));
  return between(path, { 'a verdict': ['```', ...firstLines(told), '```'].join('\n') });
}

/** As a terminal of that many columns breaks them, but at spaces, and under the text that they go on with. */
function firstLines(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => wrapped(line))
    .slice(0, LINES);
}

function wrapped(line: string): string[] {
  const indent = /^ *(?:\d+\. |\w+: +)?/.exec(line)![0].length;
  const lines: string[] = [];
  let rest = line;
  while (rest.length > COLUMNS) {
    const at = rest.lastIndexOf(' ', COLUMNS);
    // A word that is longer than a line stays whole.
    if (at <= indent) break;
    lines.push(rest.slice(0, at));
    rest = `${' '.repeat(indent)}${rest.slice(at + 1)}`;
  }
  return [...lines, rest];
}
