/** The timeline of the whole run, which the page's script draws, and what its colours and shapes mean. */
import { legend } from '../drawing/definitions.js';
import type { ReportInput } from '../input.js';
import { type Markup, markup } from '../markup.js';
import type { Story } from '../story/story.js';
import { duration } from '../words.js';
import { recordNotes } from './record.js';

export function timelineSection(input: ReportInput, story: Story, notes: readonly string[]): Markup {
  const violated = input.results.violations.length > 0;
  const struck = story.faults.some(({ spans }) => spans.length > 0);
  const evictions = story.beliefs.nodes.some((node) => node.evictions.length > 0);
  const skews = story.beliefs.nodes.some(({ roles }) => roles.some(({ skewMs }) => skewMs !== 0));
  return markup`<h2 id="timeline">The whole run</h2>
${recordNotes(input).map((note) => markup`<p><b>${note}</b></p>`)}
<noscript><p class="tag soft">The timeline and the plots are drawn by a script, which this browser does not run. Everything else is here: every violation has a drawing of its own.</p></noscript>
<div class="only-scripted">
<div class="tools">${violated ? markup`${tool('previous-violation', '◀ violation', 'Previous violation (p)')}${tool('next-violation', 'violation ▶', 'Next violation (n)')}` : undefined}${struck ? tool('next-fault', 'fault ▶', 'Next fault (f)') : undefined}${tool('left', '←', 'Earlier (arrow left)')}${tool('right', '→', 'Later (arrow right)')}${tool('out', '−', 'Show more time (-)')}${tool('in', '+', 'Show less time (+)')}${tool('all', 'whole run', 'The whole run (0)')}${tool('copy', 'copy link', 'Copy a link to this moment (c)')}<output id="window" class="when"></output></div>
<div id="chart" tabindex="0" role="application" aria-label="${`Timeline of ${duration(story.untilNs - story.fromNs)}. Arrow keys move, plus and minus zoom, n and p go to the next and the previous violation, f to the next fault, 0 shows the whole run, Escape lets go of the moment.`}" aria-describedby="state"><canvas id="head"></canvas><canvas id="lanes"></canvas></div>
<div id="state" aria-live="polite" hidden></div>
<p class="note">Drag to move; the + and − keys or Ctrl and the wheel zoom; click to see in words who held and what each server believed at that moment. Seconds since the run’s epoch, by the monotonic clock that no fault touches.</p>
${legend(story.keys, { evictions, skews })}
${notes.length === 0 ? undefined : markup`<p class="note">Drawn together or left out: ${notes.join('; ')}.</p>`}
</div>
<div id="tip" role="tooltip" hidden></div>`;
}

function tool(name: string, label: string, title: string): Markup {
  return markup`<button type="button" data-do="${name}" title="${title}" aria-label="${title}">${label}</button>`;
}

/** Boxes that the script fills; in words what is in them. */
export function plotsSection(clocksMoved: boolean, leftOut: number): Markup {
  const thinned = leftOut === 0 ? '' : ` ${leftOut} points are left out, always the quicker ones.`;
  return markup`<section id="plots" class="only-scripted"><h2>Over time</h2>
<p class="note">Faults are the bands. Drag to zoom: the timeline and the other plots follow.</p>
<figure><figcaption>How long acquires took, by outcome.${thinned}</figcaption><div id="plot-latency" class="plot"></div></figure>
<figure><figcaption>Operations that ended, per second</figcaption><div id="plot-rate" class="plot"></div></figure>
${clocksMoved ? markup`<figure><figcaption>Wall clocks against the machine’s</figcaption><div id="plot-clocks" class="plot"></div></figure>` : markup`<p class="note">No wall clock was ever seen more than 20 ms off the machine’s.</p>`}
</section>`;
}
