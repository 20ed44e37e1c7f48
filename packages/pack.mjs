/**
 * Makes the packages as they are published, in a folder that is made where it is missing: `node packages/pack.mjs FOLDER`.
 *
 * That of the tool gets what a clone cannot have: the platform packages as optional dependencies, of its own version. (In the
 * repository's own package.json they would have to be installed from a registry by everybody who clones it.) Prints the names
 * of the tarballs as JSON: the tool's first.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const PLATFORMS = ['linux-x64', 'linux-arm64'];

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write('where to? npm run packages -- FOLDER\n');
  process.exit(3);
}
const out = resolve(process.env.INIT_CWD ?? process.cwd(), folder);
mkdirSync(out, { recursive: true });
const stage = mkdtempSync(join(tmpdir(), 'lock-torture-pack-'));
// Where a release is made, it says of which repository: a registry compares that with the statement of where it was made.
const { GITHUB_REPOSITORY } = process.env;
const repository = GITHUB_REPOSITORY && { type: 'git', url: `git+https://github.com/${GITHUB_REPOSITORY}.git` };
try {
  const { version } = manifestOf(PROJECT);
  const platforms = PLATFORMS.map((platform) => join(PROJECT, 'packages', platform));
  const optionalDependencies = Object.fromEntries(platforms.map((one) => [nameOf(one, version), version]));
  const changes = [
    // Its scripts are a clone's; what it is tried with says which versions of lock libraries it knows.
    ({ scripts: _, ...own }) => ({ ...own, optionalDependencies }),
    ...platforms.map(() => (own) => own),
  ];
  const amended = pack([PROJECT, ...platforms], stage).map((tarball, n) => amend(tarball, n, changes[n]));
  const tarballs = pack(amended, out);
  process.stdout.write(`${JSON.stringify(tarballs)}\n`);
} finally {
  rmSync(stage, { recursive: true, force: true });
}

/** The folder of what was packed, with another package.json. */
function amend(tarball, n, change) {
  const place = join(stage, `of-${n}`);
  mkdirSync(place);
  execFileSync('tar', ['-xf', join(stage, tarball), '-C', place]);
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
