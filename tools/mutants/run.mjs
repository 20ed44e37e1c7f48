// node tools/mutants/run.mjs FOLDER|FILE... [--shard N/M] [--again]: which small changes of meaning in a folder's files no test notices.
// The tests are those of the unit layer in the folder that mirrors it (checkers/worth: test/unit/checkers/worth), or the nearest above.
//
// Stryker makes the changes (mutants), file by file. What a file came to is kept in baseline/, by the hash of the file and of its
// tests: a file that is unchanged is not tried again, so a run that was stopped goes on where it was. `--shard 2/7` takes every
// seventh file, from the second on; `--again` tries files that have not changed, too.
//
// Only a test that fails kills a mutant. One that ran into a time-out is told beside the survivors: a loop that never ends is often
// the mutant's, and may be a slow machine's. What ignored.json lists, each with its reason, is not told.
//
// Exit status 0: all mutants are killed, ignored, or were in the baseline; 1: others are alive; 3: it could not be tried. Of a file that
// has no baseline yet nothing is known that could have become worse: its survivors are told, and are its baseline from then on.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const TOOL = fileURLToPath(new URL('.', import.meta.url));
const PROJECT = join(TOOL, '..', '..');
const REPORT = join(TOOL, 'tmp', 'report.json');
/** Files that are tried by the tests of who calls them, which lie elsewhere: folders, or files. */
const CALLED_FROM = {
  'checkers/worth/doubts.ts': ['checkers/exclusion', 'checkers/liveness', 'checkers/harm'],
  'nemesis/levers/own-links.ts': 'nemesis/levers/own-network.test.ts',
  'nemesis/levers/own-network.ts': 'nemesis/levers/own-network.test.ts',
  'nemesis/levers/pressure.ts': 'nemesis/evict.test.ts',
  'checkers/linearizability/held.ts': 'checkers/exclusion',
  'checkers/linearizability/decide-held.ts': 'checkers/exclusion',
};
/** Stryker wants it. */
const NODE_MAJOR_MIN = 22;

process.chdir(PROJECT);
const { folders, shard, again } = asked();
install();
const node = nodeThatWillDo();
const files = folders.flatMap(sourcesIn).filter((_, n) => n % shard.of === shard.at - 1);
const alive = files.flatMap(triedAnew);
process.exitCode = alive.length > 0 ? 1 : 0;

function fail(text) {
  process.stderr.write(`lock-torture: ${text}\n`);
  process.exit(3);
}

function asked() {
  const usage = 'npm run test:mutants -- FOLDER|FILE... [--shard N/M] [--again]';
  try {
    const options = { shard: { type: 'string', default: '1/1' }, again: { type: 'boolean', default: false } };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [, at, of] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(values.shard) ?? [];
    if (at === undefined || Number(at) > Number(of)) throw new Error(`--shard ${values.shard} is not one like 2/7`);
    if (positionals.length === 0) throw new Error('no folder is given');
    const missing = positionals.find((one) => !existsSync(one));
    if (missing !== undefined) throw new Error(`there is no ${missing} in ${PROJECT}`);
    return { folders: positionals, shard: { at: Number(at), of: Number(of) }, again: values.again };
  } catch (error) {
    return fail(`${error.message.split('\n')[0]}: ${usage}`);
  }
}

