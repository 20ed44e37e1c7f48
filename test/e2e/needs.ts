/**
 * Tools that only some tests need. Where one is missing those tests are skipped, and the set-up says so in a line;
 * in CI nothing is skipped: what is missing there fails.
 */
import { findOnPath } from '../../harness/setup/command.js';

const here = (...tools: string[]) =>
  process.env.CI !== undefined || tools.some((tool) => findOnPath(tool) !== undefined);

export const havePython = here('python3');
export const haveCompiler = here('cc', 'gcc', 'clang');

/** What is skipped for want of what, one line each. */
export function skipped(): string[] {
  return [
    ...(havePython ? [] : ['no python3: the tests of the lock client in Python are skipped']),
    ...(haveCompiler ? [] : ['no C compiler: the tests of skewed clocks are skipped']),
  ];
}
