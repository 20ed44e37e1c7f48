/**
 * The two images that hosts are made of, built from the bases of the user's choice. An image's tag is the hash of
 * everything that goes into it, so it is built when something has changed and never otherwise.
 */
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { clockShimPart } from '../harness/machine/clock-shim.js';
import { durableShimPart } from '../harness/machine/durable-shim.js';
import { linkShaperPart } from '../harness/machine/link-shaper.js';
import { type NativePart, untriedPart } from '../harness/machine/native-part.js';
import { temporaryFolder } from '../harness/machine/private-folder.js';
import { cacheFolder } from '../harness/machine/redis-binary.js';
import type { ServerImage } from '../harness/vocabulary/topology.js';
import { ContainerError, type Docker, type Engine, loadTestcontainers } from './engine.js';

/** An official image, by the name under which everybody knows it. */
export const DEFAULT_CLIENT_IMAGE = 'node:24-bookworm-slim';

/** Where the images have what the project puts into them. */
export const INSIDE = {
  project: '/opt/lock-torture/project',
  node: '/opt/lock-torture/node',
  server: '/opt/lock-torture/server',
  clockShim: '/opt/lock-torture/clock-shim.so',
  durableShim: '/opt/lock-torture/durable-shim.so',
  linkShaper: '/opt/lock-torture/link-shaper',
} as const;

export interface Images {
  server: string;
  client: string;
}

export interface Bases {
  /** What servers are made of. */
  image: string;
  /** What lock clients are made of: a Node.js image. */
  clientImage: string;
}

/** Makes both images available, with what `service` says of servers. `project` is the compiled project's folder. Rejects with a ContainerError. */
export async function provideImages(
  engine: Engine,
  { image, clientImage }: Bases,
  service: Pick<ServerImage, 'programs' | 'packages'>,
  project: string,
  say: (line: string) => void,
): Promise<Images> {
  const [base, clientBase] = [await provideBase(engine, image, say), await provideBase(engine, clientImage, say)];
  const agent = ['package.json', ...filesBelow(project, 'dist/docker/agent')];
  const ofAgent = ['host-files', 'power-cut', 'process-family'].map((name) => `dist/harness/runtimes/${name}.js`);
  const { programs, packages } = service;
  const client = await provide({
    engine,
    project,
    say,
    name: 'lock-torture/client',
    dockerfile: 'docker/client.Dockerfile',
    from: clientImage,
    files: [...agent, ...filesBelow(project, 'dist/harness'), ...filesBelow(project, 'dist/lock-impl')],
    natives: [clockShimPart, linkShaperPart],
    parts: [clientBase],
    args: { BASE: clientImage },
  });
  const server = await provide({
    engine,
    project,
    say,
    name: 'lock-torture/server',
    dockerfile: 'docker/server.Dockerfile',
    from: image,
    files: [...agent, ...ofAgent],
    natives: [clockShimPart, durableShimPart],
    parts: [base, clientBase, ...programs, ...packages],
    args: { BASE: image, CLIENT: client, PROGRAMS: programs.join(' '), PACKAGES: packages.join(' ') },
  });
  return { server, client };
}

interface Recipe {
  engine: Engine;
  project: string;
  say(line: string): void;
  name: string;
  dockerfile: string;
  from: string;
  /** What the image is made of: files, relative to the project, and compiled parts. Its tag depends on them and on `parts`. */
  files: string[];
  natives: NativePart[];
  parts: string[];
  args: Record<string, string>;
}

