/** The magnified drawing of one violation: its two holds, what the servers believed, and the faults around them. */
import type { Slot } from '../story/slots.js';
import type { Story } from '../story/story.js';
import { moment } from '../words.js';
import type { Flag, Mark } from './canvas.js';
import { drawSheet, type Sheet } from './sheet.js';

const SECOND_NS = 1e9;
/** How far back a grant or a step of the cause may pull the window: an hour-old hold would flatten the overlap. */
const REACH_BACK_NS = 8 * SECOND_NS;
const REACH_ON_NS = 4 * SECOND_NS;

export interface Window {
  fromNs: number;
  untilNs: number;
}

/** A second either side of the overlap, and more where the grants and the cause lie further off. */
export function closeUpWindow({ violation }: Mark, story: Story): Window {
  const end = Number.isFinite(violation.untilNs) ? violation.untilNs : story.untilNs;
  const moments = [
    ...violation.holds.flatMap((hold) => [hold.grantSentNs, hold.fromNs, hold.untilNs]),
    ...violation.cause.chain.map((link) => link.atNs),
  ].filter((ns) => ns >= violation.fromNs - REACH_BACK_NS && ns <= end + REACH_ON_NS);
  const fromNs = Math.min(violation.fromNs - SECOND_NS, ...moments.map((ns) => ns - SECOND_NS / 4));
  const untilNs = Math.max(end + SECOND_NS, ...moments.map((ns) => ns + SECOND_NS / 4));
  return {
    fromNs: Math.max(story.fromNs, fromNs),
    untilNs: Math.max(Math.min(story.untilNs, untilNs), story.fromNs + 1),
  };
}

/** Bars of each sort in one close-up: what a reader can take in, and what keeps the file small. */
const BUDGET = 100;
/** Where no hold says which clients matter (a deadlock, say), this many lanes are shown. */
const MOST_LANES = 8;

export interface CloseUp extends Sheet, Window {
  name: string;
}

export function closeUps(mark: Mark, story: Story): CloseUp[] {
  const window = closeUpWindow(mark, story);
  const sheets = [closeUp(mark, story, window, 'Close-up')];
  const length = mark.violation.untilNs - mark.violation.fromNs;
  // An overlap of a few pixels shows that it is there, not which came first: it gets a second, closer drawing.
  if (length > 0 && length < (window.untilNs - window.fromNs) / 50) {
    const around = { fromNs: mark.violation.fromNs - 3 * length, untilNs: mark.violation.untilNs + 3 * length };
    sheets.push(closeUp(mark, story, around, 'Closer still'));
  }
  return sheets;
}

function closeUp(mark: Mark, story: Story, window: Window, name: string): CloseUp {
  const { violation } = mark;
  const flags = violation.cause.chain.map((link, at): Flag => ({ number: at + 1, atNs: link.atNs, text: link.text }));
  const span = `${moment(window.fromNs)} to ${moment(window.untilNs)}`;
  const sheet = drawSheet({
    story,
    ...window,
    slots: slotsShown(mark, story),
    nodes: story.beliefs.within(window.fromNs, window.untilNs),
    keys: [violation.key],
    marks: [mark],
    flags,
    size: 'close',
    budget: BUDGET,
    name: `Violation ${mark.number}, ${name.toLowerCase()}: ${span}`,
  });
  return { ...sheet, ...window, name };
}

function slotsShown({ violation }: Mark, story: Story): Slot[] {
  const involved = new Set(violation.holds.map((hold) => story.slotOf.get(hold.client)));
  const shown = story.slots.filter((slot) => involved.has(slot));
  return shown.length > 0 ? shown : story.slots.slice(0, MOST_LANES);
}
