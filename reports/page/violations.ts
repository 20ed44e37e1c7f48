/** The violations, first what a reader decides by: what, proof, why, and the close-up. */

import { bearingOf, blamedOn, whose } from '../../harness/record/facts/blame.js';
import { className } from '../../harness/record/facts/classes.js';
import {
  count,
  duration,
  durationOfMs,
  exactMoment,
  moment,
  plural,
  wallTime,
} from '../../harness/record/facts/words.js';
import { clipped } from '../../harness/record/schemas/foreign-text.js';
import type { BlameName, Violation } from '../../harness/vocabulary/verdict.js';
import { type CloseUp, closeUps } from '../drawing/closeup.js';
import type { ReportInput } from '../input.js';
import { Markup, markup } from '../markup.js';
import { sequenceDrawing } from '../sequence/draw.js';
import { sequenceOf } from '../sequence/sequence.js';
import { type Believed, believedAt, type Step, stepsOf } from '../story/steps.js';
import type { Mark, Story } from '../story/story.js';
import { windowOf } from '../story/window.js';
import { countFound, linkOf, shownOfFound, whatHappened } from '../words.js';
import type { Citations } from './cited.js';

/** With a close-up; then in words; then a line each. A run that breaks thousands of times has said so by then. */
const MOST_DRAWN = 12;
const MOST_IN_WORDS = 60;
const MOST_LISTED = 3_000;
/** Unfolded when the page opens: a reader who wants more unfolds more. */
const MOST_OPEN = 3;
const MOST_GRANTS = 3;
/** What a server did is observed a little after it answered its client. */
const OBSERVED_AFTER_NS = 5e6;

/** A link to where a violation is described; beyond those described, to the section that says so. */
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
${worded.length === 0 ? undefined : markup`<p class="note">The ${count(worded.length)} below have no close-up of their own; all are marked in the timeline of the whole run.</p>${worded}`}
${listed.length === 0 ? undefined : markup`<details><summary>${count(listed.length)} more, one line each</summary><ol start="${MOST_IN_WORDS + 1}">${listed.map(listLine)}</ol></details>`}
${rest > 0 ? markup`<p class="note">${count(rest)} further violations are in <code>results.json</code> only.</p>` : undefined}`;
}

function listLine({ number, violation }: Mark): Markup {
  return markup`<li id="violation-${number}">${className(violation.class)}: ${clipped(whatHappened(violation), 300)}</li>`;
}

function violation(input: ReportInput, story: Story, mark: Mark, citations: Citations, drawn: boolean): Markup {
  const { violation, number } = mark;
  const bearing = bearingOf(violation, input.config.failOn);
  const fails = bearing === 'fails';
  const wall = story.epochWallMs === undefined ? undefined : wallTime(story.epochWallMs, violation.fromNs);
  const evidence = violation.evidence.slice(0, 60).map((line) => citations.historyLine(line));
  const steps = stepsOf(violation);
  const long = violation.untilNs > violation.fromNs ? ` for ${duration(violation.untilNs - violation.fromNs)}` : '';
  const name = violation.cause.name;
  const cause = markup`<span class="tag ${name === 'unexplained' || !fails ? 'soft' : 'bad'}">${clipped(name, 100)}</span>`;
  const open = number <= MOST_OPEN ? new Markup(' open=""') : undefined;
  return markup`<details class="violation ${fails ? '' : 'lenient'}"${open}>
<summary><h3>${number}. ${className(violation.class)} · ${clipped(violation.key, 200)} · at ${moment(violation.fromNs)}${long}</h3> <span class="tag ${BLAME_TAG[blamedOn(violation)]}">${whose(blamedOn(violation))}</span> ${cause}${violation.known === undefined ? undefined : markup` <span class="tag soft">known</span>`}</summary><article id="violation-${number}">
${fails ? undefined : markup`<p><span class="tag soft">${bearing === 'open' ? 'cannot tell whether it is the lock’s mistake, which would fail this run' : violation.known === 'allowed' ? 'known before this run, and does not fail it' : 'allowed: does not fail this run'}</span></p>`}
<p>${clipped(whatHappened(violation), 2_000)}.</p>
<p class="why"><b>Why: ${clipped(violation.cause.sentence, 2_000)}</b></p>
${blameParagraph(violation)}
<div class="story"><div class="told"><ol class="steps">${steps.map((step) => stepItem(step, permalink(violation, story, step.atNs), citations))}</ol>
${more(violation.cause.chain.length - steps.filter(({ kind }) => kind === 'cause').length)}
<p><b>Proof:</b> ${clipped(violation.proof, 2_000)} ${evidence.length === 0 ? undefined : markup`<span class="note">Lines ${spaced(evidence)}${violation.evidence.length > 60 ? ' and more' : ''}</span>`}</p></div>
${drawn ? markup`<div class="drawn">${closeUps(mark, story, steps).map(figure)}${believed(mark, story)}</div>` : undefined}</div>
${number <= MOST_OPEN ? messageByMessage(input, story, mark) : undefined}
<p class="note"><a href="${permalink(violation, story, violation.fromNs)}">Show it in the whole run</a>${wall === undefined ? '' : ` · ${wall} by the machine’s wall clock, for the servers’ logs`}</p>
</article></details>`;
}

/** Only of a run whose messages were kept. */
function messageByMessage(input: ReportInput, story: Story, { number, violation }: Mark): Markup | undefined {
  const sequence = sequenceOf(input, story, violation);
  if (sequence === undefined) return undefined;
  const leftOut = sequence.leftOut === undefined ? '' : ` Left out: ${sequence.leftOut}.`;
  return markup`<h4>Message by message</h4>
