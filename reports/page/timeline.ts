/** The timeline of the whole run, which the page's script draws, and what its colours and shapes mean. */

import { count, duration, durationOfMs } from '../../harness/record/facts/words.js';
import type { Plots } from '../data/page-data.js';
import { legend } from '../drawing/definitions.js';
import type { ReportInput } from '../input.js';
import { type Markup, markup } from '../markup.js';
import type { Story } from '../story/story.js';
import { recordNotes } from './record.js';

export function timelineSection(input: ReportInput, story: Story, notes: readonly string[]): Markup {
  const violated = input.results.violations.length > 0;
  const struck = story.faults.some(({ spans }) => spans.length > 0);
  const evictions = story.beliefs.nodes.some((node) => node.evictions.length > 0);
  const skews = story.beliefs.nodes.some(({ roles }) => roles.some(({ skewMs }) => skewMs !== 0));
  return markup`<h2 id="timeline">The whole run</h2>
${recordNotes(input).map((note) => markup`<p><b>${note}</b></p>`)}
<noscript><p class="tag soft">The timeline and the plots are drawn by a script, which this browser does not run.</p></noscript>
<div class="only-scripted">
<div class="tools">${violated ? markup`${tool('previous-violation', '◀ violation', 'Previous violation (p)')}${tool('next-violation', 'violation ▶', 'Next violation (n)')}` : undefined}${struck ? tool('next-fault', 'fault ▶', 'Next fault (f)') : undefined}${tool('left', '←', 'Earlier (arrow left)')}${tool('right', '→', 'Later (arrow right)')}${tool('out', '−', 'Show more time (-)')}${tool('in', '+', 'Show less time (+)')}${tool('all', 'whole run', 'The whole run (0)')}${tool('copy', 'copy link', 'Copy a link to this moment (c)')}<output id="window" class="when"></output></div>
<div id="chart" tabindex="0" role="application" aria-label="${`Timeline of ${duration(story.untilNs - story.fromNs)}. Arrow keys move, plus and minus zoom, n and p go to the next and the previous violation, f to the next fault, 0 shows the whole run, Escape lets go of the moment.`}" aria-describedby="state"><canvas id="head"></canvas><canvas id="lanes"></canvas></div>
<div id="state" aria-live="polite" hidden=""></div>
<p class="note">Drag to move; the + and − keys or Ctrl and the wheel zoom; click to see in words who held and what each server believed at that moment. Seconds since the run’s epoch, by the monotonic clock that no fault touches.</p>
${legend(story.keys, { evictions, skews })}
${notes.length === 0 ? undefined : markup`<p class="note">Drawn together or left out: ${notes.join('; ')}.</p>`}
</div>
<div id="tip" role="tooltip" hidden=""></div>`;
}

function tool(name: string, label: string, title: string): Markup {
  return markup`<button type="button" data-do="${name}" title="${title}" aria-label="${title}">${label}</button>`;
}

/** Boxes that the script fills; in words what is in them. */
export function plotsSection(plots: Plots): Markup {
  const thinned =
    plots.pointsLeftOut === 0 ? '' : ` (${count(plots.pointsLeftOut)} points are left out, always the quicker ones)`;
  return markup`<section id="plots" class="only-scripted"><h2>Over time</h2>
<p class="note">Faults are the bands. Drag to zoom: the timeline and the other plots follow.</p>
${plot('latency', `How long acquires took, by outcome${thinned}; median and 99 % of those granted, by ${durationOfMs(plots.binSeconds * 1e3)}`)}
${plot('rate', `Operations that ended, per second, by ${durationOfMs(plots.binSeconds * 1e3)}`)}
${plots.recovery.length === 0 ? undefined : plot('recovery', 'Time to recover: from each fault’s blow, and from its healing, until a lock was granted; one point for each key')}
${plots.losses.length === 0 ? undefined : plot('losses', 'From losing a lock to knowing it, at the moment of the loss: the worst')}
${plots.clocks.length === 0 ? markup`<p class="note">No wall clock was ever seen more than 20 ms off the machine’s.</p>` : plot('clocks', 'Wall clocks against the machine’s')}
</section>`;
}

function plot(name: string, caption: string): Markup {
  return markup`<figure><figcaption>${caption}</figcaption><div id="${`plot-${name}`}" class="plot"></div></figure>`;
}
