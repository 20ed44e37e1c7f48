/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * The script of a run's report: makes the timeline and the plots out of the data that the page carries. Everything else
 * on the page is there without it.
 */
import { showPlots } from './plots.js';
import { TimelineView } from './timeline.js';
import { unpack } from './unpack.js';
import { View } from './view.js';

const data = await unpack('run-data');
const view = new View(data.fromUs, Math.max(data.untilUs, data.fromUs + 1));
document.documentElement.classList.add('scripted');
const timeline = new TimelineView(data, view);
showPlots(data, view);

const followHash = () => {
  if (view.goTo(location.hash)) document.getElementById('timeline')!.scrollIntoView();
  else if (/^#[\w-]+$/.test(location.hash)) {
    // What a link leads to may be folded away, or have moved: the timeline and the plots have just come up.
    const target = document.getElementById(location.hash.slice(1));
    for (let at = target?.closest('details'); at; at = at.parentElement?.closest('details')) at.open = true;
    target?.scrollIntoView();
  }
};
addEventListener('hashchange', followHash);
followHash();

addEventListener('beforeprint', () => {
  for (const one of document.querySelectorAll<HTMLDetailsElement>('details.violation')) one.open = true;
});

// For tests, which have no eyes: how many frames were drawn, and what time is shown.
Object.assign(globalThis, { lockTorture: { timeline, view } });