async function provide({ engine, project, say, name, dockerfile, from, files, natives, parts, args }: Recipe) {
  /** By the path in the context. */
  const content = new Map([dockerfile, ...files].map((file) => [file, join(project, file)]));
  for (const part of natives) content.set(join(COMPILED, `${part.name}${part.extension}`), await compiled(part, say));
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part}\0`);
  for (const [to, path] of content) hash.update(`${to}\0`).update(readFileSync(path));
  const image = `${name}:${hash.digest('hex').slice(0, 16)}`;
  if (await idOf(engine.docker, image)) return image;
  say(`building ${image} from ${from} (first run with it)…`);
  using staged = temporaryFolder();
  for (const [to, path] of content) cpSync(path, join(staged.path, to));
  await build(engine.docker, image, { context: staged.path, src: [...content.keys()] }, dockerfile, args, say);
  if (!(await idOf(engine.docker, image)))
    throw new ContainerError(`${image} was built from ${from}, but it is not there`);
  return image;
}

const OTHER_IMAGE =
  'is its name right, and a registry within reach? Images that are there are used as they are: --image and --client-image name them';

/** The id of the base, pulled if it is not there. */
async function provideBase({ docker, client }: Engine, image: string, say: (line: string) => void): Promise<string> {
  const there = await idOf(docker, image);
  if (there) return there;
  const beganMs = Date.now();
  const waiting = setInterval(() => say(`pulling ${image}… ${Math.round((Date.now() - beganMs) / 1e3)} s`), 2_000);
  try {
    const { ImageName } = await loadTestcontainers();
    await client.image.pull(ImageName.fromString(image));
  } catch (error) {
    throw new ContainerError(`the image ${image} is not there and cannot be pulled (${oneLine(error)})`, OTHER_IMAGE);
  } finally {
    clearInterval(waiting);
  }
  const pulled = await idOf(docker, image);
  if (pulled) return pulled;
  throw new ContainerError(`the image ${image} is not there and could not be pulled`, OTHER_IMAGE);
}

async function idOf(docker: Docker, image: string): Promise<string | undefined> {
  try {
    return (await docker.getImage(image).inspect()).Id;
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode === 404) return undefined;
    throw new ContainerError(`the container engine does not tell about ${image}: ${oneLine(error)}`);
  }
}

interface BuildEvent {
  stream?: string;
  error?: string;
}

async function build(
  docker: Docker,
  image: string,
  context: { context: string; src: string[] },
  dockerfile: string,
  args: Record<string, string>,
  say: (line: string) => void,
): Promise<void> {
  const printed: string[] = [];
  const heard = ({ stream }: BuildEvent) => {
    const line = stream?.trim();
    if (!line) return;
    printed.push(line);
    const step = /^Step \d+\/\d+ : (?:FROM|RUN|COPY) /.test(line);
    if (step) say(`  ${line.length > 100 ? `${line.slice(0, 100)}…` : line}`);
  };
  const labels = { 'lock-torture.image': image };
  // Also where it fails, nothing of it stays.
  const options = { t: image, dockerfile, buildargs: args, labels, forcerm: true };
  const stream = await docker.buildImage(context, options).catch((error) => {
    throw new ContainerError(`${image} cannot be built: ${oneLine(error)}`);
  });
  const error = await new Promise<string | undefined>((resolve) => {
    docker.modem.followProgress(
      stream,
      (failed: Error | null, events: BuildEvent[] | null) =>
        resolve(failed ? oneLine(failed) : events?.find((event) => event.error !== undefined)?.error),
      heard,
    );
  });
  if (error === undefined) return;
  const last = printed.filter((line) => !/^(Step|--->|Removing) /.test(line)).slice(-3);
  // Not with the whole command of that step.
  const what = error.replace(/^The command '.*' returned a non-zero code: (\d+)$/s, 'a step ended with exit status $1');
  throw new ContainerError(
    `${image} cannot be built from ${args.BASE}: ${[what, ...last].join('; ')} (the base must be of Debian or Ubuntu, or have ip and, for clients, node)`,
  );
}

// ------------------------------------------------------------------------------------------------ what goes into them

/** The folder of the build's context with what the project has in C. */
const COMPILED = 'compiled';

/** The file that hosts load: the machine's kernel and processor are theirs, and `probe` tries it in a container. */
async function compiled(part: NativePart, say: (line: string) => void): Promise<string> {
  const built = await untriedPart(part, { cacheFolder: cacheFolder(), say });
  if ('path' in built) return built.path;
  throw new ContainerError(built.problem, built.remedy);
}

/** Files below a folder of the project, in order, without what only debuggers and compilers read. */
function filesBelow(project: string, folder: string): string[] {
  return readdirSync(join(project, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(d\.ts|map)$/.test(entry.name))
    .map((entry) => relative(project, join(entry.parentPath, entry.name)))
    .sort();
}

export function oneLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n').join(' ').trim();
}
