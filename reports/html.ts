/**
 * The HTML report of a run: one file, readable without a network and without scripts. First the verdict and the
 * close-ups that a reader decides by, then the whole run, then the tables.
 *
 * Excludes any judging: it shows what the checkers found. However long the run, the file stays of a size that a
 * browser opens at once; what was merged or left out for that is said where it happened.
 */

import type { Mark } from './drawing/canvas.js';
import { legend, sharedDefinitions } from './drawing/definitions.js';
import { drawSheet } from './drawing/sheet.js';
import type { ReportInput } from './input.js';
import { type Markup, markup } from './markup.js';
import { Citations } from './page/cited.js';
import { measuredSection, readingsSection } from './page/measured.js';
import { recordNotes } from './page/record.js';
import { STYLE } from './page/style.js';
import { aftermathSection, checkersSection, factsSection, faultsSection } from './page/tables.js';
import { verdictSection } from './page/verdict.js';
import { linkTo, violationsSection } from './page/violations.js';
import { type Story, storyOf } from './story/story.js';

/** No script, nothing fetched, nothing sent: a lock's text could not act even if it escaped the escaping. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** Renders a run's report. Missing pieces (no observations, no holds, a torn history) are said, not fatal. */
export function htmlReport(input: ReportInput): string {
  const story = storyOf(input);
  const citations = new Citations(input);
  const marks = input.results.violations.map(
    (violation, at): Mark => ({ number: at + 1, violation, href: linkTo(at + 1) }),
  );
  const measured = measuredSection(input);
  const { runId, topology, lock } = input.config;
  return markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${input.results.verdict}: ${lock} on ${topology}, run ${runId}</title><style>${STYLE}</style></head>
<body>${sharedDefinitions()}<main>
${verdictSection(input)}
<nav class="muted"><a href="#violations">Violations</a> <a href="#timeline">The whole run</a> <a href="#faults">Faults</a> <a href="#checkers">Checkers</a>${measured.source === '' ? undefined : markup` <a href="#measured">Measured</a>`} <a href="#after">After the faults</a> <a href="#run">What was run</a></nav>
${violationsSection(input, story, marks, citations)}
${wholeRun(input, story, marks)}
${faultsSection(story, citations)}
${checkersSection(input)}
${measured}
${readingsSection(input)}
${aftermathSection(input, citations)}
${factsSection(input)}
${citations.section()}
</main></body></html>
`.source;
}

/** Bars of each sort in the whole run's drawing: about a megabyte and a half of them at worst. */
const BUDGET = 1_800;
/** Rows in each node's lane. */
const MOST_KEYS = 6;

function wholeRun(input: ReportInput, story: Story, marks: readonly Mark[]): Markup {
  // Keys with violations first: their rows are what a reader looks for.
  const keys = [...new Set([...marks.map((mark) => mark.violation.key), ...story.keys])];
  const shown = story.keys.filter((key) => keys.indexOf(key) < MOST_KEYS);
  const sheet = drawSheet({
    story,
    fromNs: story.fromNs,
    untilNs: story.untilNs,
    slots: story.slots,
    nodes: story.beliefs.nodes,
    keys: shown,
    marks,
    flags: [],
    size: 'whole',
    budget: BUDGET,
    name: 'The whole run: faults, holds by client, and what each node believed',
    anchor: 'mark-',
  });
  const notes = [
    ...sheet.notes,
    ...(story.beliefs.note === undefined ? [] : [story.beliefs.note]),
    ...(shown.length < story.keys.length
      ? [`${story.keys.length - shown.length} of ${story.keys.length} keys have no row in the servers’ lanes`]
      : []),
  ];
  return markup`<h2 id="timeline">The whole run</h2>
<p class="note">Seconds since the run’s epoch, by the monotonic clock that no fault touches. Point at anything for exact times and line numbers; marks and faults are links.</p>
${recordNotes(input).map((note) => markup`<p><b>${note}</b></p>`)}
${legend(story.keys, { evictions: story.beliefs.nodes.some((node) => node.evictions.length > 0) })}
<div class="scroll">${sheet.svg}</div>
<p class="note">${notes.length === 0 ? 'Every hold and every refusal is drawn by itself.' : `Drawn together or left out: ${notes.join('; ')}.`}</p>`;
}
