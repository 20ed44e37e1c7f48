/** `hunt`: plays thousands of schedules in virtual time, and keeps the smallest that finds each thing. */
import { randomInt } from 'node:crypto';
import { appendFileSync, readdirSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { ENOUGH_STRIKES, strengthOf } from '../../checkers/index.js';
import { temporaryFolder } from '../../harness/machine/private-folder.js';
import { listed } from '../../harness/record/facts/words.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { RedisBinary } from '../../harness/vocabulary/topology.js';
import type { FailOn } from '../../harness/vocabulary/verdict.js';
import { createFreshFolder } from '../common/ids.js';
import { LockLog, sayingPrinted } from '../common/lock-log.js';
import { commandLine, huntUpTo, shownPath } from '../common/reproduce.js';
import type { Invocation } from '../run/ask-run.js';
import { withConfig } from '../run/config-file.js';
import { SEEDS } from '../run/flags.js';
import { putLoadedLock } from '../run/lock-module.js';
import { askServer } from '../run/machine-flags.js';
import { CLIENT_ARGV } from '../run/simulated-client.js';
import { provideSimulation } from '../run/simulation.js';
import { SIGNALS } from '../run/supervise.js';
import { Budget } from './budget.js';
import { confirmationText, confirmOnServers } from './confirm.js';
import type { OrderPlayed } from './exhaustive/course.js';
import { exhaustAndTell, exhaustedStatus } from './exhaustive/told.js';
import { failsBy, isOpen } from './failing.js';
import { type AskedHunt, askHunt, HUNT, type HuntFlags } from './flags.js';
import { type HuntTotals, hunt, type NewFinding } from './hunt.js';
import { discoveryWords, findingText, keepFinding } from './kept-finding.js';
import { CLEAN_START_MS, type Discovery, fingerprintOf, type ScheduleResult } from './schedule.js';
import { lessOf } from './shrink-finding.js';
import { coresOfThisProcess, WorldProcess } from './world-process.js';

/** The last fault begins so long before the end. */
const END_MARGIN_MS = 300;
/** What was played, a line each. */
const SCHEDULES = 'schedules.jsonl';

/** Prints what it finds as it finds it, and resolves with the exit status. */
export async function huntCommand(typed: HuntFlags, invocation: Invocation): Promise<number> {
  const { flags, invocation: where, origin } = await withConfig(HUNT, typed, invocation);
  const asked = askHunt(flags, where);
  const { settings } = asked.run;
  const say = (line: string) => process.stdout.write(`${line}\n`);
  for (const line of origin) say(line);
  const { shim, redis } = await provideSimulation(askServer(flags, where.cwd), say);
  const beganMs = performance.now();
  const seconds = () => (performance.now() - beganMs) / 1e3;
  const budget = Budget.of(asked.forMs, () => performance.now());
  const base = resolve(where.cwd, flags.out);
  // Not in the hunt's folder: one that is killed would leave it there.
  using scratch = temporaryFolder();
  const work = scratch.path;
  const { id, folder } = createFreshFolder(base, settings.topology);
  const stop = new AbortController();
  const interrupted = () => stop.abort();
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted).on('SIGHUP', interrupted);
  const worlds: WorldProcess[] = [];
  let second: WorldProcess | undefined;
  const log = new LockLog();
  const printed = sayingPrinted(log, say);
  try {
    const lock = await putLoadedLock(settings.lock, where.cwd, work);
    const options = { workFolder: work, shim, lock, printed };
    const cores = coresOfThisProcess();
    second = new WorldProcess({ ...options, core: cores.at(-1)! });
    for (let n = 0; n < (asked.workers ?? cores.length); n++)
      worlds.push(new WorldProcess({ ...options, core: cores[n % cores.length]! }));
    const seed = flags.seed ?? randomInt(SEEDS);
    const config = configOf(asked, redis, id, commandLine(where.argv));
    say(
      `hunting in virtual time: lock ${settings.lock} on ${settings.topology}, ${basename(redis.path)} ${redis.version}, ${settings.clients} clients, seed ${seed}`,
    );
    /** Of everything that was told. */
    const kept: Discovery[] = [];
    const places = new Map<string, string>();
    const isStopped = () => stop.signal.aborted;
    const found = new Map<string, number>();
    const keep = async (finding: NewFinding, budget: Budget, world: WorldProcess) => {
      const { fingerprint, shrunk, schedule, hold } = finding;
      kept.push(finding.found, ...finding.same);
      const number = String(places.size + 1);
      places.set(fingerprint, number);
      const place = join(folder, number);
      const reproduce = commandLine(['replay', shownPath(place, where.cwd)]);
      const held = { ...config, ...(hold && { hold }) };
      const whole = { ...held, ...lessOf(config, shrunk), runId: `${id}-${number}`, seed: shrunk.seed, reproduce };
      const keeping = { options, world, second: second!, budget, isStopped };
      const { minimal, replayed, differs, messages } = await keepFinding(place, whole, finding, keeping);
      const ends = () => isStopped() || budget.isSpent();
      const confirmed =
        asked.confirm &&
        confirmationText(await confirmOnServers({ place, config: whole, fingerprint, times: asked.confirm, ends }));
      say(
        findingText(
          { ...finding, found: minimal },
          {
            after: found.get(fingerprint) ?? seconds(),
            again: [replayed, ...(confirmed ? [confirmed] : [])].join('; '),
            differs,
            reproduce,
            shrink: huntUpTo(where.argv, seed, schedule),
            messages,
            wasStopped: isStopped(),
          },
        ),
      );
    };
    const onSame = (one: Discovery, as: string) => {
      kept.push(one);
      say(`${discoveryWords(one)}: the same mistake as ${places.get(as)}`);
    };
    if (asked.bound) {
      const onCourse = (course: OrderPlayed, { verdict, found }: ScheduleResult) => {
        const fingerprints = [...new Set(found.map(fingerprintOf))];
        const line = { course: course.course.map(({ id }) => id), shape: course.shape, verdict, fingerprints };
        appendFileSync(join(folder, SCHEDULES), `${JSON.stringify(line)}\n`);
      };
      const totals = await exhaustAndTell({
        isReduced: flags.reduction,
        onCourse,
        worlds,
        config: { ...config, seed },
        bound: asked.bound,
        budget,
        isStopped,
        onFinding: (finding, world) => keep(finding, budget, world),
        onSame,
        say,
        seconds,
      });
      return exhaustedStatus(totals, kept, settings.failOn);
    }
    const totals = await hunt({
      worlds,
      seed,
      config,
      ...scheduling(asked),
      shard: asked.shard,
      ...(asked.runs !== undefined && { runs: asked.runs }),
      budget,
      isStopped,
      onSchedule: ({ number: schedule, seed, madeOf }, { digest, verdict, found: all, virtualMs }, fresh) => {
        const fingerprints = [...new Set(all.map(fingerprintOf))];
        const line = {
          schedule,
          ...(madeOf !== undefined && { madeOf }),
          seed,
          verdict,
          fingerprints,
          virtualMs,
          digest,
        };
        appendFileSync(join(folder, SCHEDULES), `${JSON.stringify(line)}\n`);
        if (fresh.length === 0) return;
        for (const one of fresh) found.set(fingerprintOf(one), seconds());
        const what = listed([...new Set(fresh.map(discoveryWords))]);
        say(`schedule ${schedule} (${seconds().toFixed(1)} s) found ${what}: more of it when it is shrunk`);
      },
      onEndless: (schedule, why) => say(`schedule ${schedule}: ${why}`),
      onFinding: (finding, budget) => keep(finding, budget, worlds[0]!),
      onSame,
    });
    say(summaryText(totals, places.size, seconds(), isStopped()));
    return statusOf(totals, kept, settings.failOn, asked.faults.length > 0);
  } finally {
    await Promise.all([...worlds, ...(second ? [second] : [])].map((world) => world.close()));
    if (log.inAll !== undefined) say(`the lock printed ${log.inAll}`);
    for (const signal of SIGNALS) process.off(signal, interrupted);
    // One that could not begin has left nothing to look at.
    if (readdirSync(folder).length === 0) rmSync(folder, { recursive: true });
  }
}

