/**
 * The tool's own image (`docker/Dockerfile`): the compiled project with the packages that it needs, and a Redis. Made by the
 * engine's own program, so that nothing need be installed for it; its tag is a hash of what goes into it.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { findOnPath, runProgram } from '../../harness/machine/command.js';
import { temporaryFolder } from '../../harness/machine/private-folder.js';
import { PROJECT } from '../../harness/machine/project-files.js';
import { UsageError } from '../common/errors.js';
import type { Say } from '../common/say.js';

/** What the image is made of unless `--client-image` says otherwise: Debian 12, whose Redis is 7.0. */
export const TOOL_BASE = 'node:24-bookworm-slim';
/** Where it has what the project puts into it. */
export const IN_IMAGE = { project: '/opt/lock-torture/project', node: '/opt/lock-torture/node' } as const;

const NAME = 'lock-torture/tool';
const BUILD_TIMEOUT_MS = 600_000;
const DOCKERFILE = 'docker/Dockerfile';
/** Of the project, beside its packages. */
const PARTS = ['package.json', 'LICENSE', 'bin', 'dist', 'docs', 'harness/native', 'docker/native-packages.mjs'];
/** All that the image is made of has to be in the package: an installed tool makes it, too. */
export const MADE_OF: readonly string[] = [DOCKERFILE, ...PARTS];

export interface ContainerEngine {
  /** The program that talks to it, as argv. */
  command: string;
  version: string;
  /** Whether its root is the user's own account. */
  rootless: boolean;
}

/** The engine that this machine's `docker` (or `podman`) talks to. Throws one line with the remedy. */
export async function findContainerEngine(): Promise<ContainerEngine> {
  const command = ['docker', 'podman'].find((one) => findOnPath(one));
  if (command === undefined)
    throw new UsageError(
      '--runtime container needs the program docker (or podman), and there is none: install Docker Desktop or Docker Engine',
    );
  const asked = await runProgram([command, 'version', '--format', '{{.Server.Version}} {{.Server.Os}}']);
  const [version = '', os] = asked.stdout.trim().split(' ');
  if (asked.exitCode !== 0)
    throw new UsageError(
      `--runtime container: no container engine answers (${command}: ${lastLine(asked.stderr)}): start it`,
    );
  if (os !== undefined && !os.startsWith('linux'))
    throw new UsageError(`--runtime container: the engine runs ${os} containers, and Linux ones are needed`);
  const { stdout } = await runProgram([command, 'info', '--format', '{{json .}}']);
  return { command, version, rootless: /"name=rootless"|"rootless": ?true/.test(stdout) };
}

/** The image's name, built where it is not there. Throws one line with the remedy. */
export async function provideToolImage({ command }: ContainerEngine, base: string, say: Say): Promise<string> {
  const files = [...PARTS.flatMap((part) => filesOf(join(PROJECT, part))), ...packages()].filter(isWanted);
  const hash = createHash('sha256').update(`${base}\0${readFileSync(join(PROJECT, DOCKERFILE), 'utf8')}\0`);
  for (const { from, to } of files) {
    const { size, mtimeMs } = statSync(from);
    hash.update(`${to}\0${size}\0${mtimeMs}\0`);
  }
  const image = `${NAME}:${hash.digest('hex').slice(0, 16)}`;
  if ((await runProgram([command, 'image', 'inspect', image])).exitCode === 0) return image;
  say(`building ${image} from ${base} (first run with it)…`);
  using context = temporaryFolder();
  for (const { from, to } of files) {
    const target = join(context.path, 'project', to);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(from, target);
  }
  const argv = [command, 'build', '--quiet', '--label', `lock-torture.image=${image}`, '--build-arg', `BASE=${base}`];
  const built = await runProgram([...argv, '-t', image, '-f', join(PROJECT, DOCKERFILE), context.path], {
    timeoutMs: BUILD_TIMEOUT_MS,
    env: { DOCKER_BUILDKIT: process.env.DOCKER_BUILDKIT ?? '' },
  });
  if (built.exitCode === 0) return image;
  throw new UsageError(
    `--runtime container: ${image} cannot be built from ${base} (${lastLine(`${built.stdout}\n${built.stderr}`)}): it must be an image of Debian or Ubuntu with Node.js; --client-image names another`,
  );
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() || 'it said nothing';
}

interface ContextFile {
  from: string;
  /** Below `project/`. */
  to: string;
}

/** What only debuggers and compilers read stays outside. */
function isWanted({ to }: ContextFile): boolean {
  return !/\.(d\.[cm]?ts|map)$/.test(to);
}

function filesOf(path: string, to = relative(PROJECT, path)): ContextFile[] {
  if (statSync(path).isFile()) return [{ from: path, to }];
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules' && name !== '.stamp')
    .flatMap(({ name }) => filesOf(join(path, name), join(to, name)));
}

/** The packages that the project needs to run, each where Node will find it, wherever the one who installed it put it. */
function packages(): ContextFile[] {
  const files: ContextFile[] = [];
  /** By where it goes. */
  const placed = new Map<string, string>();
  const place = (folder: string, at: string) => {
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    ) as { dependencies?: object; optionalDependencies?: object };
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const found = packageFolder(name, folder);
      // One of another platform, say.
      if (found === undefined) continue;
      const top = join('node_modules', name);
      const there = placed.get(top);
      if (there === found) continue;
      const to = there === undefined ? top : join(at, 'node_modules', name);
      if (placed.get(to) === found) continue;
      placed.set(to, found);
      files.push(...filesOf(found, to));
      place(found, to);
    }
  };
  place(PROJECT, '');
  // A clone, and what was installed from git, has its parts in C in itself, where others have a package of them.
  const parts = `linux-${process.arch}`;
  if (existsSync(join(PROJECT, 'packages', parts)))
    files.push(...filesOf(join(PROJECT, 'packages', parts), join('node_modules/@lock-torture', parts)));
  return files;
}

/** As Node looks for it from `folder` on. */
function packageFolder(name: string, folder: string): string | undefined {
  for (let at = realpathSync(folder); ; at = dirname(at)) {
    const path = join(at, 'node_modules', name);
    if (existsSync(join(path, 'package.json'))) return realpathSync(path);
    if (at === dirname(at)) return undefined;
  }
}
