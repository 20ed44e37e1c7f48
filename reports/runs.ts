/** `runs/index.html`: every run in a row, newest first, to be filtered and sorted. Readable without its script, which does no more. */
import { className } from '../harness/record/facts/classes.js';
import { fewWords, firstWords, type Tone, toneOf } from '../harness/record/facts/verdict-words.js';
import { count, durationOfMs, plural } from '../harness/record/facts/words.js';
import { clipped } from '../harness/record/schemas/foreign-text.js';
import type { RunConfig } from '../harness/vocabulary/run.js';
import type { Results } from '../harness/vocabulary/verdict.js';
import { type Markup, markup } from './markup.js';
import { pageFrame } from './page/frame.js';
import { blameTally } from './words.js';

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
  /** Whose mistakes were found, with how many of each: `the deployment's ×3`. Of more than `results.json` reports, of the first. Empty: nothing was found. */
  whose: string;
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
    whose: blameTally(results?.violations ?? []),
    holds: results?.stats.holds ?? 0,
    report,
  };
}

const SIGNS: Record<RunRow['verdict'], string> = { held: '✓', passed: '!', violated: '✗', unknown: '?', none: '–' };
const STATES: Record<string, string> = { held: 'good', violated: 'bad' };
/** The gravest first: in this order they are listed and sorted. */
const VERDICTS: readonly RunRow['verdict'][] = ['violated', 'unknown', 'passed', 'held', 'none'];
/** Rows of the page; of more runs the newest are shown. */
const MOST_ROWS = 2_000;

/** How a column is sorted: by its words from A on, or by the number that its cells carry, from the `least` or the `most` on. */
const COLUMNS: readonly [name: string, sorts: 'words' | 'least' | 'most'][] = [
  ['verdict', 'least'],
  ['whose mistake', 'words'],
  ['lock', 'words'],
  ['on', 'words'],
  ['faults', 'words'],
  ['found', 'most'],
  ['holds', 'most'],
  ['seed', 'most'],
  ['run', 'words'],
];

export function runsPage(rows: readonly RunRow[]): string {
  const newest = [...rows].sort((a, b) => (a.startedAt < b.startedAt ? 1 : a.startedAt > b.startedAt ? -1 : 0));
  const shown = newest.slice(0, MOST_ROWS);
  const verdicts = VERDICTS.filter((verdict) => rows.some((row) => row.verdict === verdict));
  const tally = verdicts.map((verdict) => `${count(rows.filter((row) => row.verdict === verdict).length)} ${verdict}`);
  return pageFrame({
    title: 'lock-torture: runs',
    script: 'runs',
    body: markup`<h1>Runs</h1>
<p>${plural(rows.length, 'run')}: ${tally.join(', ')}.${shown.length < rows.length ? ` The newest ${count(shown.length)} are listed.` : ''}</p>
<form class="tools only-scripted" id="filter" role="search"><input type="search" id="words" aria-label="Words that a run must have" placeholder="lock, topology, fault, cause, seed…" size="34">${verdicts.map((verdict) => markup`<label><input type="checkbox" name="verdict" value="${verdict}" checked=""> ${verdict}</label>`)}<output id="matching" class="muted"></output></form>
<div class="scroll"><table class="runs"><thead><tr>${COLUMNS.map(([name, sorts]) => markup`<th data-sorts="${sorts}">${name}</th>`)}</tr></thead><tbody>${shown.map(rowMarkup)}</tbody></table></div>`,
  });
}

function rowMarkup(row: RunRow): Markup {
  const found = Object.entries(row.found).filter(([, times]) => (times ?? 0) > 0);
  const all = found.reduce((sum, [, times]) => sum + (times ?? 0), 0);
  const classes = found.map(([name, times]) => `${className(name)} ×${count(times ?? 0)}`);
  const id = clipped(row.runId, 120);
  const link = row.report
    ? markup`<a href="${`./${encodeURIComponent(row.runId)}/report.html`}">${id}</a>`
    : markup`${id}`;
  const causes = row.causes.length === 0 ? undefined : markup`: ${names(row.causes)}`;
  return markup`<tr data-verdict="${row.verdict}"><td data-value="${String(VERDICTS.indexOf(row.verdict))}"><span class="state ${STATES[row.verdict] ?? 'doubt'}">${SIGNS[row.verdict] ?? '?'}\u00a0${clipped(row.words, 200)}</span></td><td>${row.whose}</td><td>${names([row.lock])}</td><td>${names([row.topology, row.runtime])}</td><td class="faults">${names(row.nemesis.length === 0 ? ['none'] : row.nemesis)}</td><td title="${clipped(row.headline, 400)}" data-value="${String(all)}">${all === 0 ? undefined : markup`${classes.join(', ')}${causes}`}</td><td class="number" data-of="holds" data-value="${String(row.holds)}">${count(row.holds)}</td><td class="number" data-of="seed" data-value="${String(row.seed)}">${String(row.seed)}</td><td class="nowrap">${link}<br><span class="note">${row.startedAt.replace('T', ' ').slice(0, 19)}, ${durationOfMs(row.timeLimitMs)}</span></td></tr>`;
}

/** A longer one may be broken, or its column would be as wide as the page. */
const LONGEST_UNBROKEN = 32;
const MOST_NAMES = 12;

/** Names have hyphens and colons, at which a browser would break them. */
function names(all: readonly string[]): Markup {
  const shown = all.slice(0, MOST_NAMES).map((name, at) => {
    const text = `${clipped(name, 120)}${at < all.length - 1 ? ',' : ''}`;
    return text.length > LONGEST_UNBROKEN ? markup`${text} ` : markup`<span class="nowrap">${text}</span> `;
  });
  return markup`${shown}${all.length > MOST_NAMES ? `and ${count(all.length - MOST_NAMES)} more` : ''}`;
}
