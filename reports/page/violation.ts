/** One violation, piece by piece: what, why and what to do; its steps; its drawings; and what the servers believed. */

import { bearingOf, blamedOn, whose } from '../../harness/record/facts/blame.js';
import { duration, durationOfMs, exactMoment, moment, plural, wallTime } from '../../harness/record/facts/words.js';
import { clipped } from '../../harness/record/schemas/foreign-text.js';
import type { BlameName, Violation } from '../../harness/vocabulary/verdict.js';
import { type CloseUp, closeUps } from '../drawing/closeup.js';
import type { ReportInput } from '../input.js';
import { type Markup, markup } from '../markup.js';
import { sequenceDrawing } from '../sequence/draw.js';
import { sequenceOf } from '../sequence/sequence.js';
import { type Believed, believedAt, type Step, stepsOf } from '../story/steps.js';
import type { Mark, Story } from '../story/story.js';
import { windowOf } from '../story/window.js';
import { linkOf, whatHappened } from '../words.js';
import type { Citations } from './cited.js';
import type { Folded } from './folded.js';
import type { Glossary } from './terms.js';

/** What the parts of a page share while it is made. */
export interface Telling {
  input: ReportInput;
  story: Story;
  citations: Citations;
  terms: Glossary;
  folded: Folded;
}

const MOST_GRANTS = 3;
/** What a server did is observed a little after it answered its client. */
const OBSERVED_AFTER_NS = 5e6;

/** `lock:1 · at 10.673 s for 1.07 s`. */
export function whereAndWhen({ key, fromNs, untilNs }: Violation): string {
  const long = untilNs > fromNs ? ` for ${duration(untilNs - fromNs)}` : '';
  return `${clipped(key, 200)} · at ${moment(fromNs)}${long}`;
}

/** What it does to the verdict, where it does not fail the run. */
export function bearingTag(violation: Violation, { config }: ReportInput): Markup | undefined {
  const bearing = bearingOf(violation, config.failOn);
  if (bearing === 'fails') return undefined;
  const words =
    bearing === 'open'
      ? 'cannot tell whether it is the lock’s mistake, which would fail this run'
      : violation.known === 'allowed'
        ? 'known before this run, and does not fail it'
        : 'allowed: does not fail this run';
  return markup`<span class="tag soft">${words}</span>`;
}

/** What happened, in one sentence. */
export function what(violation: Violation, terms: Glossary): Markup {
  return markup`<p>${terms.explained(clipped(whatHappened(violation), 2_000))}.</p>`;
}

export function why(violation: Violation): Markup {
  return markup`<p class="why"><b>Why: ${clipped(violation.cause.sentence, 2_000)}</b></p>`;
}

const BLAME_TAG: Record<BlameName, string> = { lock: 'bad', unexplained: 'soft', deployment: 'soft', lease: 'soft' };

export function blameTag(on: BlameName): Markup {
  return markup`<span class="tag ${BLAME_TAG[on]}">${whose(on)}</span>`;
}

/** Whose mistake it is, and what prevents it or makes it rarer; with where its cause is described. */
export function whatToDo(violation: Violation, { docs }: ReportInput): Markup | undefined {
  const { blame, cause } = violation;
  if (blame === undefined) return undefined;
  const page =
    docs === undefined || cause.name === 'unexplained' || !/^[a-z-]+$/.test(cause.name)
      ? undefined
      : markup` <a href="${`${docs}/causes.md#${cause.name}`}">The cause ${cause.name}</a>`;
  const link = linkOf(blame);
  const more = link === undefined ? undefined : markup` <a href="${link}" rel="noreferrer">Read more</a>`;
  const on = blamedOn(violation);
  const heading = on === 'unexplained' ? 'Whose mistake: not proven.' : `Whose mistake: ${BLAMED[on]}. What to do:`;
  return markup`<p class="blame"><b>${heading}</b> ${clipped(blame.theory, 1_000)}${more}${page}</p>`;
}

const BLAMED = { lock: 'the lock’s own', deployment: 'the deployment’s', lease: 'no lock’s; the lease’s' } as const;

/** How it came about. */
export function stepByStep(mark: Mark, { story, citations }: Telling): Markup {
  const { violation } = mark;
  const steps = stepsOf(violation);
  const untold = violation.cause.chain.length - steps.filter(({ kind }) => kind === 'cause').length;
  return markup`<ol class="steps">${steps.map((step) => stepItem(step, permalink(violation, story, step.atNs), citations))}</ol>
${untold > 0 ? markup`<p class="note">${plural(untold, 'further step')} in results.json.</p>` : undefined}`;
}

export function proofOf(violation: Violation, citations: Citations): Markup {
  const evidence = violation.evidence.slice(0, 60).map((line) => citations.historyLine(line));
  return markup`<p><b>Proof:</b> ${clipped(violation.proof, 2_000)} ${evidence.length === 0 ? undefined : markup`<span class="note">Lines ${spaced(evidence)}${violation.evidence.length > 60 ? ' and more' : ''}</span>`}</p>`;
}

export function inTheWholeRun(violation: Violation, story: Story): Markup {
  const wall = story.epochWallMs === undefined ? undefined : wallTime(story.epochWallMs, violation.fromNs);
  return markup`<p class="note"><a href="${permalink(violation, story, violation.fromNs)}">Show it in the whole run</a>${wall === undefined ? '' : ` · ${wall} by the machine’s wall clock, for the servers’ logs`}</p>`;
}

/** Its close-ups, with the numbers of its steps. */
export function drawings(mark: Mark, story: Story): Markup {
  return markup`${closeUps(mark, story, stepsOf(mark.violation)).map(figure)}`;
}

function figure(closeUp: CloseUp): Markup {
  const span = `${moment(closeUp.fromNs)} – ${moment(closeUp.untilNs)}`;
  const notes = closeUp.notes.length > 0 ? ` ${closeUp.notes.join('; ')}.` : '';
  return markup`<div class="scroll">${closeUp.svg}</div>
<p class="note">${closeUp.name}, ${span}. The thin line under a bar is its lease, counted from the request that was granted.${notes}</p>`;
}

/** What the page's script understands: a time, and a moment in it. */
function permalink(violation: Violation, story: Story, atNs: number): string {
  const { fromNs, untilNs } = windowOf(violation, story);
  return `#t=${seconds(fromNs)}-${seconds(untilNs)}&at=${seconds(Math.max(0, atNs))}`;
}

function seconds(ns: number): string {
  return String(Math.round(ns / 1e3) / 1e6);
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
export function believed({ violation }: Mark, story: Story): Markup | undefined {
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

/** Only of a run whose messages were kept. */
export function messageByMessage({ number, violation }: Mark, { input, story }: Telling): Markup | undefined {
  const sequence = sequenceOf(input, story, violation);
  if (sequence === undefined) return undefined;
  const leftOut = sequence.leftOut === undefined ? '' : ` Left out: ${sequence.leftOut}.`;
  return markup`<h4>Message by message</h4>
<p class="note">Time goes down, in milliseconds of virtual time, and not to scale. A bar on a line is a hold, hatched once its lease had ended; the red band is when it went wrong. What came late or not at all is in the colour of faults.${leftOut}</p>
<div class="scroll">${sequenceDrawing(sequence, `Violation ${number}, message by message`)}</div>`;
}

function spaced(parts: readonly Markup[]): Markup {
  return markup`${parts.map((part, at) => (at === 0 ? part : markup`, ${part}`))}`;
}
