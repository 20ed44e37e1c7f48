#!/usr/bin/env node
/**
 * Plays somebody who has just found the project, and says how long each step took:
 *
 *     node newcomer.mjs --from REPOSITORY --in FOLDER [--part readme|project|docker]... [--slow] [--keep-going] [--image IMAGE]
 *
 * - `readme`: clones REPOSITORY (whatever `git clone` takes) into FOLDER, which must be empty or absent, and runs each command
 *   of the clone's README in its order, in one shell session's folder. The lock that the README shows is saved where it says.
 *   `--slow` runs those commands as well that take more than two minutes; without it they are named as not run.
 * - `project`: in another, empty folder it types the install line that `npm run packages` printed, saves that lock, runs it, mends
 *   it with the lock of docs/write-your-own-lock.md, and runs it again.
 * - `docker`: types the README's first two commands into the `docker run` that it names for macOS, with `--image` in place of its
 *   image where that is given. Only `-t` is left out, because nobody sits at a terminal; REPOSITORY, where it is a folder, is mounted.
 *
 * Not given, the first two parts are played. Exits with 0 if each step ended as the README promises, and with 1 otherwise. The last line is
 * JSON: `{ steps: [{ part, command, seconds, status, verdict, wrong }], notRun }`.
 *
 * Plain JavaScript without packages: a container that has nothing but Node.js, npm and git runs it, too.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ADDRESS, commandsOf, dockerCommandOf, lockOf } from './readme-commands.mjs';

const VERDICT = /^(HELD|VIOLATED|PASSED|CANNOT TELL|UNKNOWN)\b.*$/m;
/** For what hangs: a busy machine takes many times longer than a quiet one. */
const WITHIN_MS = 15 * 60_000;
const SLOW_WITHIN_MS = 120 * 60_000;

/**
 * What a command of the README must come to. `says`: in its output. `own`: what results.json must say of the lock's own mistakes.
 * `slow`: takes more than two minutes. A command that is in no entry is wrong: the README promises nothing that is not held.
 */
const PROMISES = [
  { command: /^git clone /, status: 0 },
  {
    command: /^npm run torture -- --topology sentinel$/,
    status: 1,
    // A busy machine may leave one overlap unexplained beside what the failovers lost: then the first words are those of that.
    says: /^VIOLATED: not safe on sentinel|^VIOLATED, cause unknown[\s\S]*?^ {2}Deployment: Redis lost \d+ grant/m,
    own: ['none', 'unknown'],
  },
  { command: /^npm run torture -- --lock \.\/my-lock\.ts$/, status: 1, says: /^VIOLATED by the lock/m, own: ['found'] },
  { command: /^npm run packages$/, status: 0, says: /^\s*npm i(nstall)? .*\.tgz/m },
  { command: /^npm run torture -- campaign --for \S+ /, status: 1, says: /my-lock/, slow: true },
  { command: /^npm run torture -- selftest --quick$/, status: 0, slow: true },
  { command: /^npm test$/, status: 0, slow: true },
];

/** Thrown after the first step that was wrong: the later ones build on it. */
class Stopped extends Error {}

const { values } = parseArgs({
  options: {
    from: { type: 'string' },
    in: { type: 'string' },
    part: { type: 'string', multiple: true, default: ['readme', 'project'] },
    slow: { type: 'boolean', default: false },
    'keep-going': { type: 'boolean', default: false },
    image: { type: 'string' },
  },
});
if (values.from === undefined || values.in === undefined) {
  process.stderr.write(
    'newcomer.mjs --from REPOSITORY --in FOLDER [--part readme|project]... [--slow] [--keep-going]\n',
  );
  process.exit(2);
}
const folder = resolve(values.in);
mkdirSync(folder, { recursive: true });
if (values.part.includes('readme') && readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
/** Of this program. What is cloned may belong to another user, which git refuses by itself. */
const own = join(folder, '.newcomer');
mkdirSync(own, { recursive: true });
writeFileSync(join(own, 'gitconfig'), '[safe]\n\tdirectory = *\n');

const steps = [];
const notRun = [];
/** Where the clone is once it has been made. */
let clone = join(folder, 'lock-torture');
let installLine;

try {
  if (values.part.includes('readme')) await playReadme();
  if (values.part.includes('project')) await playProject();
  if (values.part.includes('docker')) await playDocker();
} catch (error) {
  if (!(error instanceof Stopped)) throw error;
}
const wrong = steps.filter((step) => step.wrong !== undefined);
for (const { command, why } of notRun) print(`not run: ${command} (${why})`);
print(`${steps.length} steps, ${wrong.length} of them wrong; ${notRun.length} commands not run`);
print(JSON.stringify({ steps, notRun }));
process.exitCode = wrong.length === 0 && steps.length > 0 ? 0 : 1;

async function playReadme() {
  let at = folder;
  // The first command makes the clone, whose README has the others: what is cloned is what is held.
  let left = [{ command: `git clone ${ADDRESS} lock-torture && cd lock-torture` }];
  let isFirst = true;
  while (left.length > 0) {
    const { command } = left.shift();
    const promise = PROMISES.find((one) => one.command.test(command));
    if (promise === undefined) {
      note({ part: 'readme', command, seconds: 0, wrong: 'newcomer.mjs does not know what it must come to' });
      continue;
    }
    if (promise.slow && !values.slow) {
      notRun.push({ command, why: 'slow' });
      continue;
    }
    const step = await carryOut('readme', command, promise, at);
    at = step.at;
    if (isFirst) {
      isFirst = false;
      clone = at;
      const readme = readFileSync(join(clone, 'README.md'), 'utf8');
      const [first, ...others] = commandsOf(readme);
      if (first?.command !== command)
        note({ part: 'readme', command, seconds: 0, wrong: `the README begins with ${first?.command}` });
      left = others;
      writeFileSync(join(clone, 'my-lock.ts'), lockOf(readme));
    }
    installLine ??= /^\s*(npm i(?:nstall)? .*\.tgz.*)$/m.exec(step.output)?.[1];
  }
}

async function playProject() {
  if (installLine === undefined) {
    const packed = await carryOut(
      'project',
      'npm run packages',
      { status: 0, says: /^\s*npm i(nstall)? .*\.tgz/m },
      clone,
    );
    installLine = /^\s*(npm i(?:nstall)? .*\.tgz.*)$/m.exec(packed.output)?.[1];
    if (installLine === undefined) return;
  }
  const project = join(folder, 'project');
  mkdirSync(project);
  await carryOut('project', installLine, { status: 0 }, project);
  const file = join(project, 'my-lock.ts');
  const run = 'npx lock-torture --lock ./my-lock.ts';
  writeFileSync(file, lockOf(readFileSync(join(clone, 'README.md'), 'utf8')));
  await carryOut('project', run, { status: 1, says: /^VIOLATED by the lock/m, own: ['found'] }, project);
  const [, mended] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(clone, 'docs/write-your-own-lock.md'), 'utf8'));
  writeFileSync(file, mended);
  // Its deployment may still have lost a grant, which is another status; the lock itself is accused no more.
  await carryOut('project', run, { status: [0, 1, 2], own: ['none', 'unknown'] }, project);
}

