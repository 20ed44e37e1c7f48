/**
 * `campaign --hunt`: the budget is spent in virtual time. A job is one schedule of one cell, and the same whoever plays it, in
 * whatever order and however often: so parts of a campaign, merged, say to the byte what one machine would have said.
 *
 * `schedules.jsonl` has a line for each schedule that was played; it is all the state there is, but for what is known already:
 * `tries/` has a folder for each, with its schedule and what came of playing that again. `known/` has the shortest replay of each
 * finding, made when the schedules are over.
 */
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { temporaryFolder } from '../../harness/machine/private-folder.js';
import { bearingOf } from '../../harness/record/facts/blame.js';
import { conform } from '../../harness/record/schemas/conform.js';
import { describes } from '../../harness/record/schemas/describes.js';
import { readJson, readPlan, readWholeConfig, writeJson } from '../../harness/record/store.js';
import type { RedisBinary } from '../../harness/vocabulary/topology.js';
import { LockLog, sayingPrinted } from '../common/lock-log.js';
import { commandLine } from '../common/reproduce.js';
import type { Say } from '../common/say.js';
import { comparePlays, differenceWords, messagesOfPlay } from '../hunt/difference.js';
import { orderAgain } from '../hunt/exhaustive/course.js';
import { changedPins, isFinding, pinsOf, readFinding } from '../hunt/finding.js';
import { type AskedHunt, addHuntFlags, askHunt, type HuntFlags } from '../hunt/flags.js';
import { scheduleOf } from '../hunt/generation.js';
import { configOf, scheduling } from '../hunt/hunt-command.js';
import { keepFinding } from '../hunt/kept-finding.js';
import { playInWorld } from '../hunt/play-all.js';
import { fingerprintOf } from '../hunt/schedule.js';
import { lessOf, shrinkFinding } from '../hunt/shrink-finding.js';
import { coresOfThisProcess, EndlessScheduleError, type WorldOptions, WorldProcess } from '../hunt/world-process.js';
import { parseFlags } from '../run/flags.js';
import { identityOf, type KnownFinding, slugOf } from '../run/known.js';
import { putLoadedLock } from '../run/lock-module.js';
import { CLIENT_ARGV } from '../run/simulated-client.js';
import type { Simulation } from '../run/simulation.js';
import type { Campaign } from './campaign-folder.js';
import type { GridCell } from './grid.js';

/** One schedule that was played. */
export interface PlayedSchedule {
  /** Which of the campaign's jobs, from 0 on. */
  job: number;
  verdict: 'held' | 'violated' | 'unknown' | 'endless';
  digest: string;
  holds: number;
  /** Absent: an earlier version played it. */
  strikes?: number | undefined;
  struckHolds: number;
  /** `open`: it may be the lock's mistake, which would fail it. */
  found: { fingerprint: string; sentence: string; fails: boolean; open?: true }[];
}

const playedSchema = describes<PlayedSchedule>()(
  z.object({
    job: z.number().int().min(0),
    verdict: z.enum(['held', 'violated', 'unknown', 'endless']),
    digest: z.string(),
    holds: z.number(),
    strikes: z.number().optional(),
    struckHolds: z.number(),
    found: z.array(
      z.object({
        fingerprint: z.string(),
        sentence: z.string(),
        fails: z.boolean(),
        open: z.literal(true).optional(),
      }),
    ),
  }),
);

const SCHEDULES = 'schedules.jsonl';
const KNOWN = 'known';
const TRIES = 'tries';
const REPLAY = 'replay';
const AGAIN = 'again.json';

/** What was played, each job once, in their order. A line that a killed process did not end is not there. */
export function playedIn(folder: string): PlayedSchedule[] {
  const path = join(folder, SCHEDULES);
  if (!existsSync(path)) return [];
  const byJob = new Map<number, PlayedSchedule>();
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const played = parsed(line);
    if (played) byJob.set(played.job, played);
  }
  return [...byJob.values()].sort((a, b) => a.job - b.job);
}

