import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './torture.js';

/** Rows of docs/articles.md: claim, verdict, what shows it, and what that showed. */
export function articleRows(): string[][] {
  return readFileSync(join(ROOT, 'docs/articles.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (claim|---)/.test(line))
    .map((line) => line.slice(2, -2).split(' | '));
}
