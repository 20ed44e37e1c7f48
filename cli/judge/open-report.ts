/**
 * A run's report in the user's browser, by the program that opens files for users: `xdg-open`, on macOS `open`.
 *
 * Promises: nothing is opened where nobody looks, in a pipe or a CI, nor on a machine without a screen, where `xdg-open` may start a
 * browser of the terminal. The program is started by its arguments alone, without a shell.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { shown } from '../../harness/record/schemas/foreign-text.js';
import { findRun, StoreError } from '../../harness/record/store.js';
import { UsageError } from '../common/errors.js';
import { commandLine } from '../common/reproduce.js';
import { type Surroundings, surroundings } from '../live/terminal.js';
import type { Where } from './judge-commands.js';

/** An opener that has not failed by then shows the report. */
const PATIENCE_MS = 2_000;

/** Opens the report of a run; resolves with 0, also where it could only say where it is. Throws one line where there is none. */
export async function openCommand(named: string, where: Where): Promise<number> {
  const report = reportOf(named, where);
  process.stdout.write(`${report}\n`);
  await openReport(report);
  return 0;
}

function reportOf(named: string, { base, cwd }: Where): string {
  const report = join(runNamed(named, base, cwd), 'report.html');
  if (!existsSync(report))
    throw new UsageError(`no report.html in run ${shown(named)}; this writes it: ${commandLine(['report', named])}`);
  return report;
}

function runNamed(named: string, base: string, cwd: string): string {
  try {
    return findRun(named, base, cwd);
  } catch (error) {
    if (!(error instanceof StoreError) || named !== 'latest') throw error;
    throw new UsageError(`there is no run in ${base} yet; this makes one: ${commandLine([])}`);
  }
}

/** Opens it where that can be done; else says why not, on standard error. */
export async function openReport(
  path: string,
  here: Surroundings & { platform: NodeJS.Platform } = { ...surroundings(), platform: process.platform },
): Promise<void> {
  const why = whyNotOpened(here) ?? (await failureOf([openerOn(here.platform), path], here.env));
  if (why !== undefined) process.stderr.write(`lock-torture: not opened in a browser: ${why}\n`);
}

function openerOn(platform: NodeJS.Platform): string {
  return platform === 'darwin' ? 'open' : 'xdg-open';
}

function whyNotOpened({ isTTY, env, platform }: Parameters<typeof openReport>[1] & object): string | undefined {
  const has = (name: string) => !['', 'false', undefined].includes(env[name]);
  if (has('CI')) return 'this is a CI';
  if (!isTTY) return 'standard output is no terminal';
  if (platform !== 'darwin' && !has('DISPLAY') && !has('WAYLAND_DISPLAY') && !has('WSL_DISTRO_NAME'))
    return 'there is no screen here (neither DISPLAY nor WAYLAND_DISPLAY is set)';
  return undefined;
}

/** Why the opener could not do it; undefined: it did, or is still at it. It outlives this program. */
function failureOf([opener, path]: [string, string], env: Surroundings['env']): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(opener, [path], { stdio: 'ignore', detached: true, env: { ...env } });
    const timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
    const end = (why: string | undefined) => {
      clearTimeout(timer);
      resolve(why);
    };
    child.on('error', (error: NodeJS.ErrnoException) =>
      end(error.code === 'ENOENT' ? `${opener} is not installed` : `${opener}: ${error.message}`),
    );
    child.on('exit', (code) => end(code === 0 ? undefined : `${opener} failed (status ${code})`));
    child.unref();
  });
}
