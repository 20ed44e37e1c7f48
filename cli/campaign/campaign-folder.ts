/**
 * A campaign on disk: `campaign.json` says what was asked, `runs/` has a folder for each run, `tries/<finding>/` one for each
 * replay of a known finding. Nothing else is its state, so it may end at any moment, and begin again.
 *
 * A run is finished once its results are whole on disk. One that the user ended early is not, unless it is violated by then: a
 * finding stands, while a pass of half the time is none.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { bearingOf } from '../../harness/record/facts/blame.js';
import { conform } from '../../harness/record/schemas/conform.js';
import { describes } from '../../harness/record/schemas/describes.js';
import { readConfig, readJson, readPlan, readResults } from '../../harness/record/store.js';
import type { LeastWorth } from '../../harness/vocabulary/run.js';
import type { Results, StruckByFault } from '../../harness/vocabulary/verdict.js';
import { UsageError } from '../common/errors.js';
import { discoveriesOf, fingerprintOf } from '../hunt/schedule.js';
import { type KnownFinding, knownSchema } from '../run/known.js';
import type { CampaignMachine } from './campaign-machine.js';
import type { AskedOf } from './earlier.js';
import { type Grid, type JobOutcome, jobOf } from './grid.js';

export interface Campaign extends Grid {
  version: 1;
  /** Tried again first. */
  known: KnownFinding[];
  /** How often each. */
  tries: number;
  /** Of a cell, over all its runs; absent: nothing is asked for. */
  atLeast?: LeastWorth;
  /** In virtual time: its cells are those of hunts. */
  hunt?: true;
  /** Each part may have another. Absent: nothing was asked for, or an earlier version began it. */
  machine?: CampaignMachine;
}

const campaignSchema = describes<Campaign>()(
  z.object({
    version: z.literal(1),
    cells: z.array(
      z.object({
        lock: z.string(),
        topology: z.string(),
        nemesis: z.string(),
        workload: z.string(),
        hold: z.string().optional(),
        argv: z.array(z.string()),
      }),
    ),
    seed: z.number(),
    runs: z.number().optional(),
    shard: z.object({ index: z.number(), of: z.number() }),
    known: z.array(knownSchema),
    tries: z.number(),
    atLeast: z
      .object({
        holds: z.number().optional(),
        strikes: z.number().optional(),
        struckHolds: z.number().optional(),
      })
      .optional(),
    hunt: z.literal(true).optional(),
    machine: z
      .object({
        runtime: z.string().optional(),
        server: z.string().optional(),
        image: z.string().optional(),
        clientImage: z.string().optional(),
      })
      .optional(),
  }),
);

/** What one run found; `fails`: it fails the run. */
export interface RunFinding {
  fingerprint: string;
  sentence: string;
  fails: boolean;
}

export interface FinishedRun {
  seed: number;
  runId: string;
  folder: string;
  startedAt: string;
  verdict: Results['verdict'];
  exitStatus: Results['exitStatus'];
  headline: string;
  reproduce: string;
  holds: number;
  /** None where an earlier version made it: nobody has counted them. */
  strikes: number;
  struckHolds: number;
  /** Of those, by fault and length of hold; absent: there were no faults, or an earlier version made it. */
  struck?: StruckByFault;
  /** It was played in virtual time: what it struck is counted apart. */
  virtualTime?: true;
  /** Of its plan. */
  faults: number;
  /** Each thing once. */
  found: RunFinding[];
  /** Were it not for what fails it, it could not tell. Absent: it could, or nothing fails it. */
  open?: true;
}

/** `cell`: which of the grid's. */
export interface CellRun extends FinishedRun {
  cell: number;
}

export const CAMPAIGN = 'campaign.json';
const CUT_SHORT = 'cut-short';

export function isCampaign(folder: string): boolean {
  return existsSync(join(folder, CAMPAIGN));
}

export function readCampaign(folder: string): Campaign {
  if (!isCampaign(folder))
    throw new UsageError(`${folder} is no campaign's folder (it has no ${CAMPAIGN}): name the --out of a campaign`);
  return readJson(folder, CAMPAIGN, (data) => conform(campaignSchema, data));
}

/** What was asked, which all parts of a campaign have in common; of one that was read from its folder. */
export function askedIn({ shard: _, machine: __, ...whole }: Campaign): AskedOf {
  return { seed: whole.seed, digest: createHash('sha256').update(JSON.stringify(whole)).digest('hex') };
}

