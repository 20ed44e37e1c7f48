// nightly-summary.mjs FOLDER: what a night came to, over all of its jobs. Writes it to the file that GITHUB_STEP_SUMMARY names,
// and keeps one issue: a night that was not green opens it or adds to it, a green one closes it.
//
// FOLDER has the artifacts of the runs, with their row.md and issue.md. NEEDS is GitHub's `toJSON(needs)`, by job. The issue is
// written with `gh`, of the night's run URL; without GH_TOKEN none is. Ends with status 1 unless every job succeeded.
import { execFileSync } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TITLE = 'The nightly workflow is not green';
/** GitHub takes no longer body. */
const CHARACTERS_MAX = 60_000;

const [folder = 'nightly'] = process.argv.slice(2);
const { NEEDS = '{}', RUN_URL = '', GITHUB_STEP_SUMMARY, GH_TOKEN } = process.env;

const jobs = Object.entries(JSON.parse(NEEDS)).map(([name, { result }]) => ({ name, result }));
if (jobs.length === 0) throw new Error('NEEDS names no job');
const failed = jobs.filter(({ result }) => result !== 'success');
const text = summary();
if (GITHUB_STEP_SUMMARY) appendFileSync(GITHUB_STEP_SUMMARY, text);
process.stdout.write(text);
if (GH_TOKEN) keepIssue();
process.exitCode = failed.length > 0 ? 1 : 0;

function summary() {
  return [
    `# ${failed.length === 0 ? 'All jobs succeeded' : `Not green: ${failed.map(({ name }) => name).join(', ')}`}`,
    '',
    '| job | result |',
    '| --- | --- |',
    ...jobs.map(({ name, result }) => `| ${name} | ${result} |`),
    '',
    '## Torture',
    '',
    '| topology | image | server | exit | verdict |',
    '| --- | --- | --- | --- | --- |',
    ...told('row.md'),
    ...told('issue.md'),
    '',
  ].join('\n');
}

/** The files of that name below the folder, in the order of their folders; none where no artifact was made. */
function told(name) {
  const found = (at) =>
    readdirSync(at, { withFileTypes: true }).flatMap((entry) => {
      const path = join(at, entry.name);
      return entry.isDirectory() ? found(path) : entry.name === name ? [path] : [];
    });
  try {
    return found(folder)
      .sort()
      .map((path) => readFileSync(path, 'utf8').trimEnd());
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

function keepIssue() {
  const open = JSON.parse(gh('issue', 'list', '--state', 'open', '--json', 'number,title', '--limit', '1000'));
  const number = open.find(({ title }) => title === TITLE)?.number;
  const body = `${RUN_URL}\n\n${text}`.slice(0, CHARACTERS_MAX);
  if (failed.length > 0 && number === undefined) gh('issue', 'create', '--title', TITLE, '--body', body);
  else if (failed.length > 0) gh('issue', 'comment', String(number), '--body', body);
  else if (number !== undefined) gh('issue', 'close', String(number), '--comment', `All jobs succeeded: ${RUN_URL}`);
}

function gh(...args) {
  return execFileSync('gh', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
