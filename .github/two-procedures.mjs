// two-procedures.mjs FOLDER: whether the two procedures that decide exclusion say the same of every key of every run below FOLDER.
// Prints a line of Markdown, also to the file that GITHUB_STEP_SUMMARY names. Ends with status 1 where they disagree, and where no key was
// decided by both.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: two-procedures.mjs FOLDER');

const runs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('/results.json') && !path.startsWith('latest/'))
  .sort()
  .map((path) => ({ path, ...JSON.parse(readFileSync(join(folder, path), 'utf8')) }));
const decided = runs.flatMap(({ path, checkers }) =>
  checkers.flatMap(({ second }) => (second ? [{ path, ...second }] : [])),
);
const agreed = decided.reduce((sum, one) => sum + one.agreed, 0);
const open = decided.reduce((sum, one) => sum + one.open.length, 0);
const disagreed = decided.flatMap(({ path, disagreed }) => disagreed.map((one) => `- ${path}: ${one}`));

const text = [
  `Two procedures, ${runs.length} runs: ${agreed} keys decided alike, ${open} by one only, ${disagreed.length} disagreements.`,
  ...disagreed,
  '',
].join('\n');
if (process.env.GITHUB_STEP_SUMMARY) appendFileSync(process.env.GITHUB_STEP_SUMMARY, text);
process.stdout.write(text);
process.exitCode = agreed === 0 || disagreed.length > 0 ? 1 : 0;
