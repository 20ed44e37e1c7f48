/**
 * Makes the packages as they are published, in a folder that is there: `node packages/pack.mjs FOLDER`.
 *
 * That of the tool gets what a clone cannot have: the platform packages as optional dependencies, of its own version. (In the
 * repository's own package.json they would have to be installed from a registry by everybody who clones it.) Prints the names
 * of the tarballs as JSON: the tool's first.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const PLATFORMS = ['linux-x64', 'linux-arm64'];

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('where to? node packages/pack.mjs FOLDER');
const out = resolve(process.env.INIT_CWD ?? process.cwd(), folder);
const stage = mkdtempSync(join(tmpdir(), 'lock-torture-pack-'));
try {
  const platforms = PLATFORMS.map((platform) => join(PROJECT, 'packages', platform));
  execFileSync('tar', ['-xf', join(stage, pack(PROJECT, stage)), '-C', stage]);
  const path = join(stage, 'package', 'package.json');
  // Its scripts are a clone's; what it is tried with says which versions of lock libraries it knows.
  const { scripts: _, ...own } = JSON.parse(readFileSync(path, 'utf8'));
  const optionalDependencies = Object.fromEntries(platforms.map((one) => [nameOf(one, own.version), own.version]));
  writeFileSync(path, `${JSON.stringify({ ...own, optionalDependencies }, null, 2)}\n`);
  const tarballs = [join(stage, 'package'), ...platforms].map((one) => pack(one, out));
  process.stdout.write(`${JSON.stringify(tarballs)}\n`);
} finally {
  rmSync(stage, { recursive: true, force: true });
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
  const read = JSON.parse(readFileSync(join(platform, 'package.json'), 'utf8'));
  if (read.version !== version) throw new Error(`${read.name} is version ${read.version}, and the tool is ${version}`);
  return read.name;
}
