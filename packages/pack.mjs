/**
 * Packs the tool and its parts in C: `node packages/pack.mjs [FOLDER] [--all] [--json]`. FOLDER (`packed` unless given) is made
 * where it is missing, and has no tarballs of an earlier time afterwards: `npm i -D FOLDER/*.tgz` installs what was packed last.
 *
 * Unless `--all` is given the tarballs are for a project on this machine: the tool, and the parts of this platform. The tool
 * names no other package of ours then, for in a registry there may be none, or another's. Prints the line that installs them.
 *
 * With `--all` they are what is published: the parts of every platform, which the tool has as optional dependencies of its own
 * version. (In the repository's own package.json they would have to be installed from a registry by everybody who clones it.)
 *
 * With `--json` it prints the names of the tarballs instead: the tool's first. Wrong arguments are one line and exit status 3.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ADD, SOURCE } from '../dist/cli/common/package-source.js';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const PLATFORMS = ['linux-x64', 'linux-arm64'];
const HERE = `${process.platform}-${process.arch}`;

const { folder, all, json } = asked();
const out = resolve(process.env.INIT_CWD ?? process.cwd(), folder);
mkdirSync(out, { recursive: true });
const stage = mkdtempSync(join(tmpdir(), 'lock-torture-pack-'));
// Where a release is made, it says of which repository: a registry compares that with the statement of where it was made.
const { GITHUB_REPOSITORY } = process.env;
const repository = GITHUB_REPOSITORY && { type: 'git', url: `git+https://github.com/${GITHUB_REPOSITORY}.git` };
try {
  const { version } = manifestOf(PROJECT);
  const platforms = PLATFORMS.filter((one) => all || one === HERE).map((one) => join(PROJECT, 'packages', one));
  const parts = Object.fromEntries(platforms.map((one) => [nameOf(one, version), version]));
  const changes = [
    // Its scripts are a clone's; what it is tried with says which versions of lock libraries it knows.
    ({ scripts: _, ...own }) => ({ ...own, ...(all && { optionalDependencies: parts }) }),
    ...platforms.map(() => (own) => own),
  ];
  const amended = pack([PROJECT, ...platforms], stage).map((tarball, n) => amend(tarball, n, changes[n]));
  for (const name of readdirSync(out)) if (/^lock-torture-(linux-\w+-)?\d.*\.tgz$/.test(name)) rmSync(join(out, name));
  const tarballs = pack(amended, out);
  process.stdout.write(json ? `${JSON.stringify(tarballs)}\n` : installing(tarballs));
} finally {
  rmSync(stage, { recursive: true, force: true });
}

function asked() {
  try {
    const options = { all: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (positionals.length > 1) throw new Error(`one folder, not ${positionals.length}`);
    return { ...values, folder: positionals[0] ?? SOURCE.folder ?? 'packed' };
  } catch (error) {
    process.stderr.write(
      `lock-torture: ${error.message.split('\n')[0]}: npm run packages -- [FOLDER] [--all] [--json]\n`,
    );
    process.exit(3);
  }
}

/** The files with their sizes, and what is typed in a project to install them. */
function installing(tarballs) {
  const sizes = tarballs.map((name) => `  ${name}, ${Math.ceil(statSync(join(out, name)).size / 1_000)} kB\n`);
  if (all) return `Packed in ${out}, as they are published:\n${sizes.join('')}`;
  const files = tarballs.map((name) => shellWord(join(out, name))).join(' ');
  const lacking = tarballs.length === 1 ? `There are no compiled parts in C for ${HERE}.\n` : '';
  return `Packed in ${out}, for ${HERE}:\n${sizes.join('')}${lacking}\nIn your project (${ADD.pnpm} and ${ADD.yarn} take the same files):\n\n  ${ADD.npm} ${files}\n`;
}

function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The folder of what was packed, with another package.json. */
function amend(tarball, n, change) {
  const place = join(stage, `of-${n}`);
  mkdirSync(place);
  execFileSync('tar', ['-xf', join(stage, tarball), '-C', place]);
  // The parts in C are packages of their own here. The tool has them in itself where npm packs a dependency that comes from git.
  rmSync(join(place, 'package/packages'), { recursive: true, force: true });
  const own = change(manifestOf(join(place, 'package')));
  const whole = { ...own, ...(repository && { repository }) };
  writeFileSync(join(place, 'package/package.json'), `${JSON.stringify(whole, null, 2)}\n`);
  return join(place, 'package');
}

function manifestOf(place) {
  return JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
}

/** The tarballs' names, in `to`. Set-up is not npm's business here: `node bin/setup.mjs` has been run. */
function pack(folders, to) {
  // One process for all of them: to start npm takes longer than to pack.
  const said = execFileSync('npm', ['pack', ...folders, '--ignore-scripts', '--json', '--pack-destination', to], {
    cwd: stage,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return JSON.parse(said).map(({ filename }) => filename);
}

function nameOf(platform, version) {
  const read = manifestOf(platform);
  if (read.version !== version) throw new Error(`${read.name} is version ${read.version}, and the tool is ${version}`);
  return read.name;
}