export function runsFolder(folder: string): string {
  return join(folder, 'runs');
}

export function triesFolder(folder: string, slug: string): string {
  return join(folder, 'tries', slug);
}

/** The campaign's finished runs, in the order in which they began. */
export function cellRunsIn(folder: string, grid: Grid): CellRun[] {
  return finishedIn(runsFolder(folder)).flatMap((run) => {
    const job = jobOf(grid, run.seed);
    return job ? [{ ...run, cell: job.cell }] : [];
  });
}

/** Finished runs below `base`, in the order in which they began. */
export function finishedIn(base: string): FinishedRun[] {
  const folders = runFolders(base).filter(isFinished);
  return folders.map(finishedRun).sort(byBeginning);
}

const failedSchema = z.object({ failed: z.array(z.string()) });

/** Runs that a campaign on servers could not make, each with the reason; it is known only by what it said of itself at last. */
export function failedIn(folder: string): string[] {
  if (!existsSync(join(folder, 'summary.json'))) return [];
  return readJson(folder, 'summary.json', (data) => conform(failedSchema, data)).failed;
}

export function toldOf({ cell, seed, struckHolds, struck, found }: CellRun): JobOutcome {
  const fingerprints = found.map(({ fingerprint }) => fingerprint);
  return { cell, seed, struckHolds, ...(struck && { struck }), fingerprints };
}

/** By when they began; two of the same millisecond by their ids, so that everybody has the same order. */
export function byBeginning(a: FinishedRun, b: FinishedRun): number {
  const [one, other] = [`${a.startedAt} ${a.runId}`, `${b.startedAt} ${b.runId}`];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Runs below `base` that have not ended end early: must be said before they are asked to. */
export function markCutShort(base: string): void {
  for (const folder of runFolders(base))
    if (!existsSync(join(folder, 'results.json'))) writeFileSync(join(folder, CUT_SHORT), '');
}

/** What was not finished below `base`. Only for whom alone is at the campaign, while none of its runs goes on. */
export function removeUnfinished(base: string): void {
  for (const folder of runFolders(base)) if (!isFinished(folder)) rmSync(folder, { recursive: true, force: true });
}

/** The folder's run; it must be finished. */
export function finishedRun(folder: string): FinishedRun {
  const config = readConfig(folder);
  const results = readResults(folder)!;
  const { verdict, exitStatus, headline, stats, struck, reproduce } = results;
  const found = new Map<string, RunFinding>();
  for (const discovery of discoveriesOf(results)) {
    const fingerprint = fingerprintOf(discovery);
    const bearing = bearingOf({ class: discovery.class, blame: { on: discovery.blame } }, config.failOn);
    const fails = bearing === 'fails' || found.get(fingerprint)?.fails === true;
    const { sentence } = found.get(fingerprint) ?? discovery;
    found.set(fingerprint, { fingerprint, sentence, fails });
  }
  return {
    seed: config.seed,
    runId: config.runId,
    folder,
    startedAt: config.startedAt,
    verdict,
    exitStatus,
    headline,
    reproduce,
    holds: stats.holds ?? 0,
    strikes: stats.strikes ?? 0,
    struckHolds: stats.struckHolds ?? 0,
    ...(struck && { struck }),
    ...(results.virtualTime !== undefined && { virtualTime: true as const }),
    faults: readPlan(folder).steps.length,
    found: [...found.values()],
    ...(isOpen(results) && { open: true as const }),
  };
}

/** Of what is only counted, nobody knows what it is. */
function isOpen({ verdict, open, found, violations }: Results): boolean {
  const all = Object.values(found).reduce((sum, times) => sum + times, 0);
  return verdict === 'violated' && (open !== undefined || all > violations.length);
}

export function isFinished(folder: string): boolean {
  if (!existsSync(join(folder, 'results.json'))) return false;
  return !existsSync(join(folder, CUT_SHORT)) || readResults(folder)?.verdict === 'violated';
}

function runFolders(base: string): string[] {
  if (!existsSync(base)) return [];
  const entries = readdirSync(base, { withFileTypes: true });
  return entries.filter((one) => one.isDirectory()).map(({ name }) => join(base, name));
}
