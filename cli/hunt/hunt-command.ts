/** `hunt`: plays thousands of schedules in virtual time, and keeps the smallest that finds each thing. */
import { randomInt } from 'node:crypto';
import { appendFileSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { strengthOf } from '../../checkers/index.js';
import { createRunFolder, writeJson } from '../../harness/record/store.js';
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { RedisBinary } from '../../harness/vocabulary/topology.js';
import type { FailOn, Violation } from '../../harness/vocabulary/verdict.js';
import { messagesText } from '../../reports/index.js';
import { freshId } from '../common/ids.js';
import { commandLine } from '../common/reproduce.js';
import { type JudgedRun, judgeRun } from '../judge/judge.js';
import type { Invocation } from '../run/ask-run.js';
import { withConfig } from '../run/config-file.js';
import { SEEDS } from '../run/flags.js';
import { askServer } from '../run/machine-flags.js';
import { confirmOnServers } from './confirm.js';
import { FINDING, LOCK_MODULE, pinsOf } from './finding.js';
import { type AskedHunt, askHunt, HUNT, type HuntFlags } from './flags.js';
import { type HuntTotals, hunt, type NewFinding } from './hunt.js';
import { putLockModule } from './lock-module.js';
import { CLEAN_START_MS, CLIENT_ARGV, type Discovery, discoveryOf, fingerprintOf } from './schedule.js';
import { provideSimulation } from './simulation.js';
import { coresOfThisProcess, WorldProcess } from './world-process.js';

/** The last fault begins so long before the end. */
const END_MARGIN_MS = 300;
/** How often a minimal schedule is played again, each time in a process of its own. */
const REPLAYS = 3;
/** With fewer struck holds than this, a mistake that one in twenty of them shows could have been missed. */
const ENOUGH_STRUCK_HOLDS = 59;
/** Of a finding's messages. */
const MOST_LINES = 36;
const WORK = 'work';
const OWNER = 'owner';
/** What was played, a line each. */
const SCHEDULES = 'schedules.jsonl';

/** Prints what it finds as it finds it, and resolves with the exit status. */
export async function huntCommand(typed: HuntFlags, invocation: Invocation): Promise<number> {
  const { flags, invocation: where, config: configFile } = await withConfig(HUNT, typed, invocation);
  const asked = askHunt(flags, where);
  const { settings } = asked.run;
  const say = (line: string) => process.stdout.write(`${line}\n`);
  if (configFile !== undefined) say(`config ${configFile}`);
  const { shim, redis } = await provideSimulation(askServer(flags, where.cwd), say);
  const base = resolve(where.cwd, flags.out);
  const id = freshId(settings.topology);
  const folder = join(base, id);
  const work = join(folder, WORK);
  removeAbandoned(base);
  createRunFolder(base, id);
  mkdirSync(work);
  writeFileSync(join(work, OWNER), String(process.pid));
  const stop = new AbortController();
  const interrupted = () => stop.abort();
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  const worlds: WorldProcess[] = [];
  try {
    const lock = await putLockModule(settings.lock, where.cwd, work);
    const options = { workFolder: work, shim, lock };
    const cores = coresOfThisProcess();
    for (let n = 0; n < (asked.workers ?? cores.length); n++)
      worlds.push(new WorldProcess({ ...options, core: cores[n % cores.length]! }));
    const seed = flags.seed ?? randomInt(SEEDS);
    const config = configOf(asked, redis, id, commandLine(where.argv));
    say(
      `hunting in virtual time: lock ${settings.lock} on ${settings.topology}, Redis ${redis.version}, ${settings.clients} clients, seed ${seed}`,
    );
    const beganMs = performance.now();
    const seconds = () => (performance.now() - beganMs) / 1e3;
    const kept: Discovery[] = [];
    const totals = await hunt({
      worlds,
      seed,
      config,
      ...scheduling(asked),
      shard: asked.shard,
      ...(asked.runs !== undefined && { runs: asked.runs }),
      goesOn: () => !stop.signal.aborted && (asked.forMs === undefined || seconds() * 1e3 < asked.forMs),
      onSchedule: (schedule, seed, { digest, verdict, found, virtualMs }) => {
        const fingerprints = [...new Set(found.map(fingerprintOf))];
        const line = { schedule, seed, verdict, fingerprints, virtualMs, digest };
        appendFileSync(join(folder, SCHEDULES), `${JSON.stringify(line)}\n`);
      },
      onEndless: (schedule, why) => say(`schedule ${schedule}: ${why}`),
      onFinding: async (finding) => {
        kept.push(finding.found);
        const after = seconds();
        const place = join(folder, String(kept.length));
        const reproduce = commandLine(['replay', shownPath(place, where.cwd)]);
        const { clients, timeLimitMs } = finding.shrunk;
        const whole = {
          ...config,
          runId: `${id}-${kept.length}`,
          seed: finding.seed,
          reproduce,
          clients,
          timeLimitMs,
        };
        const { minimal, replayed, messages } = await keep(place, whole, finding, options);
        const { fingerprint } = finding;
        const confirmed =
          asked.confirm && (await confirmOnServers({ place, config: whole, fingerprint, times: asked.confirm }));
        const again = [replayed, ...(confirmed ? [confirmed] : [])].join('; ');
        say(findingText({ ...finding, found: minimal }, { after, again, reproduce, messages }));
      },
    });
    say(summaryText(totals, kept.length, seconds(), stop.signal.aborted));
    return statusOf(totals, kept, settings.failOn, asked.faults.length > 0);
  } finally {
    await Promise.all(worlds.map((world) => world.close()));
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    rmSync(work, { recursive: true, force: true });
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
export function scheduling({ run: { settings }, topology, faults }: AskedHunt) {
  return {
    topology,
    faults,
    endMs: settings.timeLimitMs - CLEAN_START_MS - END_MARGIN_MS,
  };
}

/** Keeps the minimal schedule with its run, and plays it again; resolves with what it finds, and how often it did again. */
export async function keep(
  place: string,
  config: RunConfig,
  { found, fingerprint, schedule, shrunk }: NewFinding,
  options: { workFolder: string; shim: string; lock: string },
): Promise<{ minimal: Discovery; replayed: string; messages: string }> {
  const plan = { version: 1 as const, seed: config.seed, steps: shrunk.steps };
  const digests: string[] = [];
  let minimal: Discovery | undefined;
  let foundAgain = 0;
  for (let n = 0; n <= REPLAYS; n++) {
    const world = new WorldProcess(options);
    try {
      const result = await world.play(config, plan, n === 0 ? place : undefined);
      digests.push(result.digest);
      const same = result.found.find((one) => fingerprintOf(one) === fingerprint);
      minimal ??= same;
      if (n > 0 && same) foundAgain++;
    } finally {
      await world.close();
    }
  }
  const [digest = ''] = digests;
  copyFileSync(options.lock, join(place, LOCK_MODULE));
  const pins = pinsOf(options.lock, config.redis.path, options.shim);
  writeJson(place, FINDING, { version: 1, fingerprint, digest, schedule, pins });
  const judged = await judgeRun(place);
  const identical = digests.slice(1).filter((one) => one === digest).length;
  const same = identical === REPLAYS ? '' : `, ${identical} of ${REPLAYS} identical`;
  return {
    minimal: minimal ?? found,
    replayed: `replayed ${foundAgain} of ${REPLAYS}${same}`,
    messages: messagesOf(judged, fingerprint),
  };
}

/** What was said from client to server and back, as far as a terminal has room for it. */
function messagesOf(judged: JudgedRun, fingerprint: string): string {
  const { results } = judged;
  const isIt = (violation: Violation) =>
    results.checkers.some(
      ({ checker, violations }) =>
        violations.some((one) => one === violation) && fingerprintOf(discoveryOf(checker, violation)) === fingerprint,
    );
  const violation = results.violations.find(isIt);
  const [, ...lines] = (violation && messagesText(judged, [violation]))?.trimEnd().split('\n') ?? [];
  const more = lines.length - MOST_LINES;
  return (more > 0 ? [...lines.slice(0, MOST_LINES), `  … ${more} more lines in messages.txt`] : lines).join('\n');
}

const WHOSE: Record<Discovery['blame'], string> = {
  lock: "the lock's mistake",
  unexplained: 'unexplained',
  deployment: 'also found, as with every lock here',
  lease: 'also found, as with every lease',
};

function findingText(
  { found, schedule, faults, shrunk }: NewFinding,
  told: { after: number; again: string; reproduce: string; messages: string },
): string {
  const count = (n: number) => `${n} fault${n === 1 ? '' : 's'}`;
  const shrinking = `shrunk from ${count(faults)} to ${shrunk.steps.length} in ${shrunk.executions} executions${shrunk.isMinimal ? '' : ', and not further for want of time'}`;
  return [
    `${WHOSE[found.blame]}, after ${schedule} schedule${schedule === 1 ? '' : 's'} (${told.after.toFixed(1)} s); ${shrinking}; ${told.again}`,
    `  ${found.class} (${found.kind}): ${found.sentence}`,
    `  minimal: ${shrunk.clients} clients, ${shrunk.timeLimitMs / 1e3} s, ${shrunk.steps.length === 0 ? 'no fault at all' : shrunk.steps.map(stepText).join('; ')}`,
    ...(told.messages === '' ? [] : [told.messages]),
    `Reproduce: ${told.reproduce}`,
  ].join('\n');
}

/** "delay of r1 (delayMs 50, direction out) from 0.655 to 1.319 s" */
function stepText(step: PlanStep): string {
  const whom = typeof step.target === 'string' ? step.target : step.target.names.join(', ');
  const args = Object.entries(step.args ?? {}).map(([name, value]) => `${name} ${value}`);
  const fromMs = 'atMs' in step ? step.atMs : 0;
  const at = (ms: number) => (ms / 1e3).toFixed(3);
  return `${step.fault} of ${whom}${args.length > 0 ? ` (${args.join(', ')})` : ''} from ${at(fromMs)} to ${at(fromMs + step.forMs)} s`;
}

function summaryText(totals: HuntTotals, findings: number, seconds: number, wasStopped: boolean): string {
  const { schedules, virtualMs, endless, endlessShrinking, untold, leftOut, struckHolds } = totals;
  const each = (virtualMs / 1e3 / Math.max(seconds, 1e-3)).toFixed(1);
  return [
    `${wasStopped ? 'stopped after' : ''} ${schedules} schedules in ${seconds.toFixed(1)} s, ${(virtualMs / 1e3).toFixed(0)} virtual seconds (${each} times real time): ${findings === 0 ? 'nothing was found' : `${findings} found`}`.trim(),
    ...(findings === 0
      ? [`found in simulation: ${strengthOf(struckHolds, 'struck hold') ?? 'no hold was struck'}`]
      : []),
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
  const ofLock = failOn.includes('lock');
  const fails = ({ class: kind, blame }: Discovery) => failOn.includes(kind) || (ofLock && blame === 'lock');
  if (found.some(fails)) return 1;
  const enough = (hasFaults ? totals.struckHolds : totals.holds) >= ENOUGH_STRUCK_HOLDS;
  // Where the lock's own mistakes count, one whose cause is not known may be one.
  const open = ofLock && found.some(({ blame }) => blame === 'unexplained');
  return enough && !open && totals.endless === 0 ? 0 : 2;
}

/** As short as it can be named from where the user stands. */
function shownPath(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  return inside.startsWith('..') ? path : inside;
}

/** What hunts have left behind that were killed. */
function removeAbandoned(base: string): void {
  for (const id of listed(base)) {
    const work = join(base, id, WORK);
    try {
      process.kill(Number(readFileSync(join(work, OWNER), 'utf8')), 0);
    } catch (error) {
      // No such process; or no such folder, and then there is nothing to remove.
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') rmSync(work, { recursive: true, force: true });
    }
  }
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
