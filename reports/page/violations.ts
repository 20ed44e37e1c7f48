/** The violations, first what a reader decides by: what, proof, why, and the close-up. */

import type { Mark } from '../drawing/canvas.js';
import { type CloseUp, closeUps } from '../drawing/closeup.js';
import type { ReportInput } from '../input.js';
import { clipped, type Markup, markup } from '../markup.js';
import type { Story } from '../story/story.js';
import {
  className,
  count,
  countFound,
  duration,
  exactMoment,
  moment,
  plural,
  shownOfFound,
  wallTime,
  whatHappened,
} from '../words.js';
import type { Citations } from './cited.js';

/** With a close-up; then in words; then a line each. A run that breaks thousands of times has said so by then. */
const MOST_DRAWN = 12;
const MOST_IN_WORDS = 60;
const MOST_LISTED = 3_000;

/** A link to where a violation is told of; beyond those told, to the section that says so. */
export function linkTo(number: number): string {
  return number <= MOST_IN_WORDS + MOST_LISTED ? `#violation-${number}` : '#violations';
}

export function violationsSection(
  input: ReportInput,
  story: Story,
  marks: readonly Mark[],
  citations: Citations,
): Markup {
  if (countFound(input.results) === 0) {
    return markup`<h2 id="violations">Violations</h2><p>${input.results.verdict === 'held' ? 'None was found.' : 'None was found; that alone does not make it a pass.'}</p>`;
  }
  const drawn = marks.slice(0, MOST_DRAWN).map((mark) => violation(input, story, mark, citations, true));
  const worded = marks.slice(MOST_DRAWN, MOST_IN_WORDS).map((mark) => violation(input, story, mark, citations, false));
  const listed = marks.slice(MOST_IN_WORDS, MOST_IN_WORDS + MOST_LISTED);
  const rest = marks.length - MOST_IN_WORDS - listed.length;
  const shown = shownOfFound(input.results);
  return markup`<h2 id="violations">${plural(countFound(input.results), 'violation')}</h2>${shown === undefined ? undefined : markup`<p class="note">All are counted; reported, here and in <code>results.json</code>, are ${shown}.</p>`}
${drawn}
${worded.length === 0 ? undefined : markup`<p class="note">The ${count(worded.length)} below have no close-up of their own; all are marked in the whole run.</p>${worded}`}
${listed.length === 0 ? undefined : markup`<details><summary>${count(listed.length)} more, one line each</summary><ol start="${MOST_IN_WORDS + 1}">${listed.map(listLine)}</ol></details>`}
${rest > 0 ? markup`<p class="note">${count(rest)} further violations are in <code>results.json</code> only.</p>` : undefined}`;
}

function listLine({ number, violation }: Mark): Markup {
  return markup`<li id="violation-${number}">${className(violation)}: ${clipped(whatHappened(violation), 300)}</li>`;
}

function violation(input: ReportInput, story: Story, mark: Mark, citations: Citations, drawn: boolean): Markup {
  const { violation, number } = mark;
  const fails = input.config.failOn.includes(violation.class);
  const wall = story.epochWallMs === undefined ? undefined : wallTime(story.epochWallMs, violation.fromNs);
  const evidence = violation.evidence.slice(0, 60).map((line) => citations.historyLine(line));
  return markup`<article class="violation ${fails ? '' : 'lenient'}" id="violation-${number}">
<h3>${number}. ${className(violation)} · ${clipped(violation.key, 200)} · at ${moment(violation.fromNs)} for ${duration(violation.untilNs - violation.fromNs)}</h3>
${fails ? undefined : markup`<p><span class="tag soft">known and allowed: does not fail this run</span></p>`}
<dl class="lines">
<dt>What</dt><dd>${clipped(whatHappened(violation), 2_000)}</dd>
<dt>Proof</dt><dd>${clipped(violation.proof, 2_000)} ${evidence.length === 0 ? undefined : markup`<span class="note">Lines ${spaced(evidence)}${violation.evidence.length > 60 ? ' and more' : ''}</span>`}</dd>
<dt>Why</dt><dd><b>${clipped(violation.cause.name, 100)}:</b> ${clipped(violation.cause.sentence, 2_000)}${chain(mark, citations)}</dd>
</dl>
${drawn ? closeUps(mark, story).map(figure) : undefined}
<p class="note"><a href="#mark-${number}">Show it in the whole run</a>${wall === undefined ? '' : ` · ${wall} by the machine’s wall clock, for the servers’ logs`}</p>
</article>`;
}

function figure(closeUp: CloseUp): Markup {
  const span = `${moment(closeUp.fromNs)} – ${moment(closeUp.untilNs)}`;
  const notes = closeUp.notes.length > 0 ? ` ${closeUp.notes.join('; ')}.` : '';
  return markup`<p class="note">${closeUp.name}, ${span}. The thin line under a bar is its lease, counted from the request that was granted.${notes}</p>
<div class="scroll">${closeUp.svg}</div>`;
}

/** The numbers are those of the flags in the close-up. */
function chain({ violation }: Mark, citations: Citations): Markup | undefined {
  if (violation.cause.chain.length === 0) return undefined;
  const links = violation.cause.chain.slice(0, 40).map((link) => {
    const lines = [
      link.history === undefined ? undefined : citations.historyLine(link.history),
      link.observation === undefined ? undefined : citations.observationLine(link.observation),
    ].filter((line) => line !== undefined);
    return markup`<li><span class="when" title="${exactMoment(link.atNs)}">${moment(link.atNs)}</span> ${clipped(link.text, 1_000)} <span class="note">${spaced(lines)}</span></li>`;
  });
  const more = violation.cause.chain.length - links.length;
  return markup`<ol class="chain">${links}</ol>${more > 0 ? markup`<p class="note">${plural(more, 'further step')} in results.json.</p>` : undefined}`;
}

export function spaced(parts: readonly Markup[]): Markup {
  return markup`${parts.map((part, at) => (at === 0 ? part : markup`, ${part}`))}`;
}
