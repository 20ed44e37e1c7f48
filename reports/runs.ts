/** `runs/index.html`: every run in a row, newest first, to be filtered. Readable without its script, which only filters. */
import { className } from '../harness/record/facts/classes.js';
import { fewWords, firstWords, type Tone, toneOf } from '../harness/record/facts/verdict-words.js';
import { count, durationOfMs, plural } from '../harness/record/facts/words.js';
import { clipped } from '../harness/record/schemas/foreign-text.js';
import type { RunConfig } from '../harness/vocabulary/run.js';
import type { Results } from '../harness/vocabulary/verdict.js';
import { type Markup, markup } from './markup.js';
import { pageFrame } from './page/frame.js';

/** What the list tells of a run. */
export interface RunRow {
  runId: string;
  startedAt: string;
  /** `none`: it was ended before it had one. */
  verdict: Tone | 'none';
  /** The verdict in words, and whose mistake it is, without the reasons. */
  words: string;
  headline: string;
  lock: string;
  topology: string;
  runtime: string;
  nemesis: string[];
  seed: number;
  timeLimitMs: number;
  found: Results['found'];
  causes: string[];
  holds: number;
  /** Whether its folder has a report. */
  report: boolean;
}

/** The row of a run; `results` absent: it was not judged. */
export function runRow(config: RunConfig, results: Results | undefined, report: boolean): RunRow {
  return {
    runId: config.runId,
    startedAt: config.startedAt,
    verdict: results ? toneOf(results) : 'none',
    words: results ? fewWords(results) : 'none',
    headline: results
      ? `${firstWords(results)}. ${results.headline}`
      : 'It has no verdict: it is still going on, or was ended before.',
    lock: config.lock,
    topology: config.topology,
    runtime: config.runtime,
    nemesis: config.nemesis,
    seed: config.seed,
    timeLimitMs: config.timeLimitMs,
    found: results?.found ?? {},
    causes: [...new Set(results?.violations.map(({ cause }) => cause.name))].slice(0, 6),
    holds: results?.stats.holds ?? 0,
    report,
  };
}

const SIGNS: Record<RunRow['verdict'], string> = { held: '✓', passed: '!', violated: '✗', unknown: '?', none: '–' };
const STATES: Record<string, string> = { held: 'good', violated: 'bad' };
/** Rows of the page; of more runs the newest are shown. */
const MOST_ROWS = 2_000;

export function runsPage(rows: readonly RunRow[]): string {
  const newest = [...rows].sort((a, b) => (a.startedAt < b.startedAt ? 1 : a.startedAt > b.startedAt ? -1 : 0));
  const shown = newest.slice(0, MOST_ROWS);
  const verdicts = (['violated', 'unknown', 'passed', 'held', 'none'] as const).filter((verdict) =>
    rows.some((row) => row.verdict === verdict),
  );
  const tally = verdicts.map((verdict) => `${count(rows.filter((row) => row.verdict === verdict).length)} ${verdict}`);
  return pageFrame({
    title: 'lock-torture: runs',
    script: 'runs',
    body: markup`<h1>Runs</h1>
<p>${plural(rows.length, 'run')}: ${tally.join(', ')}.${shown.length < rows.length ? ` The newest ${count(shown.length)} are listed.` : ''}</p>
<form class="tools only-scripted" id="filter" role="search"><input type="search" id="words" aria-label="Words that a run must have" placeholder="lock, topology, fault, cause, seed…" size="34">${verdicts.map((verdict) => markup`<label><input type="checkbox" name="verdict" value="${verdict}" checked=""> ${verdict}</label>`)}<output id="matching" class="muted"></output></form>
<div class="scroll"><table class="runs"><thead><tr><th>verdict</th><th>lock</th><th>on</th><th>faults</th><th>found</th><th>holds</th><th>seed</th><th>run</th></tr></thead><tbody>${shown.map(rowMarkup)}</tbody></table></div>`,
  });
}

function rowMarkup(row: RunRow): Markup {
  const found = Object.entries(row.found).filter(([, times]) => (times ?? 0) > 0);
  const classes = found.map(([name, times]) => `${className(name)} ×${count(times ?? 0)}`);
  const causes = row.causes.length === 0 ? '' : `: ${row.causes.join(', ')}`;
  const id = clipped(row.runId, 120);
  const link = row.report
    ? markup`<a href="${`./${encodeURIComponent(row.runId)}/report.html`}">${id}</a>`
    : markup`${id}`;
  return markup`<tr data-verdict="${row.verdict}"><td><span class="state ${STATES[row.verdict] ?? 'doubt'}">${SIGNS[row.verdict] ?? '?'} ${clipped(row.words, 200)}</span></td><td>${clipped(row.lock, 120)}</td><td>${row.topology}, ${row.runtime}</td><td>${clipped(row.nemesis.join(', ') || 'none', 200)}</td><td title="${clipped(row.headline, 400)}">${classes.length === 0 ? '' : clipped(`${classes.join(', ')}${causes}`, 300)}</td><td class="number" data-of="holds">${count(row.holds)}</td><td class="number" data-of="seed">${String(row.seed)}</td><td class="nowrap">${link}<br><span class="note">${row.startedAt.replace('T', ' ').slice(0, 19)}, ${durationOfMs(row.timeLimitMs)}</span></td></tr>`;
}
