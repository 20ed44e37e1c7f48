/**
 * The HTML report of a run: one file, readable without a network. Verdict, violations as stories with their drawings, and
 * all tables are there without scripts; the timeline of the whole run and the plots are drawn by the page's own script
 * from the data that it carries.
 *
 * Excludes any judging: it shows what the checkers found. However long the run, the file stays of a size that a
 * browser opens at once; what was merged or left out for that is said where it happened.
 */

import { firstWords } from '../harness/record/facts/verdict-words.js';
import { clipped } from '../harness/record/schemas/foreign-text.js';
import { packedPage } from './data/pack.js';
import { timelineOf } from './data/timeline.js';
import { sharedDefinitions } from './drawing/definitions.js';
import type { ReportInput } from './input.js';
import { markup } from './markup.js';
import { Citations } from './page/cited.js';
import { pageFrame } from './page/frame.js';
import { measuredSection, readingsSection } from './page/measured.js';
import { repeatSection } from './page/repeat.js';
import { aftermathSection, checkersSection, factsSection, faultsSection } from './page/tables.js';
import { plotsSection, timelineSection } from './page/timeline.js';
import { verdictSection } from './page/verdict.js';
import { linkTo, violationsSection } from './page/violations.js';
import { type Mark, storyOf } from './story/story.js';

/** Renders a run's report. Missing pieces (no observations, no holds, a torn history) are said, not fatal. */
export function htmlReport(input: ReportInput): string {
  const story = storyOf(input);
  const citations = new Citations(input);
  const marks = input.results.violations.map(
    (violation, at): Mark => ({ number: at + 1, violation, href: linkTo(at + 1) }),
  );
  const { data, notes } = timelineOf(input, story, marks);
  const { runId, topology, lock } = input.config;
  return pageFrame({
    title: clipped(`${firstWords(input.results)} · ${lock} on ${topology}, run ${runId}`, 400),
    script: 'run',
    data: { 'run-data': packedPage(data) },
    body: markup`${sharedDefinitions()}${verdictSection(input, story)}
<nav class="muted" aria-label="Sections">${SECTIONS.map(([id, name]) => markup`<a href="${`#${id}`}">${name}</a> `)}</nav>
${violationsSection(input, story, marks, citations)}
${timelineSection(input, story, notes)}
${plotsSection(data.plots)}
${faultsSection(story, citations)}
${checkersSection(input)}
<section id="measured">${measuredSection(input)}</section>
${readingsSection(input)}
${aftermathSection(input, citations)}
${repeatSection(input)}
${factsSection(input)}
${citations.section()}`,
  });
}

const SECTIONS = [
  ['violations', 'Violations'],
  ['timeline', 'The whole run'],
  ['plots', 'Over time'],
  ['faults', 'Faults'],
  ['checkers', 'Checkers'],
  ['measured', 'Measured'],
  ['after', 'After the faults'],
  ['reproduce', 'Reproduce'],
  ['run', 'What was run'],
] as const;
