/**
 * The violations: first the clearest, with everything that a reader decides by; then all of them, grouped by cause. Of the others the
 * steps and the drawings are made when they are opened.
 */

import { bearingOf } from '../../harness/record/facts/blame.js';
import { className } from '../../harness/record/facts/classes.js';
import { type FindingGroup, groupInWords } from '../../harness/record/facts/groups.js';
import { verdictLines } from '../../harness/record/facts/verdict-words.js';
import { count, plural } from '../../harness/record/facts/words.js';
import { clipped } from '../../harness/record/schemas/foreign-text.js';
import type { ReportInput } from '../input.js';
import { type Markup, markup } from '../markup.js';
import type { Mark } from '../story/story.js';
import { countFound, shownOfFound, whatHappened } from '../words.js';
import { command } from './command.js';
import { headlineParagraph } from './verdict.js';
import {
  bearingTag,
  believed,
  blameTag,
  drawings,
  inTheWholeRun,
  messageByMessage,
  proofOf,
  stepByStep,
  type Telling,
  what,
  whatToDo,
  whereAndWhen,
  why,
} from './violation.js';

/** With drawings; then in words; then a line each. A run that breaks thousands of times has said so by then. */
const MOST_DRAWN = 18;
const MOST_IN_WORDS = 100;
const MOST_LISTED = 3_000;
/** Message by message: of a simulated run. */
const MOST_IN_MESSAGES = 3;

/** A link to where a violation is described; beyond those described, to the section that says so. */
export function linkTo(number: number): string {
  return number <= MOST_IN_WORDS + MOST_LISTED ? `#violation-${number}` : '#violations';
}

/** The one to look at, whole: the clearest of the gravest cause. */
export function clearestSection(
  groups: readonly FindingGroup[],
  marks: readonly Mark[],
  telling: Telling,
): Markup | undefined {
  const mark = clearestOf(groups, marks);
  if (mark === undefined) return undefined;
  const { input, story, citations, terms } = telling;
  const { violation } = mark;
  const all = countFound(input.results);
  const again = input.again?.replay ?? input.results.reproduce;
  return markup`<section id="clearest" class="violation ${stateOf(mark, input)}"><article id="violation-${mark.number}">
<h2>${all > 1 ? `The clearest of ${count(all)}: ` : ''}${className(violation.class)} · ${whereAndWhen(violation)}</h2>
<div class="story"><div class="told"><p>${bearingTag(violation, input)}</p>
${what(violation, terms)}
${why(violation)}
${whatToDo(violation, input)}
<p class="muted">See it again:</p>${command(again)}
<details><summary>Step by step, with the proof</summary>${stepByStep(mark, telling)}
${proofOf(violation, citations)}</details>
${inTheWholeRun(violation, story)}</div>
<div class="drawn">${drawings(mark, story)}</div></div>
${believed(mark, story)}
${messageByMessage(mark, telling)}</article></section>`;
}

function clearestOf([group]: readonly FindingGroup[], marks: readonly Mark[]): Mark | undefined {
  return group === undefined ? undefined : marks[group.clearest.number - 1];
}

export function violationsSection(groups: readonly FindingGroup[], marks: readonly Mark[], telling: Telling): Markup {
  const { results } = telling.input;
  if (countFound(results) === 0) {
    return markup`<h2 id="violations">Violations</h2><p>${results.verdict === 'held' ? 'None was found.' : 'None was found; that alone does not make it a pass.'}</p>`;
  }
  const shown = shownOfFound(results);
  const rest = marks.length - MOST_IN_WORDS - MOST_LISTED;
  const above = clearestOf(groups, marks);
  return markup`<h2 id="violations">${plural(countFound(results), 'violation')}, by cause</h2>
${verdictLines(results).length > 0 && above !== undefined ? headlineParagraph(telling.input) : undefined}
${shown === undefined ? undefined : markup`<p class="note">All are counted. Reported, here and in <code>results.json</code>, are ${shown}.</p>`}
<noscript><p class="tag soft">This browser runs no script. The steps and drawings of all violations but the first are made by one: open the page in a browser that runs it.</p></noscript>
<p class="note on-paper">A violation has its steps and drawings on paper if it was opened before the page was printed.</p>
${groups.map((group, at) => groupSection(group, `cause-${at + 1}`, marks, above, telling))}
${rest > 0 ? markup`<p class="note">${count(rest)} further violations are in <code>results.json</code> only.</p>` : undefined}`;
}

function groupSection(
  group: FindingGroup,
  id: string,
  marks: readonly Mark[],
  above: Mark | undefined,
  telling: Telling,
): Markup {
  const clearest = marks[group.clearest.number - 1]!;
  const members = [
    clearest,
    ...group.members.map(({ number }) => marks[number - 1]!).filter((mark) => mark !== clearest),
  ];
  const worded = members.filter(({ number }) => number <= MOST_IN_WORDS);
  const listed = members.filter(({ number }) => number > MOST_IN_WORDS && number <= MOST_IN_WORDS + MOST_LISTED);
  return markup`<details class="group violation ${stateOf(clearest, telling.input)}" id="${id}">
<summary><h3>${clipped(groupInWords(group), 200)}</h3> <span class="tag soft">${group.what}</span> ${blameTag(group.blame)}${group.known === undefined ? undefined : markup` <span class="tag soft">known</span>`}</summary>
<p>${bearingTag(clearest.violation, telling.input)}</p>
${whatToDo(clearest.violation, telling.input)}
${worded.map((mark) => (mark === above ? shownAbove(mark) : one(mark, telling)))}
${listed.length === 0 ? undefined : markup`<details><summary>${count(listed.length)} more, one line each</summary><ol>${listed.map(listLine)}</ol></details>`}
</details>`;
}

function listLine({ number, violation }: Mark): Markup {
  return markup`<li id="violation-${number}" value="${String(number)}">${clipped(whatHappened(violation), 300)}</li>`;
}

function stateOf({ violation }: Mark, { config }: ReportInput): string {
  return bearingOf(violation, config.failOn) === 'fails' ? '' : 'lenient';
}

function shownAbove({ number, violation }: Mark): Markup {
  return markup`<p class="one"><a href="${linkTo(number)}">${number}. ${whereAndWhen(violation)}</a>: shown above, the clearest</p>`;
}

function one(mark: Mark, telling: Telling): Markup {
  const { number, violation } = mark;
  const title = `${number}. ${whereAndWhen(violation)}`;
  const { story, terms, citations, folded } = telling;
  const isDrawn = number <= MOST_DRAWN;
  const body = markup`${why(violation)}
<div class="story"><div class="told">${stepByStep(mark, telling)}
${proofOf(violation, citations)}
${isDrawn ? undefined : markup`<p class="note">Drawn are the first ${MOST_DRAWN}. This one is in the timeline of the whole run.</p>`}
${inTheWholeRun(violation, story)}</div>
${isDrawn ? markup`<div class="drawn">${drawings(mark, story)}${believed(mark, story)}</div>` : undefined}</div>
${number <= MOST_IN_MESSAGES ? messageByMessage(mark, telling) : undefined}`;
  return markup`<details class="one"><summary><h4>${title}</h4></summary><article id="violation-${number}">
${what(violation, terms)}
${folded.fold(`story-${number}`, body)}</article></details>`;
}