function install() {
  const [wanted, has] = ['package-lock.json', 'node_modules/.package-lock.json'].map((path) => join(TOOL, path));
  if (existsSync(has) && hashOf([wanted]) === read(join(TOOL, 'node_modules/.stamp'))) return;
  const argv = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const { status } = spawnSync('npm', argv, { cwd: TOOL, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) fail(`npm ci failed in ${TOOL}`);
  writeFileSync(join(TOOL, 'node_modules/.stamp'), hashOf([wanted]));
}

/** This one, or the one that was installed for it. */
function nodeThatWillDo() {
  if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN) return process.execPath;
  const path = join(TOOL, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');
  return existsSync(path) ? path : fail(`Node.js ${NODE_MAJOR_MIN} or newer is needed, and none came with the tool`);
}

function sourcesIn(folder) {
  if (folder.endsWith('.ts')) return [folder];
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.ts'));
  return names.map((name) => join(folder, name)).sort();
}

/** The folder of tests that mirrors the file's own, or the nearest above it, and that of its callers. */
function testsOf(file) {
  let folder = dirname(file);
  while (!existsSync(join('test/unit', folder))) folder = dirname(folder);
  return [folder, CALLED_FROM[file] ?? []].flat().map((one) => join('test/unit', one));
}

/** What is alive of a file's mutants that was not before; nothing where it is as it was when it was tried last. */
function triedAnew(file) {
  const kept = join(TOOL, 'baseline', `${file}.json`);
  const before = JSON.parse(read(kept) ?? '{}');
  const stamp = hashOf([file, ...testsOf(file).flatMap(sourcesIn)]);
  if (before.stamp === stamp && !again) {
    process.stdout.write(`${file}: unchanged since it was tried\n`);
    return [];
  }
  const mutants = mutantsOf(file);
  const ignored = new Set(JSON.parse(read(join(TOOL, 'ignored.json'))).map(nameOf));
  const counts = {};
  const left = [];
  for (const { status, ...mutant } of mutants) {
    const as = ignored.has(nameOf(mutant)) ? 'Ignored' : status;
    counts[as] = (counts[as] ?? 0) + 1;
    if (as !== 'Killed' && as !== 'Ignored') left.push({ status, ...mutant });
  }
  const known = new Set((before.alive ?? []).map(nameOf));
  const others = left.filter((mutant) => !known.has(nameOf(mutant)));
  mkdirSync(dirname(kept), { recursive: true });
  // All or nothing: a run that is killed meanwhile leaves what was there.
  writeFileSync(`${kept}.new`, `${JSON.stringify({ stamp, counts, alive: left }, null, 2)}\n`);
  renameSync(`${kept}.new`, kept);
  const first = before.stamp === undefined ? ', for the first time' : '';
  process.stdout.write(
    `${file}${first}: ${Object.entries(counts)
      .map(([as, count]) => `${count} ${as}`)
      .join(', ')}\n`,
  );
  for (const { status, line, was, becomes } of others)
    process.stdout.write(`  ${status} ${line}: ${was} → ${becomes}\n`);
  return before.stamp === undefined ? [] : others;
}

/** Where it stands in a file is left out: it moves with every line above it. */
function nameOf({ file, within, was, becomes }) {
  return JSON.stringify([file, within, was, becomes]);
}

function mutantsOf(file) {
  rmSync(REPORT, { force: true });
  const stryker = join(TOOL, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  const { status } = spawnSync(node, [stryker, 'run', join(TOOL, 'stryker.config.json'), '--mutate', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, MUTANTS_TESTS: testsOf(file).join(',') },
  });
  const report = read(REPORT);
  if (status !== 0 || report === undefined) fail(`Stryker failed for ${file} (exit status ${status})`);
  return Object.entries(JSON.parse(report).files).flatMap(([, { source, mutants }]) => {
    const lines = source.split('\n');
    return mutants.map(({ status: came, location: { start, end }, replacement }) => ({
      status: came,
      file,
      line: start.line,
      within: lines[start.line - 1].trim(),
      was: piece(lines, start, end),
      becomes: replacement,
    }));
  });
}

/** Lines and columns count from 1. */
function piece(lines, start, end) {
  const [first, ...rest] = lines.slice(start.line - 1, end.line);
  const whole = [first.slice(start.column - 1), ...rest];
  const cut = end.line === start.line ? end.column - start.column : end.column - 1;
  return [...whole.slice(0, -1), whole.at(-1).slice(0, cut)]
    .map((one) => one.trim())
    .join(' ')
    .slice(0, 200);
}

function hashOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(`${path}\0`).update(readFileSync(path));
  return hash.digest('hex');
}

function read(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
