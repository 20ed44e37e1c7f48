/**
 * Campaigns beside one, for the trend over them: what each came to and when, by its `summary.json` alone. So one that was merged
 * counts as one that a single machine made, and a folder of which nothing but the summary was kept does as well.
 */
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { conform } from '../../harness/record/schemas/conform.js';
import { readJson } from '../../harness/record/store.js';
import type { SheetCell } from '../../reports/index.js';
import { isOfVirtualTime, strikesApart } from './strikes-apart.js';

/** What tells a campaign from others; all its parts have the same, and so has what they are merged into. */
export interface AskedOf {
  /** The first of its seeds. */
  seed: number;
  /** Of all that was asked, but for which part it is. */
  digest: string;
}

/** When the first and the last of its runs began, as ISO texts. */
export interface Began {
  first: string;
  last: string;
}

/** What a summary says for the trend. */
export interface TrendSummary {
  asked?: AskedOf | undefined;
  /** Absent: it has no run. */
  began?: Began | undefined;
  findings: readonly { lock: string; topology: string; fingerprint: string }[];
  coverage: readonly {
    cell: { lock: string; topology: string };
    runs: number;
    /** Absent in summaries of earlier versions. */
    strikes?: number | undefined;
    verdicts: { violated: number };
  }[];
}

/** A campaign beside one: `id` is the name of its folder. */
export interface CampaignBeside {
  id: string;
  summary: TrendSummary;
}

/** So many of the latest are rows; what older ones found counts as seen. */
const ROWS = 30;

const summarySchema = z.object({
  asked: z.object({ seed: z.number(), digest: z.string() }).optional(),
  began: z.object({ first: z.string(), last: z.string() }).optional(),
  findings: z.array(z.object({ lock: z.string(), topology: z.string(), fingerprint: z.string() })),
  coverage: z.array(
    z.object({
      cell: z.object({ lock: z.string(), topology: z.string() }),
      runs: z.number(),
      strikes: z.number().optional(),
      verdicts: z.object({ violated: z.number() }),
    }),
  ),
});

/** All in the same folder as `folder`, but itself, in the order of their names. */
export function campaignsBeside(folder: string): CampaignBeside[] {
  const base = dirname(folder);
  return readdirSync(base, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== basename(folder))
    .map(({ name }) => name)
    .sort()
    .flatMap((id) => {
      try {
        return [{ id, summary: readJson(join(base, id), 'summary.json', (data) => conform(summarySchema, data)) }];
      } catch {
        return []; // no campaign, or one that came to nothing yet, is in virtual time or damaged: no report needs it
      }
    });
}

/**
 * Of those beside it, which began before `own` and are about one of its locks on one of its topologies, in the order in which they
 * began. None that is a part of `own`, or of another that is told; none of which nobody knows when it was.
 */
export function earlierThan(own: TrendSummary, beside: readonly CampaignBeside[]): CampaignBeside[] {
  const pairs = new Set(pairsOf(own));
  const dated = [...beside].sort((a, b) => compare(firstOf(a.summary), firstOf(b.summary)) || compare(a.id, b.id));
  return dated.filter(
    ({ id, summary }) =>
      summary.began !== undefined &&
      own.began !== undefined &&
      summary.began.first < own.began.first &&
      pairsOf(summary).some((pair) => pairs.has(pair)) &&
      !isWithin(summary, own) &&
      !isWithin(own, summary) &&
      !dated.some((other) => other.id !== id && isTold(other, { id, summary })),
  );
}

/** The rows of the table over campaigns, `own` the last; none where no other is told. */
export function trendOver(earlier: readonly CampaignBeside[], own: TrendSummary): SheetCell[][] {
  if (earlier.length === 0) return [];
  const seen = new Set<string>();
  const rows = [...earlier, { id: 'this one', summary: own }].map(({ id, summary }) => {
    const { findings, coverage } = summary;
    const sum = (of: (row: (typeof coverage)[number]) => number) => coverage.reduce((all, row) => all + of(row), 0);
    const found = findings.map((one) => `${one.lock} ${one.topology} ${one.fingerprint}`);
    const fresh = found.filter((one) => !seen.has(one));
    for (const one of found) seen.add(one);
    return [
      id,
      summary.began === undefined ? '–' : `${summary.began.first.slice(0, 16).replace('T', ' ')} UTC`,
      String(sum(({ runs }) => runs)),
      String(sum(({ verdicts }) => verdicts.violated)),
      ...[found.length, fresh.length].map(String),
      strikesApart(strikesOf(coverage, false), strikesOf(coverage, true)),
    ];
  });
  return rows.slice(-ROWS);
}

/** Undefined: there is no such row, or of none of them anybody has counted. */
function strikesOf(coverage: TrendSummary['coverage'], virtual: boolean): number | undefined {
  const counts = coverage.flatMap(({ cell, strikes }) => (isOfVirtualTime(cell) === virtual ? (strikes ?? []) : []));
  return counts.length === 0 ? undefined : counts.reduce((all, one) => all + one, 0);
}

/** Whether what `one` says is in `other` already: that has it as a part, or is the same merged once more. */
function isTold(other: CampaignBeside, one: CampaignBeside): boolean {
  if (!isWithin(one.summary, other.summary)) return false;
  if (!isWithin(other.summary, one.summary)) return true;
  const [more, less] = [runsOf(other.summary), runsOf(one.summary)];
  return more > less || (more === less && other.id < one.id);
}

/** The same was asked, and the runs of `part` began while those of `whole` did: one that was made again later is another. */
function isWithin(part: TrendSummary, whole: TrendSummary): boolean {
  if (!part.began || !whole.began || !part.asked || !whole.asked) return false;
  return (
    part.asked.seed === whole.asked.seed &&
    part.asked.digest === whole.asked.digest &&
    whole.began.first <= part.began.first &&
    part.began.last <= whole.began.last
  );
}

function pairsOf({ coverage }: TrendSummary): string[] {
  return coverage.map(({ cell: { lock, topology } }) => `${lock} ${topology}`);
}

function runsOf({ coverage }: TrendSummary): number {
  return coverage.reduce((all, { runs }) => all + runs, 0);
}

function firstOf({ began }: TrendSummary): string {
  return began?.first ?? '';
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
