/**
 * The action's one step: runs the lock on each topology, in each image where some are named, and says what came of it the way GitHub hears it (annotations, outputs),
 * and as a badge. What is asked comes by the environment, never by a command line. Exit status: the worst of the runs'.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const OUT = 'lock-torture-runs';
const LONGEST_MESSAGE = 1_000;
/** From good to worst: held, cannot tell, could not run, violated. */
const ORDER = [0, 2, 3, 1];
const VERDICTS = { 0: 'held', 1: 'violated', 2: 'unknown', 3: 'unknown' };
/** `passed`: by what `fail-on` lets through, which is no green. */
const COLOURS = { held: 'brightgreen', passed: 'orange', violated: 'red', unknown: 'lightgrey' };

const { LOCK = '', TOPOLOGIES = 'single', IMAGES = '', MINUTES = '2', FAIL_ON = 'lock', FLAGS = '' } = process.env;

const topologies = named(TOPOLOGIES);
const images = named(IMAGES);
const minutes = Number(MINUTES);
if (topologies.length === 0) endWith('the input `topologies` names none');
if (!(minutes > 0 && minutes <= 300)) endWith(`the input \`minutes\` is "${MINUTES}": give a number up to 300`);
const wrong = images.find((image) => image.startsWith('-'));
if (wrong !== undefined) endWith(`the input \`images\` names "${wrong}", which is no image`);
// Without images `--runtime auto` decides what they run in.
const runs = topologies.flatMap((topology) =>
  images.length === 0 ? [{ topology }] : images.map((image) => ({ topology, image })),
);
const seconds = Math.max(5, Math.floor((minutes * 60) / runs.length));
const more = FLAGS.split('\n')
  .map((line) => line.trim())
  .filter(Boolean);

mkdirSync(OUT, { recursive: true });
const ended = [];
for (const { topology, image } of runs) {
  const where = image === undefined ? topology : `${topology}, ${image}`;
  const asked = [`--topology=${topology}`, `--fail-on=${FAIL_ON}`, `--time-limit=${seconds}s`, `--out=${OUT}`];
  const inImage = image === undefined ? [] : ['--runtime=docker', `--image=${image}`];
  const flags = [...asked, ...inImage, ...(LOCK === '' ? [] : [`--lock=${LOCK}`]), ...more];
  console.log(`::group::lock-torture on ${where}`);
  rmSync(join(OUT, 'latest'), { force: true });
  const run = await torture(flags);
  const status = statusOf(run.status);
  const results = status === 3 ? undefined : latest();
  console.log('::endgroup::');
  tell(where, status, results, run.complaint);
  ended.push({ status, tone: toneOf(status, results), words: fewWords(status, results) });
}
// Of those that passed one with what is allowed counts as worse, and then the weakest.
const rank = ({ status, tone, words }) =>
  ORDER.indexOf(status) * 4 + (tone === 'passed' ? 2 : 0) + (words.includes('weakly') ? 1 : 0);
const worst = ended.reduce((one, other) => (rank(other) > rank(one) ? other : one));
const verdict = VERDICTS[worst.status] ?? 'unknown';
const badge = join(OUT, 'badge.json');
writeFileSync(
  badge,
  `${JSON.stringify({ schemaVersion: 1, label: 'lock-torture', message: worst.words, color: COLOURS[worst.tone] })}\n`,
);
if (process.env.GITHUB_OUTPUT)
  appendFileSync(process.env.GITHUB_OUTPUT, `verdict=${verdict}\nwords=${worst.words}\nbadge=${resolve(badge)}\n`);
process.exitCode = worst.status;

function named(list) {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
}

/** Its exit status, and the last thing that it complained of, which is in the log as well. */
async function torture(flags) {
  const child = spawn(process.execPath, [program(), ...flags], { stdio: ['ignore', 'inherit', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    process.stderr.write(text);
    errors = (errors + text).slice(-LONGEST_MESSAGE);
  });
  const status = await new Promise((resolve) => child.once('close', resolve));
  return {
    status,
    complaint: `\n${errors}`
      .split(/\nlock-torture: /)
      .slice(1)
      .at(-1)
      ?.trim(),
  };
}

/** What is no verdict of a run that this one made is none: Node itself ends with 1 where a program throws. */
function statusOf(status) {
  if (status === 3 || !(status in VERDICTS)) return 3;
  return latest()?.exitStatus === status ? status : 3;
}

/** That of the project, else that of this checkout, which sets itself up. */
function program() {
  const own = resolve('node_modules/lock-torture/bin/torture.mjs');
  return existsSync(own) ? own : fileURLToPath(new URL('../../bin/torture.mjs', import.meta.url));
}

/** An annotation: at the line of the lock's file where what is told names one, else at its beginning. */
function tell(where, status, results, complaint) {
  // What is let through is a warning: the job is green, and nobody would look.
  if (toneOf(status, results) === 'held') return;
  const { words } = results ?? {};
  const inShort = words && [
    words.verdict,
    `Lock: ${words.lock}`,
    `Deployment: ${words.deployment}`,
    `Leases: ${words.leases}`,
  ];
  const headline = results?.headline ?? `it could not run: ${complaint ?? 'see the log'}`;
  const [worstOne] = results?.violations ?? [];
  const message = [
    ...(inShort ?? []),
    headline,
    worstOne?.cause?.sentence,
    results && `Repeat: ${results.reproduce}`,
  ].filter(Boolean);
  const level = status === 1 ? 'error' : 'warning';
  const properties = [
    `title=${property(`lock-torture on ${where}`)}`,
    ...place(JSON.stringify(results?.violations) ?? complaint),
  ];
  console.log(`::${level} ${properties.join(',')}::${escaped(message.join('\n').slice(0, LONGEST_MESSAGE))}`);
}

/** `passed`: nothing fails the run, but something was found. */
function toneOf(status, results) {
  const verdict = VERDICTS[status] ?? 'unknown';
  const found = Object.values(results?.found ?? {}).some((times) => times > 0);
  return verdict === 'held' && found ? 'passed' : verdict;
}

/** The verdict without its reasons, on one line; a version of the tool that has no words for it is told as far as it goes. */
function fewWords(status, results) {
  const told =
    results?.words?.verdict ??
    { held: 'held', passed: 'passed with findings', violated: 'violated' }[toneOf(status, results)];
  return (told ?? (status === 3 ? 'could not run' : 'cannot tell')).split('\n')[0].replace(/ \(.*$|;.*$/, '');
}

function latest() {
  try {
    return JSON.parse(readFileSync(join(OUT, 'latest', 'results.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

function place(told = '') {
  if (!/^[./].*\.[cm]?[jt]s$/.test(LOCK) || !existsSync(LOCK)) return [];
  const root = process.env.GITHUB_WORKSPACE ?? process.cwd();
  const file = relative(root, resolve(LOCK));
  const name = LOCK.split('/')
    .at(-1)
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const [, line = '1'] = new RegExp(`${name}:(\\d+)`).exec(told) ?? [];
  return [`file=${property(file)}`, `line=${line}`];
}

function endWith(problem) {
  console.log(`::error title=lock-torture::${escaped(problem)}`);
  process.exit(3);
}

/** As GitHub's workflow commands want it. */
function escaped(text) {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text) {
  return escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
