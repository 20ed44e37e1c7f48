/** What tests call: a run, a scenario, and the judgement of a run that was recorded. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Settings } from '../../harness/vocabulary/settings.js';
import type { JsonSummary } from '../../harness/vocabulary/verdict.js';
import { commandIn } from '../common/reproduce.js';
import { flagsOf } from '../common/settings.js';
import { type CallOptions, callInTurn, callTool, LockTortureError, type Told } from './tool.js';

/** Settings of a run, and how to stay with it. */
export interface TortureOptions extends Settings, CallOptions {
  /** A config file to begin with instead of the project's own; false: none. */
  config?: string | false;
}

/** What a run came to: verdict, violations with blame and cause, the report's path, the command that repeats it. */
export type TortureResult = JsonSummary;

/** What a scenario may be given: another lock, or another place, than it is written for. */
export interface ScenarioOptions
  extends CallOptions,
    Pick<Settings, 'lock' | 'topology' | 'runtime' | 'server' | 'image' | 'clientImage' | 'out'> {}

export interface ScenarioResult extends TortureResult {
  scenario: string;
  claim: string;
  /** `as-written`, `otherwise`; with a lock or topology of one's own `held`, `violated`, `cannot-tell`. */
  went: 'as-written' | 'otherwise' | 'held' | 'violated' | 'cannot-tell';
  /** Why it went so. */
  why: string;
}

/**
 * Tortures a lock. Resolves whatever the verdict; rejects with a LockTortureError where it could not run, and with the
 * signal's reason where it was stopped. A run takes its `timeLimit` (20 s) and some seconds: give the test time.
 */
export async function torture(options: TortureOptions = {}): Promise<TortureResult> {
  const { cwd, signal, onProgress, queue, config, ...settings } = options;
  const configured = config === false ? ['--no-config'] : config === undefined ? [] : [`--config=${config}`];
  const told = await callInTurn([...flags(settings), ...configured], { cwd, signal, onProgress, queue });
  return typedFrom(cwd, resultAmong(told));
}

/** Plays one scenario (docs/scenarios.md). Resolves and rejects as `torture` does. */
export async function scenario(name: string, options: ScenarioOptions = {}): Promise<ScenarioResult> {
  const { cwd, signal, onProgress, queue, ...settings } = options;
  const calling = { cwd, signal, onProgress, queue };
  const told = await callInTurn(['scenario', name, ...flags(settings)], calling);
  const row = told.find(({ type }) => type === 'run');
  if (typeof row?.folder !== 'string') throw new LockTortureError(`scenario ${name} could not run: ${row?.why}`);
  const { claim, went, why } = row as Told & Pick<ScenarioResult, 'claim' | 'went' | 'why'>;
  return { ...typedFrom(cwd, await check(row.folder, calling)), scenario: name, claim, went, why };
}

/** Judges a recorded run again: a folder, an id, or `latest`. Resolves and rejects as `torture` does. */
export async function check(run: string | URL = 'latest', options: CallOptions = {}): Promise<TortureResult> {
  const folder = run instanceof URL ? fileURLToPath(run) : run;
  return resultAmong(await callTool(['check', folder], options));
}

/** With the command that repeats it as it is typed where this process stands. */
function typedFrom(cwd: string | undefined, result: TortureResult): TortureResult {
  const standing = process.cwd();
  return { ...result, reproduce: commandIn(resolve(cwd ?? standing), result.reproduce, standing) };
}

function flags(settings: Settings): string[] {
  try {
    return flagsOf(settings);
  } catch (error) {
    throw new LockTortureError((error as Error).message);
  }
}

/** The verdict is the last thing that is told of a run. */
function resultAmong(told: readonly Told[]): TortureResult {
  const found = told.find((one) => typeof one.runId === 'string' && 'exitStatus' in one);
  if (!found) throw new LockTortureError('it ended without a verdict: check() reads runs, not other histories');
  return found as unknown as TortureResult;
}
