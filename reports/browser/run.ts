/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * The script of a run's report: makes the timeline and the plots out of the data that the page carries, and drawings when they are
 * opened. Everything else on the page is there without it.
 */
import type { FoldedData } from '../page/folded.js';
import { listenToCopying } from './copying.js';
import { Unfolding } from './folded.js';
import { showPlots } from './plots.js';
import { TimelineView } from './timeline.js';
import { unpack, unpackRun } from './unpack.js';
import { View } from './view.js';

const [data, folded] = await Promise.all([unpackRun('run-data'), unpack<FoldedData>('folded-data')]);
const view = new View(data.fromUs, Math.max(data.untilUs, data.fromUs + 1));
document.documentElement.classList.add('scripted');
const unfolding = new Unfolding(folded);
const timeline = new TimelineView(data, view);
showPlots(data, view);
listenToCopying();

const followHash = () => {
  if (view.goTo(location.hash)) document.getElementById('timeline')!.scrollIntoView();
  // What a link leads to may be folded away, or have moved: the timeline and the plots have just come up.
  else if (/^#[\w-]+$/.test(location.hash)) unfolding.reveal(location.hash.slice(1))?.scrollIntoView();
};
addEventListener('hashchange', followHash);
followHash();

// For tests, which have no eyes: how many frames were drawn, and what time is shown.
Object.assign(globalThis, { lockTorture: { timeline, view } });