/** Of every schedule, but for its seed. */
export function configOf(
  { run, faults }: AskedHunt,
  redis: RedisBinary,
  runId: string,
  reproduce: string,
): Omit<RunConfig, 'seed'> {
  return {
    version: 2,
    startedAt: new Date().toISOString(),
    runId,
    ...run.settings,
    nemesis: faults,
    runtime: 'sim',
    redis,
    clientArgv: CLIENT_ARGV,
    unavailable: {},
    reproduce,
  };
}

/** What schedules are made of. */
export function scheduling({ run: { settings }, topology, faults, habits }: AskedHunt) {
  return {
    topology,
    faults,
    endMs: settings.timeLimitMs - CLEAN_START_MS - END_MARGIN_MS,
    ...(habits && { habits }),
  };
}

function summaryText(totals: HuntTotals, findings: number, seconds: number, wasStopped: boolean): string {
  const { schedules, virtualMs, endless, endlessShrinking, untold, leftOut } = totals;
  const each = (virtualMs / 1e3 / Math.max(seconds, 1e-3)).toFixed(1);
  return [
    `${wasStopped ? 'stopped after' : ''} ${schedules} schedules in ${seconds.toFixed(1)} s, ${(virtualMs / 1e3).toFixed(0)} virtual seconds (${each} times real time): ${findings === 0 ? 'nothing was found' : `${findings} found`}`.trim(),
    ...(findings === 0 ? [`found in simulation: ${strengthOf(totals) ?? 'no hold was struck'}`] : []),
    ...(untold > 0 ? [`of ${untold} schedules nothing can be told by themselves: too few holds, say`] : []),
    ...(endless > 0 ? [`${endless} did not end`] : []),
    ...(endlessShrinking > 0 ? [`${endlessShrinking} plays did not end while something was shrunk`] : []),
    ...(leftOut.length > 0 ? [`left out after they were found to break every lock here: ${leftOut.join(', ')}`] : []),
  ].join('\n');
}

function statusOf(
  totals: HuntTotals,
  found: readonly Discovery[],
  failOn: readonly FailOn[],
  hasFaults: boolean,
): number {
  if (found.some((one) => failsBy(one, failOn))) return 1;
  const enough = (hasFaults ? totals.strikes : totals.holds) >= ENOUGH_STRIKES;
  return enough && !isOpen(found, failOn) && totals.endless === 0 ? 0 : 2;
}
