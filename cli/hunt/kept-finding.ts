/** What a hunt keeps of a finding, and what it says of it. */
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { aimWords } from '../../harness/record/facts/aim-words.js';
import { listed, plural } from '../../harness/record/facts/words.js';
import { writeJson } from '../../harness/record/store.js';
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { Violation } from '../../harness/vocabulary/verdict.js';
import { messagesText } from '../../reports/index.js';
import { type JudgedRun, judgeRun } from '../judge/judge.js';
import type { Budget } from './budget.js';
import { comparePlays, courseWords, differenceLines, messagesOfPlay, type SameOrNot } from './difference.js';
import { orderAgain } from './exhaustive/course.js';
import { FINDING, LOCK_MODULE, pinsOf } from './finding.js';
import type { NewFinding } from './hunt.js';
import { type Discovery, discoveryOf, fingerprintOf } from './schedule.js';
import type { Shrunk } from './shrink.js';
import type { WorldOptions, WorldProcess } from './world-process.js';

/** How often a minimal schedule is played again. */
const REPLAYS = 3;
/** Of a finding's messages. */
const MOST_LINES = 36;

/** What a finding came to when it was kept. */
export interface KeptFinding {
  minimal: Discovery;
  /** How often it was found again. */
  replayed: string;
  /** Where the first replay that was another course of events differed, in lines; none where every byte was the same. */
  differs: string[];
  messages: string;
}

export interface KeepOptions {
  options: WorldOptions;
  /** One of the search's. */
  world: WorldProcess;
  /**
   * Another, in which nothing was searched: what it plays the same, to the last byte, does not hang on anything that is left in a
   * process, nor on what that has played before. It plays nothing else, and so need not be started anew each time.
   */
  second: WorldProcess;
  /** For playing it again. */
  budget?: Budget;
  isStopped?: () => boolean;
}

/**
 * Keeps the minimal schedule with its run, and plays it again in another process; resolves with what it finds, and how often it did
 * again.
 */
