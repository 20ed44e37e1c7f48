/** README.md's verdict: the first lines of what a run says at its end. */
import { closingSummary, wrapped } from '../../reports/index.js';
import { ofExampleRun } from './example-run.js';
import { between } from './measured.js';

const LINES = 7;
const COLUMNS = 118;

/** README.md with its verdict made anew. */
export async function readmePage(path: string): Promise<string> {
  const told = await ofExampleRun(({ results, config }) => closingSummary({ results, failOn: config.failOn }));
  return between(path, {
    'a verdict': ['```', ...wrapped(told, COLUMNS).split('\n').slice(0, LINES), '```'].join('\n'),
  });
}
