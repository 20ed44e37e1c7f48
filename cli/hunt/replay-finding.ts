/** `replay` of what a hunt found: plays the schedule again in virtual time, and says whether everything came out the same. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPlan, readWholeConfig } from '../../harness/record/store.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { UsageError } from '../common/errors.js';
import { saying } from '../common/say.js';
import { type ReplayFlags, SEEDS } from '../run/flags.js';
import { askServer } from '../run/machine-flags.js';
import { orderAgain } from './exhaustive/course.js';
import { changedSince, pinsOf, readFinding } from './finding.js';
import { putLockModule } from './lock-module.js';
import { CLIENT_ARGV, fingerprintOf, type ScheduleResult } from './schedule.js';
import { provideSimulation } from './simulation.js';
import { WorldProcess } from './world-process.js';

/**
 * Resolves with the exit status: 1 where the last replay found it, 0 where that held, 2 where nothing can be told. Throws UsageError
 * where what decides the course of events is not as it was, unless it is to be played anyway.
 */
export async function replayFinding(folder: string, flags: ReplayFlags, cwd: string): Promise<number> {
  if (flags.image !== undefined || flags.clientImage !== undefined)
    throw new UsageError('what a hunt found is replayed in simulation, without containers');
  const say = saying(flags);
  const print = (row: object, line: string) => process.stdout.write(`${flags.json ? JSON.stringify(row) : line}\n`);
  const finding = readFinding(folder);
  const config = readWholeConfig(folder);
  const plan = readPlan(folder);
  const { shim, redis } = await provideSimulation(askServer(flags, cwd) ?? config.redis.asked, say);
  const workFolder = mkdtempSync(join(tmpdir(), 'lock-torture-replay-'));
  try {
    const lock = await putLockModule(config.lock, config.cwd, workFolder);
    const changed = changedSince(finding.pins, pinsOf(lock, redis.path, shim));
    if (changed.length > 0) {
      const differs = `not as it was when this was found: ${changed.join(', ')}`;
      if (!flags.anyway) throw new UsageError(`${differs}; --anyway plays the same schedule all the same`);
      say(`note: ${differs}; what happens may be another course of events for that alone`);
    }
    const again: RunConfig = { ...config, redis, clientArgv: CLIENT_ARGV };
    const times = flags.untilViolation ? SEEDS : (flags.times ?? 1);
    const order = finding.order ? { order: orderAgain(finding.order) } : {};
    let status = 2;
    const rows: { found: boolean; identical: boolean }[] = [];
    for (let n = 0; n < times; n++) {
      const result = await playedAlone({ workFolder, shim, lock }, again, plan, order);
      const found = result.found.some((one) => fingerprintOf(one) === finding.fingerprint);
      const identical = result.digest === finding.digest;
      rows.push({ found, identical });
      const [first] = result.found;
      const what = { verdict: result.verdict, class: first?.class, cause: first?.cause, sentence: first?.sentence };
      print({ type: 'run', index: n + 1, found, identical, ...what }, outcome(result, found, identical));
      status = found ? 1 : result.verdict === 'unknown' ? 2 : result.verdict === 'violated' ? 1 : 0;
      if (flags.untilViolation && found) break;
    }
    const [found, identical] = [rows.filter((row) => row.found).length, rows.filter((row) => row.identical).length];
    const counted = `found again in ${found} of ${rows.length}, every byte at the same time in ${identical}`;
    if (flags.json || rows.length > 1) print({ type: 'summary', replays: rows.length, found, identical }, counted);
    return status;
  } finally {
    rmSync(workFolder, { recursive: true, force: true });
  }
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

function outcome(result: ScheduleResult, found: boolean, isIdentical: boolean): string {
  const same = isIdentical ? 'every byte at the same time' : 'another course of events';
  const [first] = result.found;
  if (found) return `found again, ${same}: ${first!.class}: ${first!.sentence}`;
  return `not found again, ${same}: ${first ? `but ${first.class}: ${first.sentence}` : `the lock ${result.verdict}`}`;
}
