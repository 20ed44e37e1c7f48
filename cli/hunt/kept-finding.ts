/** What a hunt keeps of a finding, and what it says of it. */
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { aimWords } from '../../harness/record/facts/aim-words.js';
import { writeJson } from '../../harness/record/store.js';
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { Violation } from '../../harness/vocabulary/verdict.js';
import { messagesText } from '../../reports/index.js';
import { type JudgedRun, judgeRun } from '../judge/judge.js';
import { comparePlays, courseWords, differenceLines, messagesOfPlay, type SameOrNot } from './difference.js';
import { orderAgain } from './exhaustive/course.js';
import { FINDING, LOCK_MODULE, pinsOf } from './finding.js';
import type { NewFinding } from './hunt.js';
import { type Discovery, discoveryOf, fingerprintOf } from './schedule.js';
import type { Shrunk } from './shrink.js';
import { type WorldOptions, WorldProcess } from './world-process.js';

/** How often a minimal schedule is played again, each time in a process of its own. */
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

/**
 * Keeps the minimal schedule with its run, and plays it again until it is stopped; resolves with what it finds, and how often it did
 * again.
 */
export async function keepFinding(
  place: string,
  config: RunConfig,
  { found, fingerprint, schedule, shrunk, order }: NewFinding,
  options: WorldOptions,
  isStopped: () => boolean = () => false,
): Promise<KeptFinding> {
  const plan = { version: 1 as const, seed: config.seed, steps: shrunk.steps };
  const again = join(options.workFolder, 'again');
  const play = async (keep: string) => {
    const world = new WorldProcess(options);
    try {
      const result = await world.play(config, plan, { keep, ...(order && { order: orderAgain(order) }) });
      const same = result.found.find((one) => fingerprintOf(one) === fingerprint);
      return { digest: result.digest, messages: messagesOfPlay(keep), same };
    } finally {
      await world.close();
    }
  };
  const first = await play(place);
  const courses: SameOrNot[] = [];
  let [minimal, foundAgain] = [first.same, 0];
  while (courses.length < REPLAYS && !isStopped()) {
    const replay = await play(again);
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
  return {
    minimal: minimal ?? found,
    replayed: `replayed ${foundAgain} of ${courses.length}${same}`,
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

export function findingText(
  { found, schedule, faults, shrunk, order }: NewFinding,
  told: { after: number; again: string; differs: readonly string[]; reproduce: string; messages: string },
): string {
  const count = (n: number) => `${n} fault${n === 1 ? '' : 's'}`;
  const after = `after ${schedule} schedule${schedule === 1 ? '' : 's'} (${told.after.toFixed(1)} s)`;
  const shrinking = order
    ? `with ${count(faults)}`
    : `shrunk from ${count(faults)} to ${shrunk.steps.length} in ${shrunk.executions} executions${shrunk.isMinimal ? '' : ', and not further'}`;
  const minimal = order ? `  in this order: ${order.course.join('; ')}` : `  minimal: ${scheduleText(shrunk)}`;
  return [
    `${WHOSE[found.blame]}, ${after}; ${shrinking}; ${told.again}`,
    ...told.differs.map((line) => `  ${line}`),
    `  ${found.class} (${found.kind}): ${found.sentence}`,
    minimal,
    ...(told.messages === '' ? [] : [told.messages]),
    `Reproduce: ${told.reproduce}`,
  ].join('\n');
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