export async function keepFinding(
  place: string,
  config: RunConfig,
  { found, fingerprint, schedule, shrunk, order }: NewFinding,
  { options, world, second, budget, isStopped = () => false }: KeepOptions,
): Promise<KeptFinding> {
  const plan = { version: 1 as const, seed: config.seed, steps: shrunk.steps };
  const again = join(options.workFolder, 'again');
  const play = async (by: WorldProcess, keep: string) => {
    const result = await by.play(config, plan, { keep, ...(order && { order: orderAgain(order) }) });
    const same = result.found.find((one) => fingerprintOf(one) === fingerprint);
    return { digest: result.digest, messages: messagesOfPlay(keep), same };
  };
  const first = await play(world, place);
  const courses: SameOrNot[] = [];
  let [minimal, foundAgain] = [first.same, 0];
  while (courses.length < REPLAYS && !isStopped() && budget?.isSpent() !== true) {
    const replay = await play(second, again);
    rmSync(again, { recursive: true, force: true });
    courses.push(comparePlays(first, replay));
    minimal ??= replay.same;
    if (replay.same) foundAgain++;
  }
  copyFileSync(options.lock, join(place, LOCK_MODULE));
  const pins = pinsOf(options.lock, config.redis.path, options.shim);
  const { digest } = first;
  writeJson(place, FINDING, { version: 1, fingerprint, digest, schedule, pins, ...(order && { order }) });
  const judged = await judgeRun(place);
  const identical = courses.filter(({ is }) => is === 'same').length;
  const other = courses.find(({ is }) => is !== 'same');
  const same = other ? `, ${identical} of ${courses.length} identical` : '';
  const replayed = `replayed ${foundAgain} of ${courses.length}${same}`;
  return {
    minimal: minimal ?? found,
    replayed: courses.length === 0 ? `not replayed: ${isStopped() ? STOPPED : SPENT}` : replayed,
    differs: other ? [courseWords(other), ...differenceLines(other, pins, pins)] : [],
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

/** Why something was left undone. */
const STOPPED = 'it was stopped';
const SPENT = 'the budget was spent';

export interface ToldFinding {
  /** Seconds from the hunt's begin until it was found. */
  after: number;
  again: string;
  differs: readonly string[];
  /** What plays it again. */
  reproduce: string;
  /** What shrinks it to the end. */
  shrink: string;
  messages: string;
  wasStopped: boolean;
}

export function findingText({ found, schedule, faults, shrunk, same, order }: NewFinding, told: ToldFinding): string {
  const after = `after ${plural(schedule, 'schedule')} (${told.after.toFixed(1)} s)`;
  const shrinking = order ? `with ${plural(faults, 'fault')}` : shrinkingText(faults, shrunk, told.wasStopped);
  const minimal = order
    ? `  in this order: ${order.course.join('; ')}`
    : `  ${shrunk.isMinimal ? 'minimal' : 'schedule'}: ${scheduleText(shrunk)}`;
  return [
    `${WHOSE[found.blame]}, ${after}; ${shrinking}; ${told.again}`,
    ...told.differs.map((line) => `  ${line}`),
    `  ${found.class} (${found.kind}): ${found.sentence}`,
    ...sameLines(same),
    minimal,
    ...(told.messages === '' ? [] : [told.messages]),
    `Reproduce: ${told.reproduce}`,
    ...(!order && shrunk.wasStopped ? [`Shrink it: ${told.shrink}`] : []),
  ].join('\n');
}

function shrinkingText(
  faults: number,
  { steps, executions, isMinimal, wasStopped }: Shrunk,
  isByUser: boolean,
): string {
  const why = isByUser ? STOPPED : SPENT;
  if (executions === 0 && wasStopped) return `not shrunk, with ${plural(faults, 'fault')}: ${why}`;
  const to = `shrunk from ${plural(faults, 'fault')} to ${steps.length} in ${executions} executions`;
  if (isMinimal) return to;
  return `${to}, and not further${wasStopped ? `: ${why}` : ''}`;
}

function sameLines(same: readonly Discovery[]): string[] {
  const shown = same.map(discoveryWords);
  return shown.length === 0 ? [] : [`  the same mistake also shows as ${listed([...new Set(shown)])}`];
}

export function discoveryWords({ class: of, kind, cause }: Discovery): string {
  return `${of} (${kind}${cause === 'unexplained' ? ', without a proven cause' : ''})`;
}

/** "2 clients (c1 3 turns, c2 1), 1.5 s, pause of c1 from 0.7 to 1.2 s" */
export function scheduleText({ clients, keys, timeLimitMs, turns, steps }: Shrunk): string {
  const taken = Object.entries(turns ?? {}).map(
    ([slot, n], at) => `${slot} ${n}${at > 0 ? '' : n === 1 ? ' turn' : ' turns'}`,
  );
  const who = `${clients} clients${taken.length > 0 ? ` (${taken.join(', ')})` : ''}`;
  const what = steps.length === 0 ? 'no fault at all' : steps.map(stepText).join('; ');
  return [who, ...(keys > 1 ? [`${keys} keys`] : []), `${timeLimitMs / 1e3} s`, what].join(', ');
}

/** "delay of r1 (delayMs 50, direction out) from 0.655 to 1.319 s" */
function stepText(step: PlanStep): string {
  const whom = typeof step.target === 'string' ? step.target : step.target.names.join(', ');
  const args = Object.entries(step.args ?? {}).map(([name, value]) => `${name} ${value}`);
  const fromMs = 'atMs' in step ? step.atMs : 0;
  const at = (ms: number) => (ms / 1e3).toFixed(3);
  const what = `${step.fault} of ${whom}${args.length > 0 ? ` (${args.join(', ')})` : ''}`;
  if ('atMs' in step && step.aim)
    return `${what} ${aimWords(step.aim)} from ${at(fromMs)} s on, for ${at(step.forMs)} s`;
  return `${what} from ${at(fromMs)} to ${at(fromMs + step.forMs)} s`;
}
