/** The magnified drawing of one violation: its two holds, what the servers believed, and the faults around them. */

import { moment } from '../../harness/record/facts/words.js';
import type { Slot } from '../story/slots.js';
import type { Step } from '../story/steps.js';
import type { Mark, Story } from '../story/story.js';
import { type DrawnWindow, windowOf } from '../story/window.js';
import type { Flag } from './canvas.js';
import { drawSheet, type SheetDrawing } from './sheet.js';

/** Bars of each sort in one close-up: what a reader can take in, and what keeps the file small. */
const BUDGET = 100;
/** Where no hold says which clients matter (a deadlock, say), this many lanes are shown. */
const MOST_LANES = 8;

export interface CloseUp extends SheetDrawing, DrawnWindow {
  name: string;
}

/** The flags are the story's steps. */
export function closeUps(mark: Mark, story: Story, steps: readonly Step[]): CloseUp[] {
  const window = windowOf(mark.violation, story);
  const sheets = [closeUp(mark, story, steps, window, 'Close-up')];
  const length = mark.violation.untilNs - mark.violation.fromNs;
  // An overlap of a few pixels shows that it is there, not which came first: it gets a second, closer drawing.
  if (length > 0 && length < (window.untilNs - window.fromNs) / 50) {
    const around = { fromNs: mark.violation.fromNs - 3 * length, untilNs: mark.violation.untilNs + 3 * length };
    sheets.push(closeUp(mark, story, steps, around, 'Closer still'));
  }
  return sheets;
}

function closeUp(mark: Mark, story: Story, steps: readonly Step[], window: DrawnWindow, name: string): CloseUp {
  const { violation } = mark;
  const flags = steps.map(({ atNs, text }, at): Flag => ({ number: at + 1, atNs, text }));
  const span = `${moment(window.fromNs)} to ${moment(window.untilNs)}`;
  const sheet = drawSheet({
    story,
    ...window,
    slots: slotsShown(mark, story),
    nodes: story.beliefs.within(window.fromNs, window.untilNs),
    keys: [violation.key],
    mark,
    flags,
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
