/**
 * The project's parts in C, compiled beforehand: no machine that they are made for needs a compiler. A clone carries them
 * (`packages/`); an installed tool has them from a platform package, an optional dependency, which may be absent.
 *
 * What is taken has the hash that the project knows (`harness/native/prebuilt.json`), and is of the sources as they are here: who
 * edits a source has it compiled.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { inProject, PROJECT } from './project-files.js';

export interface Prebuilt {
  /** Why there is none, in words; undefined: `bytes` are what it is. */
  trouble?: string;
  bytes?: Buffer;
}

interface Manifest {
  /** The glibc that they were built against. */
  glibc: string;
  parts: Record<string, Record<string, string>>;
}

/** The manifest of what was built, from what, and when a part is asked for its hash. */
export function prebuiltManifest(): Manifest {
  return JSON.parse(readFileSync(inProject('harness/native/prebuilt.json'), 'utf8'));
}

/** `linux-x64`, as the manifest and the packages are called. */
const PLATFORM = `${process.platform}-${process.arch}`;

/** The part called `name`, whose file is `file`, from `folder`: where the parts of this platform are, unless given. */
export function prebuiltPart(name: string, file: string, folder = partsFolder()): Prebuilt {
  const expected = prebuiltManifest().parts[name];
  const hash = expected?.[PLATFORM];
  if (folder === undefined || hash === undefined)
    return { trouble: `no package with prebuilt parts for ${PLATFORM} is installed` };
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(folder, file));
  } catch (error) {
    return { trouble: `the prebuilt ${name} cannot be read (${(error as Error).message})` };
  }
  if (sha256(bytes) !== hash)
    return { trouble: `${join(folder, file)} is not what harness/native/prebuilt.json names` };
  const source = `harness/native/${name}.c`;
  if (sha256(readFileSync(inProject(source))) !== expected?.source)
    return { trouble: `${source} is not the source that the prebuilt one was made of` };
  return { bytes };
}

/** Those that a clone carries, else those that were installed; undefined: neither. */
function partsFolder(): string | undefined {
  const carried = join(PROJECT, 'packages', PLATFORM);
  return existsSync(carried) ? carried : installedPackage();
}

function installedPackage(): string | undefined {
  try {
    return dirname(createRequire(join(PROJECT, 'package.json')).resolve(`@lock-torture/${PLATFORM}/package.json`));
  } catch {
    return undefined; // it is optional
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