function parsed(line: string): PlayedSchedule | undefined {
  try {
    return playedSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined; // half a line
  }
}

/** Which of a cell's schedules a job is, from 1 on; and which cell. */
function placeOf(job: number, cells: readonly unknown[]): { cell: number; number: number } {
  return { cell: job % cells.length, number: Math.floor(job / cells.length) + 1 };
}

/** What a cell's flags ask of a hunt. */
export function huntOf({ argv }: GridCell, cwd: string): AskedHunt {
  const { flags, given } = parseFlags<HuntFlags>(addHuntFlags, argv);
  return askHunt(flags, { argv, cwd, given });
}

export interface Playing {
  campaign: Campaign;
  folder: string;
  simulation: Simulation;
  cwd: string;
  jobs: number;
  goesOn(): boolean;
  say: Say;
  /** A schedule is over. */
  onPlayed(played: PlayedSchedule, cell: GridCell): void;
}

/** Plays what is this part's and was not played, then keeps the shortest replay of each finding that has none. */
export async function playCampaign(playing: Playing): Promise<void> {
  const { campaign, folder, goesOn, onPlayed } = playing;
  const { cells, runs = Number.POSITIVE_INFINITY, shard } = campaign;
  // Not in the campaign's folder: one that is killed would leave it there.
  using scratch = temporaryFolder();
  const work = scratch.path;
  endLine(join(folder, SCHEDULES));
  const done = new Set(playedIn(folder).map(({ job }) => job));
  const theirs: CellAtPlay[] = [];
  try {
    const printed = sayingPrinted(new LockLog(), playing.say);
    for (const [n, cell] of cells.entries()) theirs.push(await cellAtPlay(cell, n, work, { ...playing, printed }));
    await tryKnown(playing, theirs);
    let next = shard.index - 1;
    const worker = async (which: number) => {
      while (goesOn()) {
        while (done.has(next)) next += shard.of;
        if (next >= runs) return;
        const job = next;
        next += shard.of;
        const { cell, number } = placeOf(job, cells);
        const played = await play(theirs[cell]!, which, job, number, campaign.seed);
        appendFileSync(join(folder, SCHEDULES), `${JSON.stringify(played)}\n`);
        onPlayed(played, cells[cell]!);
      }
    };
    await Promise.all(Array.from({ length: playing.jobs }, (_, which) => worker(which)));
    await keepReplays(playing, theirs);
  } finally {
    const worlds = theirs.flatMap((cell) => [...cell.worlds, cell.second]);
    await Promise.all(worlds.map((world) => world.close()));
  }
}

/** What follows begins a line of its own, whatever a killed process had begun. */
function endLine(path: string): void {
  if (existsSync(path) && !readFileSync(path, 'utf8').endsWith('\n')) writeFileSync(path, '\n', { flag: 'a' });
}

/** What came of playing a known finding's schedule again. */
export interface TriedSchedule {
  seen: boolean;
  /** It counts as a violated run would. */
  fails: boolean;
  /** Its course of events beside the one that was found; absent: an earlier version tried it, which did not compare them. */
  course?: string;
}

const triedSchema = describes<TriedSchedule>()(
  z.object({ seen: z.boolean(), fails: z.boolean(), course: z.string().optional() }),
);

/** Lays the schedules of known findings into a campaign's folder, so that it goes on without the folder that they are from. */
export function takeKnown(campaign: Campaign, from: string, folder: string): void {
  for (const known of campaign.known)
    if (known.replay !== undefined)
      cpSync(join(from, known.replay), join(folder, TRIES, slugOf(known), REPLAY), { recursive: true });
}

/** What came of it, by a campaign's folder; undefined: it has no schedule, or was not tried yet. */
export function triedIn(folder: string, known: KnownFinding): TriedSchedule | undefined {
  const place = join(folder, TRIES, slugOf(known));
  return existsSync(join(place, AGAIN)) ? readJson(place, AGAIN, (data) => conform(triedSchema, data)) : undefined;
}

