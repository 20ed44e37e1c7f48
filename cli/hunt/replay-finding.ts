/** `replay` of what a hunt found: plays the schedule again in virtual time, and says whether everything came out the same. */
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryFolder } from '../../harness/machine/private-folder.js';
import { readPlan, readWholeConfig } from '../../harness/record/store.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { UsageError } from '../common/errors.js';
import { LockLog, sayingPrinted } from '../common/lock-log.js';
import { type Say, saying } from '../common/say.js';
import { type ReplayFlags, SEEDS } from '../run/flags.js';
import { putLockModule } from '../run/lock-module.js';
import { placeOfLock } from '../run/lock-source.js';
import { askServer } from '../run/machine-flags.js';
import { CLIENT_ARGV } from '../run/simulated-client.js';
import { provideSimulation } from '../run/simulation.js';
import { comparePlays, courseWords, differenceLines, messagesOfPlay, type SameOrNot } from './difference.js';
import { orderAgain } from './exhaustive/course.js';
import { changedSince, LOCK_MODULE, pinsOf, readFinding } from './finding.js';
import { type Discovery, fingerprintOf, type ScheduleResult } from './schedule.js';
import { WorldProcess } from './world-process.js';

/**
 * Resolves with the exit status: 1 where the last replay found it, 0 where that held, 2 where nothing can be told. What decides the
 * course of events may have changed since: the schedule is played, and only a replay that differs says what has.
 */
export async function replayFinding(folder: string, flags: ReplayFlags, cwd: string): Promise<number> {
  if (flags.image !== undefined || flags.clientImage !== undefined)
    throw new UsageError('what a hunt found is replayed in simulation, without containers');
  const say = saying(flags);
  const print = (row: object, line: string) => process.stdout.write(`${flags.json ? JSON.stringify(row) : line}\n`);
  const finding = readFinding(folder);
  const config = readWholeConfig(folder);
  const plan = readPlan(folder);
  const then = { digest: finding.digest, messages: messagesOfPlay(folder) };
  const { shim, redis } = await provideSimulation(askServer(flags, cwd) ?? config.redis.asked, say);
  using scratch = temporaryFolder();
  const workFolder = scratch.path;
  const lock = await lockNow(folder, config, cwd, workFolder, say);
  const pins = pinsOf(lock, redis.path, shim);
  const again: RunConfig = { ...config, redis, clientArgv: CLIENT_ARGV };
  const times = flags.untilViolation ? SEEDS : (flags.times ?? 1);
  const order = finding.order ? { order: orderAgain(finding.order) } : {};
  const printed = sayingPrinted(new LockLog(), say);
  let status = 2;
  const rows: { found: boolean; identical: boolean }[] = [];
  for (let n = 0; n < times; n++) {
    const keep = join(workFolder, `replay-${n + 1}`);
    const result = await playedAlone({ workFolder, shim, lock, printed }, again, plan, { keep, ...order });
    const course = comparePlays(then, { digest: result.digest, messages: messagesOfPlay(keep) });
    rmSync(keep, { recursive: true, force: true });
    const same = result.found.find((one) => fingerprintOf(one) === finding.fingerprint);
    const found = same !== undefined;
    const identical = course.is === 'same';
    rows.push({ found, identical });
    const told = same ?? result.found[0];
    const what = { verdict: result.verdict, class: told?.class, cause: told?.cause, sentence: told?.sentence };
    const differs = identical ? {} : { differs: course, changed: changedSince(finding.pins, pins) };
    const lines = differenceLines(course, finding.pins, pins).map((line) => `\n  ${line}`);
    print(
      { type: 'run', index: n + 1, found, identical, ...differs, ...what },
      `${outcome(result, same, course)}${lines.join('')}`,
    );
    status = found ? 1 : result.verdict === 'unknown' ? 2 : result.verdict === 'violated' ? 1 : 0;
    if (flags.untilViolation && found) break;
  }
  const [found, identical] = [rows.filter((row) => row.found).length, rows.filter((row) => row.identical).length];
  const counted = `found again in ${found} of ${rows.length}, every byte at the same time in ${identical}`;
  if (flags.json || rows.length > 1) print({ type: 'summary', replays: rows.length, found, identical }, counted);
  return status;
}

/**
 * Resolves with the lock as one module: of its file as that is now, where the hunt was made or, on another machine, where the user
 * stands; and as it was then, which the finding has kept, where neither is there.
 */
async function lockNow(folder: string, config: RunConfig, cwd: string, workFolder: string, say: Say): Promise<string> {
  const { lock } = config;
  const from = placeOfLock(lock, [config.cwd, cwd]);
  if (from !== undefined || !existsSync(join(folder, LOCK_MODULE)))
    return putLockModule(lock, from ?? config.cwd, workFolder);
  say(`note: ${resolve(config.cwd, lock)} is not there any more; the lock is played as it was when this was found`);
  const kept = join(workFolder, LOCK_MODULE);
  copyFileSync(join(folder, LOCK_MODULE), kept);
  return kept;
}

/** Plays it in a process of its own: nothing of one may be left for the next. */
async function playedAlone(
  of: ConstructorParameters<typeof WorldProcess>[0],
  ...schedule: Parameters<WorldProcess['play']>
): Promise<ScheduleResult> {
  const world = new WorldProcess(of);
  try {
    return await world.play(...schedule);
  } finally {
    await world.close();
  }
}

function outcome(result: ScheduleResult, same: Discovery | undefined, course: SameOrNot): string {
  if (same) return `found again, ${courseWords(course)}: ${same.class}: ${same.sentence}`;
  const [other] = result.found;
  const judged = course.is === 'same' ? ', so it is judged otherwise now' : '';
  const instead = other ? `but ${other.class}: ${other.sentence}` : `the lock ${result.verdict}`;
  return `not found again, ${courseWords(course)}${judged}: ${instead}`;
}
