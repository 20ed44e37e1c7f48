/**
 * Shows that `npm test` fails when a main capability is broken: applies each break by itself to a copy of the project and
 * runs the part of the tests that must find it. Exit status 1 if one is not found.
 *
 * Arguments, if any, choose breaks by a part of their names.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { BREAKS, type Break } from './breaks.js';

/** npm starts scripts there. */
const ROOT = process.cwd();
const NOT_COPIED = ['.git', 'node_modules', 'dist', 'dist.new', 'dist.old', 'runs'];

type Outcome = 'caught' | 'NOT CAUGHT' | 'CANNOT BE APPLIED' | 'TESTS DID NOT RUN' | 'RED WITHOUT IT';

interface Tried {
  outcome: Outcome;
  /** The tests that failed, or why there is no answer. */
  said: string[];
}

const folder = mkdtempSync(join(tmpdir(), 'lock-torture-breaks-'));
try {
  cpSync(ROOT, folder, { recursive: true, filter: (path) => !NOT_COPIED.includes(relative(ROOT, path)) });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const wanted = process.argv.slice(2);
  const chosen = BREAKS.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
  const outcomes = chosen.map((one) => {
    const { outcome, said } = tried(one);
    console.log(`${outcome}: ${one.name} (${one.caughtBy.project}: ${one.caughtBy.tests.join(', ')})`);
    for (const line of said.slice(0, 3)) console.log(`    ${line}`);
    return outcome;
  });
  const caught = outcomes.filter((outcome) => outcome === 'caught').length;
  console.log(`${caught} of ${chosen.length} breaks are caught`);
  process.exitCode = caught === chosen.length && caught > 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function tried({ file, from, to, caughtBy }: Break): Tried {
  const path = join(folder, file);
  const sound = readFileSync(path, 'utf8');
  const times = sound.split(from).length - 1;
  if (times !== 1)
    return { outcome: 'CANNOT BE APPLIED', said: [`${file} has what it replaces ${times} times, not once`] };
  // Tests that fail anyway show nothing.
  const before = testsFail(caughtBy);
  if (before.outcome === 'caught') return { outcome: 'RED WITHOUT IT', said: before.said };
  if (before.outcome !== 'NOT CAUGHT') return before;
  writeFileSync(
    path,
    sound.replace(from, () => to),
  );
  try {
    return testsFail(caughtBy);
  } finally {
    writeFileSync(path, sound);
  }
}

/** Tests that fail say so; what ends without a failed test was not caught by one. */
function testsFail({ project, tests }: Break['caughtBy']): Tried {
  const report = join(folder, 'tests.json');
  rmSync(report, { force: true });
  // Programs are run from dist/, which must compile: a break that only the compiler finds shows nothing of the tests.
  const steps = [
    ...(project === 'unit' ? [] : [[process.execPath, 'bin/setup.mjs']]),
    ['node_modules/.bin/vitest', 'run', '--project', project, '--reporter=json', `--outputFile=${report}`, ...tests],
  ];
  let output = '';
  for (const [command, ...args] of steps) {
    const { status, stdout, stderr } = spawnSync(command!, args, { cwd: folder, encoding: 'utf8' });
    output = `${stdout}${stderr}`;
    if (status !== 0) break;
  }
  const results = read(report);
  if (results === undefined) return { outcome: 'TESTS DID NOT RUN', said: output.trim().split('\n').slice(-3) };
  const failed = results.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed')
    .map(({ fullName }) => fullName);
  if (failed.length > 0) return { outcome: 'caught', said: failed };
  return results.numPassedTests > 0
    ? { outcome: 'NOT CAUGHT', said: [] }
    : { outcome: 'TESTS DID NOT RUN', said: output.trim().split('\n').slice(-3) };
}

interface Results {
  numPassedTests: number;
  testResults: { assertionResults: { status: string; fullName: string }[] }[];
}

function read(file: string): Results | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
