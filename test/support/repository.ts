/**
 * The project as somebody finds it who clones it: a repository of its own whose one commit is what stands here, changes included
 * that are in no commit yet. What git is told to ignore is not in it. It is gone when it is disposed of.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './torture.js';

const NOBODY = ['-c', 'user.name=nobody', '-c', 'user.email=nobody@localhost', '-c', 'commit.gpgsign=false'];

/** A bare repository, as a path that `git clone` takes and everybody may read. */
export function repositoryHere(): { path: string } & Disposable {
  const repository = mkdtempSync(join(tmpdir(), 'lock-torture-repository-'));
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', repository]);
  const git = (...argv: string[]) =>
    execFileSync('git', [`--git-dir=${repository}`, `--work-tree=${ROOT}`, ...NOBODY, ...argv], { cwd: ROOT });
  git('add', '--all');
  git('commit', '--quiet', '--message=as it stands');
  execFileSync('chmod', ['-R', 'a+rX', repository]);
  return { path: repository, [Symbol.dispose]: () => rmSync(repository, { recursive: true, force: true }) };
}
