/**
 * The HTML report of a run: one file, readable without a network. Its first screen is the verdict and the clearest violation with its
 * drawing; all else follows. Verdict, violations and all tables are there without scripts. Further drawings, the timeline of the whole
 * run and the plots are made by the page's own script from the data that it carries.
 *
 * Excludes any judging: it shows what the checkers found. However long the run, the file stays of a size that a
 * browser opens at once; what was merged or left out for that is said where it happened.
 */

import { groupsOf } from '../harness/record/facts/groups.js';
import { firstWords } from '../harness/record/facts/verdict-words.js';
import { clipped } from '../harness/record/schemas/foreign-text.js';
import { packed } from './data/pack.js';
import { timelineOf } from './data/timeline.js';
import { sharedDefinitions } from './drawing/definitions.js';
import type { ReportInput } from './input.js';
import { markup } from './markup.js';
import { Citations } from './page/cited.js';
import { Folded } from './page/folded.js';
import { pageFrame } from './page/frame.js';
import { measuredSection, readingsSection } from './page/measured.js';
import { navigation } from './page/navigation.js';
import { repeatSection } from './page/repeat.js';
import { aftermathSection, checkersSection, factsSection, faultsSection } from './page/tables.js';
import { Glossary } from './page/terms.js';
import { testedSection } from './page/tested.js';
import { plotsSection, timelineSection } from './page/timeline.js';
import { verdictSection } from './page/verdict.js';
import type { Telling } from './page/violation.js';
import { clearestSection, linkTo, violationsSection } from './page/violations.js';
import { type Mark, storyOf } from './story/story.js';
import { countFound } from './words.js';

/** Renders a run's report. Missing pieces (no observations, no holds, a torn history) are said, not fatal. */
export function htmlReport(input: ReportInput): string {
  const story = storyOf(input);
  const telling: Telling = {
    input,
    story,
    citations: new Citations(input),
    terms: new Glossary(),
    folded: new Folded(),
  };
  const { citations, terms, folded } = telling;
  const marks = input.results.violations.map(
    (violation, at): Mark => ({ number: at + 1, violation, href: linkTo(at + 1) }),
  );
  const groups = groupsOf(input.results.violations);
  const { data, notes } = timelineOf(input, story, marks);
  const { runId, topology, lock } = input.config;
  const body = markup`${sharedDefinitions()}
${navigation([
  { id: 'verdict', name: 'Verdict' },
  { id: 'violations', name: 'Violations', count: countFound(input.results) },
  { id: 'tested', name: 'How hard' },
  { id: 'timeline', name: 'The whole run' },
  { id: 'plots', name: 'Over time' },
  { id: 'faults', name: 'Faults', count: story.faults.length },
  { id: 'checkers', name: 'Checkers', count: input.results.checkers.length },
  { id: 'measured', name: 'Measured' },
  { id: 'after', name: 'After the faults' },
  { id: 'reproduce', name: 'Reproduce' },
  { id: 'run', name: 'What was run' },
])}
${verdictSection(input, terms)}
${clearestSection(groups, marks, telling)}
${violationsSection(groups, marks, telling)}
${testedSection(input, story, terms)}
${timelineSection(input, story, notes)}
${plotsSection(data.plots)}
${faultsSection(story, citations)}
${checkersSection(input)}
<section id="measured">${measuredSection(input)}</section>
${readingsSection(input)}
${aftermathSection(input, citations)}
${repeatSection(input)}
${factsSection(input)}
${citations.section(folded)}
${terms.section()}`;
  return pageFrame({
    title: clipped(`${firstWords(input.results)} · ${lock} on ${topology}, run ${runId}`, 400),
    script: 'run',
    // What is folded away is known when the body is made.
    data: { 'run-data': packed(data), 'folded-data': folded.packed() },
    body,
  });
}