/** First what is known, once each: the same schedule comes to the same with the same lock. */
async function tryKnown(
  { campaign, folder, simulation, goesOn }: Playing,
  theirs: readonly CellAtPlay[],
): Promise<void> {
  for (const known of campaign.known) {
    const place = join(folder, TRIES, slugOf(known));
    const cell = campaign.cells.findIndex((one) => one.lock === known.lock && one.topology === known.topology);
    if (!goesOn() || cell < 0 || !existsSync(join(place, REPLAY)) || triedIn(folder, known)) continue;
    const at = join(place, REPLAY);
    const config = { ...readWholeConfig(at), redis: simulation.redis, clientArgv: CLIENT_ARGV };
    const { order, digest, pins } = readFinding(at);
    const { worlds, options } = theirs[cell]!;
    const keep = join(options.workFolder, 'again');
    const result = await worlds[0]!.play(config, readPlan(at), { keep, ...(order && { order: orderAgain(order) }) });
    const course = comparePlays(
      { digest, messages: messagesOfPlay(at) },
      { digest: result.digest, messages: messagesOfPlay(keep) },
    );
    rmSync(keep, { recursive: true, force: true });
    const changed = changedPins(pins, pinsOf(options.lock, config.redis.path, options.shim));
    const same = result.found.filter((one) => fingerprintOf(one) === known.fingerprint);
    const fails = same.some(
      (one) => bearingOf({ class: one.class, blame: { on: one.blame } }, config.failOn) === 'fails',
    );
    writeJson(place, AGAIN, { seen: same.length > 0, fails, course: differenceWords(course, changed) });
  }
}

interface CellAtPlay {
  asked: AskedHunt;
  config: ReturnType<typeof configOf>;
  options: WorldOptions;
  /** One for each that plays at once. */
  worlds: WorldProcess[];
  /** Plays again what is kept. */
  second: WorldProcess;
}

async function cellAtPlay(
  cell: GridCell,
  n: number,
  work: string,
  { simulation, cwd, jobs, printed }: Playing & Pick<WorldOptions, 'printed'>,
): Promise<CellAtPlay> {
  const { shim, redis } = simulation;
  const asked = huntOf(cell, cwd);
  const workFolder = join(work, String(n));
  mkdirSync(workFolder, { recursive: true });
  const lock = await putLoadedLock(asked.run.settings.lock, cwd, workFolder);
  const options = { workFolder, shim, lock, printed };
  const cores = coresOfThisProcess();
  return {
    asked,
    config: configFor(asked, redis, n),
    options,
    second: new WorldProcess(options),
    worlds: Array.from({ length: jobs }, (_, i) => new WorldProcess({ ...options, core: cores[i % cores.length]! })),
  };
}

/** The same on every machine and at every time, for it is a part of what a schedule is. */
function configFor(asked: AskedHunt, redis: RedisBinary, cell: number): ReturnType<typeof configOf> {
  return {
    ...configOf(asked, redis, `cell-${cell}`, 'a schedule of a campaign'),
    startedAt: new Date(0).toISOString(),
  };
}

function scheduleFor({ asked, config }: CellAtPlay, number: number, seed: number) {
  return scheduleOf(number, { seed, config, ...scheduling(asked) });
}

