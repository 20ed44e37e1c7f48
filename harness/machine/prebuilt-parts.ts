/**
 * The project's parts in C as the platform packages bring them (`packages/`): for machines without a compiler. Optional
 * dependencies of the installed tool, so they may be absent; a clone has none and compiles.
 *
 * What is taken has the hash that this package knows (`harness/native/prebuilt.json`), and is of the sources that it ships.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
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

/** The part called `name`, whose file is `file`, from the package in `folder`: that which was installed, unless given. */
export function prebuiltPart(name: string, file: string, folder = installedPackage()): Prebuilt {
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
  if (sha256(bytes) !== hash) return { trouble: `${join(folder, file)} is not what this version was published with` };
  if (sha256(readFileSync(inProject(`harness/native/${name}.c`))) !== expected?.source)
    return { trouble: `the prebuilt ${name} is of other sources` };
  return { bytes };
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