<p class="note">Time goes down, in virtual seconds, and not to scale. A bar on a line is a hold, hatched once its lease had ended; the red band is when it went wrong. What came late or not at all is in the colour of faults.${leftOut}</p>
<div class="scroll">${sequenceDrawing(sequence, `Violation ${number}, message by message`)}</div>`;
}

const BLAME_TAG: Record<BlameName, string> = { lock: 'bad', unexplained: 'soft', deployment: 'soft', lease: 'soft' };

function blameParagraph({ blame }: Violation): Markup | undefined {
  if (blame === undefined) return undefined;
  const link = linkOf(blame);
  const more = link === undefined ? undefined : markup` <a href="${link}" rel="noreferrer">Read more</a>`;
  const heading = blame.on === 'unexplained' ? 'Whose mistake: not proven.' : `Whose mistake: ${BLAMED[blame.on]}.`;
  return markup`<p class="blame"><b>${heading}</b> ${clipped(blame.theory, 1_000)}${more}</p>`;
}

const BLAMED = { lock: 'the lock’s own', deployment: 'the deployment’s', lease: 'no lock’s; the lease’s' } as const;

/** What the page's script understands: a time, and a moment in it. */
function permalink(violation: Violation, story: Story, atNs: number): string {
  const { fromNs, untilNs } = windowOf(violation, story);
  return `#t=${seconds(fromNs)}-${seconds(untilNs)}&at=${seconds(Math.max(0, atNs))}`;
}

function seconds(ns: number): string {
  return String(Math.round(ns / 1e3) / 1e6);
}

function more(untold: number): Markup | undefined {
  return untold > 0 ? markup`<p class="note">${plural(untold, 'further step')} in results.json.</p>` : undefined;
}

/** The numbers are those of the flags in the drawing. */
function stepItem(step: Step, link: string, citations: Citations): Markup {
  const lines = [
    step.history === undefined ? undefined : citations.historyLine(step.history),
    step.observation === undefined ? undefined : citations.observationLine(step.observation),
  ].filter((line) => line !== undefined);
  return markup`<li class="${step.kind}"><a class="when" href="${link}" title="${exactMoment(step.atNs)}">${moment(step.atNs)}</a> ${clipped(step.text, 1_000)} <span class="by">${step.kind === 'cause' ? 'evidence ' : ''}${spaced(lines)}</span></li>`;
}

/** At each of the grants: one server believed this, another that, and so both held. */
function believed({ violation }: Mark, story: Story): Markup | undefined {
  const window = windowOf(violation, story);
  const nodes = story.beliefs.within(window.fromNs, window.untilNs);
  const grants = violation.holds.slice(0, MOST_GRANTS).sort((a, b) => a.fromNs - b.fromNs);
  const columns = (grants.length > 0 ? grants.map(({ fromNs }) => fromNs) : [violation.fromNs]).map((atNs) =>
    believedAt(nodes, violation.key, atNs + OBSERVED_AFTER_NS),
  );
  if (nodes.length === 0) return undefined;
  const heads = grants.map(({ client, fromNs }) => markup`<th>as ${client} was granted it, ${moment(fromNs)}</th>`);
  return markup`<h4>What each server believed about ${clipped(violation.key, 60)}</h4>
<div class="scroll"><table class="believed"><thead><tr><th>node</th>${heads.length > 0 ? heads : markup`<th>at ${moment(violation.fromNs)}</th>`}</tr></thead><tbody>${nodes.map(({ node }, row) => markup`<tr><td>${node}</td>${columns.map((column) => markup`<td>${believedWords(column[row]!)}</td>`)}</tr>`)}</tbody></table></div>`;
}

function believedWords({ role, owner, leaseLeftMs }: Believed): Markup {
  if (owner === undefined) return markup`${role}`;
  const left =
    leaseLeftMs === undefined
      ? 'no expiry'
      : leaseLeftMs >= 0
        ? `about ${durationOfMs(Math.round(leaseLeftMs / 10) * 10)} of its lease left`
        : 'past its expiry';
  return markup`${role}: <b>${owner}</b>, ${left}`;
}

function figure(closeUp: CloseUp): Markup {
  const span = `${moment(closeUp.fromNs)} – ${moment(closeUp.untilNs)}`;
  const notes = closeUp.notes.length > 0 ? ` ${closeUp.notes.join('; ')}.` : '';
  return markup`<p class="note">${closeUp.name}, ${span}. The thin line under a bar is its lease, counted from the request that was granted.${notes}</p>
<div class="scroll">${closeUp.svg}</div>`;
}

export function spaced(parts: readonly Markup[]): Markup {
  return markup`${parts.map((part, at) => (at === 0 ? part : markup`, ${part}`))}`;
}
