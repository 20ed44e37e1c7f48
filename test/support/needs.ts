/**
 * What some tests need of the machine. Each need is a tag: of a test (`{ tags: ['compiler'] }`), of a group, or of a file
 * (`@module-tag namespaces` in its first comment). vitest.config.ts probes the needs once, for real; a test whose need is not met is
 * skipped, with the reason, and the last lines of a run count such tests (layer-times.ts).
 *
 * LOCK_TORTURE_TEST_ALL=1 says that everything is there, as in `.ci/run`: nothing is skipped but what needs root, and what is
 * missing fails.
 */
import { spawnSync } from 'node:child_process';
import { findOnPath } from '../../harness/machine/command.js';
import { inNamespaces, isRoot, namespaceTrouble } from '../../harness/machine/namespaces.js';
import { prebuiltManifest, prebuiltPart } from '../../harness/machine/prebuilt-parts.js';

export const isNight = process.env.LOCK_TORTURE_TEST_DEEP === '1';
export const isAllRequired = process.env.LOCK_TORTURE_TEST_ALL === '1';

declare module 'vitest' {
  interface TaskMeta {
    /** Why the test is skipped. */
    lacking?: string;
  }
}

const noneOf = (...names: string[]) =>
  names.some((name) => findOnPath(name) !== undefined) ? undefined : `no ${names[0]}`;

/** Why none of these tools can be called; undefined: one can, or must be. */
export const withoutTool = (...names: string[]) => (isAllRequired ? undefined : noneOf(...names));

const withoutCompiler = () => noneOf('cc', 'gcc', 'clang');

/** Why what the project has in C is not to be had: neither as the clone carries it, nor compiled. */
export function lacksNativeParts(): string | undefined {
  const isCarried = Object.keys(prebuiltManifest().parts).every(
    (name) => prebuiltPart(name, name === 'link-shaper' ? name : `${name}.so`).bytes !== undefined,
  );
  return isCarried || withoutCompiler() === undefined ? undefined : 'no parts in C for this machine, and no compiler';
}

/** Where Debian puts it; a browser by another name would not be the one that the pages were tested with. */
export const chromium = findOnPath('chromium') ?? '/usr/bin/chromium';

/** What to put before a command that mounts something which no other process is to see. */
export const inMountNamespace = ['unshare', ...(isRoot() ? [] : ['--user', '--map-root-user']), '--mount', '--'];

/** Why it cannot be had here; undefined: it can. */
const PROBES: Record<string, () => string | undefined | Promise<string | undefined>> = {
  // What takes long and is told by others, too: LOCK_TORTURE_TEST_DEEP=1 plays it.
  night: () => (isNight ? undefined : 'only at night'),
  namespaces: async () => ((await namespaceTrouble(inNamespaces())) ? 'no network namespaces' : undefined),
  mounts() {
    const [unshare, ...argv] = [...inMountNamespace, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'];
    return spawnSync(unshare!, argv).status === 0 ? undefined : 'nothing can be mounted';
  },
  root: () => (isRoot() ? undefined : 'not root'),
  native: lacksNativeParts,
  compiler: withoutCompiler,
  python: () => noneOf('python3'),
  browser: () => noneOf('chromium'),
};

/** What is no lack of the machine. */
const NEVER_FORCED: ReadonlySet<string> = new Set(['root', 'night']);

/** The tags for Vitest, after a probe of each need. */
export async function probedTags(mustBeThere = isAllRequired) {
  const probed = Object.entries(PROBES).map(async ([name, probe]) => {
    const lacking = mustBeThere && !NEVER_FORCED.has(name) ? undefined : await probe();
    return { name, ...skipWhere(lacking) };
  });
  return Promise.all(probed);
}

/** Options of a test or group that is skipped where something is lacking that takes long to probe, and so is no tag. */
export function skipWhere(lacking: string | undefined) {
  return lacking === undefined ? {} : { skip: true, meta: { lacking } };
}
