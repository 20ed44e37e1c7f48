/**
 * Tools that only some tests need. Where one is missing those tests are skipped, and the set-up says so in a line;
 * in CI nothing is skipped: what is missing there fails.
 */
import { spawnSync } from 'node:child_process';
import { findOnPath } from '../../harness/machine/command.js';
import { isRoot } from '../../harness/machine/namespaces.js';
import { prebuiltManifest, prebuiltPart } from '../../harness/machine/prebuilt-parts.js';

export const here = (...tools: string[]) =>
  process.env.CI !== undefined || tools.some((tool) => findOnPath(tool) !== undefined);

export const havePython = here('python3');
export const haveCompiler = here('cc', 'gcc', 'clang');
/** What the project has in C: as the clone carries it, or compiled. */
export const haveNativeParts =
  haveCompiler ||
  Object.keys(prebuiltManifest().parts).every(
    (name) => prebuiltPart(name, name === 'link-shaper' ? name : `${name}.so`).bytes !== undefined,
  );

/** Where Debian puts it; a browser by another name would not be the one that the pages were tested with. */
export const chromium = findOnPath('chromium') ?? '/usr/bin/chromium';
export const haveBrowser = here('chromium');

/** What to put before a command that mounts something which no other process is to see. */
export const inMountNamespace = ['unshare', ...(isRoot() ? [] : ['--user', '--map-root-user']), '--mount', '--'];
const [unshare, ...mounting] = [...inMountNamespace, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'];
export const canMount = process.env.CI !== undefined || spawnSync(unshare!, mounting).status === 0;

/** What is skipped for want of what, one line each. */
export function skipped(): string[] {
  return [
    ...(havePython ? [] : ['no python3: the tests of the lock client in Python are skipped']),
    ...(haveNativeParts
      ? []
      : ['no parts in C for this machine, and no C compiler: the tests of skewed clocks are skipped']),
    ...(haveCompiler ? [] : ['no C compiler: the tests of what is compiled are skipped']),
    ...(haveBrowser ? [] : ['no chromium: the tests of reports in a browser are skipped']),
    ...(here('go') ? [] : ['no go: the tests of lock libraries of Go are skipped']),
    ...(here('mvn') ? [] : ['no mvn: the tests of lock libraries of Java are skipped']),
    ...(here('cargo') ? [] : ['no cargo: the tests of lock libraries of Rust are skipped']),
    ...(canMount ? [] : ['nothing can be mounted here: the tests of a full disk are skipped']),
  ];
}