async function playDocker() {
  // That of the tests: there may be no clone yet.
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const words = dockerCommandOf(readme).map((word) => (word === '-it' ? '-i' : word));
  const at = words.findIndex((word) => word.startsWith('node:'));
  if (at < 0) throw new Error('the docker command of README.md names no image of Node.js');
  const isFolder = existsSync(values.from);
  const inside = isFolder ? '/repository' : values.from;
  const mounts = isFolder ? ['--volume', `${resolve(values.from)}:${inside}:ro`] : [];
  // What is mounted may belong to another user, which git refuses by itself.
  const trusted = ['--volume', `${join(own, 'gitconfig')}:/etc/gitconfig:ro`];
  const argv = [...words.slice(0, at), ...mounts, ...trusted, values.image ?? words[at], ...words.slice(at + 1)];
  const commands = commandsOf(readme).slice(0, 2);
  const typedThere = commands.map(({ command }) => command.replaceAll(ADDRESS, inside)).join('\n');
  const promise = PROMISES.find(({ command }) => command.test(commands[1].command));
  await carryOut('docker', `${argv.join(' ')} <<'TYPED'\n${typedThere}\nTYPED`, { ...promise, own: undefined }, folder);
}

async function carryOut(part, command, promise, at) {
  const beganMs = performance.now();
  const {
    status,
    output,
    at: then,
  } = await typed(command.replaceAll(ADDRESS, values.from), at, promise.slow ? SLOW_WITHIN_MS : WITHIN_MS);
  const seconds = Math.round((performance.now() - beganMs) / 100) / 10;
  const results = resultsAt(then);
  const complaints = [
    ...([promise.status].flat().includes(status)
      ? []
      : [`it ended with ${status}, and ${[promise.status].flat().join(' or ')} was promised`]),
    ...(promise.says && !promise.says.test(output) ? [`it does not say ${promise.says}`] : []),
    ...(promise.own && !promise.own.includes(results?.ownMistakes)
      ? [
          `results.json says of the lock's own mistakes "${results?.ownMistakes}", and ${promise.own.join(' or ')} was promised`,
        ]
      : []),
  ];
  const [verdict] = VERDICT.exec(output) ?? [];
  note(
    {
      part,
      command,
      seconds,
      status,
      ...(verdict && { verdict }),
      ...(complaints.length > 0 && { wrong: complaints.join('; ') }),
    },
    output,
  );
  return { at: then, output };
}

/** Runs a line in a shell, as somebody who types it; `at` is the folder in which the shell is afterwards. */
async function typed(line, at, withinMs) {
  const stays = join(own, 'at');
  const script = `${line}\nstatus=$?\npwd > "$NEWCOMER_AT"\nexit $status\n`;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD$)/i.test(name)));
  const child = spawn('sh', ['-c', script], {
    cwd: at,
    env: {
      ...env,
      ...{ NO_COLOR: '1', NEWCOMER_AT: stays, GIT_CONFIG_GLOBAL: join(own, 'gitconfig') },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const timer = setTimeout(() => {
    output += `\nit did not end within ${withinMs / 1_000} s`;
    process.kill(-child.pid, 'SIGKILL');
  }, withinMs);
  const status = await new Promise((done, fail) => child.once('close', done).once('error', fail));
  clearTimeout(timer);
  return { status, output, at: existsSync(stays) ? readFileSync(stays, 'utf8').trim() : at };
}

/** Of the last run below a folder, as long as it has one. */
function resultsAt(at) {
  const file = join(at, 'runs/latest/results.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

function note(step, output = '') {
  steps.push(step);
  const { seconds, status, command, verdict, wrong } = step;
  print(
    `${seconds.toFixed(1).padStart(7)} s  exit ${status ?? '-'}  ${command}${verdict ? `\n             ${verdict}` : ''}`,
  );
  if (wrong === undefined) return;
  print(`${output.split('\n').slice(-60).join('\n')}\nWRONG: ${command}: ${wrong}`);
  if (!values['keep-going']) throw new Stopped();
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