async function play(
  cell: CellAtPlay,
  which: number,
  job: number,
  number: number,
  seed: number,
): Promise<PlayedSchedule> {
  const { config } = cell;
  const result = await playInWorld(cell.worlds[which]!, scheduleFor(cell, number, seed), config);
  if (result instanceof EndlessScheduleError)
    return { job, verdict: 'endless', digest: '', holds: 0, strikes: 0, struckHolds: 0, found: [] };
  const { verdict, digest, holds, strikes, struckHolds } = result;
  const found = new Map<string, PlayedSchedule['found'][number]>();
  for (const one of result.found) {
    const fingerprint = fingerprintOf(one);
    const bearing = bearingOf({ class: one.class, blame: { on: one.blame } }, config.failOn);
    const { sentence } = found.get(fingerprint) ?? one;
    const fails = bearing === 'fails' || found.get(fingerprint)?.fails === true;
    found.set(fingerprint, { fingerprint, sentence, fails, ...(bearing === 'open' && { open: true }) });
  }
  return { job, verdict, digest, holds, strikes, struckHolds, found: [...found.values()] };
}

/** What was found, each once: where first. */
export function firstSeen(cells: readonly GridCell[], played: readonly PlayedSchedule[]) {
  const first = new Map<string, { job: number; cell: number; number: number; fingerprint: string; slug: string }>();
  for (const { job, found } of played)
    for (const { fingerprint } of found) {
      const { cell, number } = placeOf(job, cells);
      const { lock, topology } = cells[cell]!;
      const identity = identityOf({ lock, topology, fingerprint });
      if (!first.has(identity))
        first.set(identity, { job, cell, number, fingerprint, slug: slugOf({ lock, topology, fingerprint }) });
    }
  return first;
}

/** Where the replay of a finding is, below a campaign's folder. */
export function replayOf(slug: string): string {
  return join(KNOWN, slug);
}

async function keepReplays({ campaign, folder, say }: Playing, theirs: readonly CellAtPlay[]): Promise<void> {
  for (const { cell, number, fingerprint, slug } of firstSeen(campaign.cells, playedIn(folder)).values()) {
    const place = join(folder, replayOf(slug));
    if (isFinding(place)) continue;
    rmSync(place, { recursive: true, force: true });
    const at = theirs[cell]!;
    const schedule = scheduleFor(at, number, campaign.seed);
    const played = await playInWorld(at.worlds[0]!, schedule, at.config);
    const found =
      played instanceof EndlessScheduleError
        ? undefined
        : played.found.find((one) => fingerprintOf(one) === fingerprint);
    if (!found) {
      say(`note: ${fingerprint} was not found again when its schedule was played once more`);
      continue;
    }
    const toTheEnd = { onEndless() {}, isStopped: () => false };
    const { shrunk } = await shrinkFinding(at.worlds[0]!, schedule, at.config, fingerprint, toTheEnd);
    const less = { ...lessOf(at.config, shrunk), ...(schedule.hold && { hold: schedule.hold }) };
    const config = { ...at.config, ...less, runId: slug, reproduce: commandLine(['replay', place]) };
    const faults = schedule.steps.length;
    const finding = { found, fingerprint, schedule: number, faults, shrunk, same: [] };
    const { options, worlds, second } = at;
    await keepFinding(place, { ...config, seed: shrunk.seed }, finding, { options, world: worlds[0]!, second });
  }
}

/** Copies the replays of a merged campaign, each from the part that saw it first. */
export function takeReplays(
  target: string,
  cells: readonly GridCell[],
  parts: readonly { folder: string; played: readonly PlayedSchedule[] }[],
): void {
  const all = parts.flatMap(({ played }) => played).sort((a, b) => a.job - b.job);
  for (const { job, slug } of firstSeen(cells, all).values()) {
    const from = parts.find(({ played }) => played.some((one) => one.job === job))!;
    const place = join(from.folder, replayOf(slug));
    if (existsSync(place)) cpSync(place, join(target, replayOf(slug)), { recursive: true });
  }
}

/** Copies what came of known findings from whichever part tried them. */
export function takeTries(target: string, { known }: Campaign, parts: readonly { folder: string }[]): void {
  for (const one of known) {
    const from = parts.find(({ folder }) => triedIn(folder, one));
    if (from) cpSync(join(from.folder, TRIES, slugOf(one)), join(target, TRIES, slugOf(one)), { recursive: true });
  }
}
