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
  const tarballs = [
    // Its scripts are a clone's; what it is tried with says which versions of lock libraries it knows.
    amended(PROJECT, ({ scripts: _, ...own }) => ({ ...own, optionalDependencies })),
    ...platforms.map((one) => amended(one, (own) => own)),
  ];
  process.stdout.write(`${JSON.stringify(tarballs)}\n`);
} finally {
  rmSync(stage, { recursive: true, force: true });
}

/** Packs a folder with another package.json than it has; the tarball's name. */
function amended(from, change) {
  const place = mkdtempSync(join(stage, 'of-'));
  execFileSync('tar', ['-xf', join(place, pack(from, place)), '-C', place]);
  const own = change(manifestOf(join(place, 'package')));
  const whole = { ...own, ...(repository && { repository }) };
  writeFileSync(join(place, 'package/package.json'), `${JSON.stringify(whole, null, 2)}\n`);
  return pack(join(place, 'package'), out);
}

function manifestOf(place) {
  return JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
}

/** The tarball's name, in `to`. Set-up is not npm's business here: `node bin/setup.mjs` has been run. */
function pack(from, to) {
  const said = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', to], {
    cwd: from,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return JSON.parse(said)[0].filename;
}

function nameOf(platform, version) {
  const read = manifestOf(platform);
  if (read.version !== version) throw new Error(`${read.name} is version ${read.version}, and the tool is ${version}`);
  return read.name;
}
