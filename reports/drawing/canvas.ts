/**
 * A drawing in the making: its scale, its lanes and its three layers. The files beside this one each draw one part of
 * it, from the top down, and move `y` on.
 */
import type { Markup } from '../markup.js';
import type { NodeBelief } from '../story/beliefs.js';
import type { Slot } from '../story/slots.js';
import type { Mark, Story } from '../story/story.js';
import { label } from './pieces.js';
import { isInWindow, type Scale, xOf } from './scale.js';

/** A numbered moment of a cause's chain. */
export interface Flag {
  number: number;
  atNs: number;
  text: string;
}

export interface SheetOptions {
  story: Story;
  fromNs: number;
  untilNs: number;
  slots: readonly Slot[];
  /** What the servers believed in that time. */
  nodes: readonly NodeBelief[];
  /** Rows in each node's lane. */
  keys: readonly string[];
  mark: Mark;
  flags: readonly Flag[];
  /** Most bars of each sort: holds, refusals, beliefs. */
  budget: number;
  /** What the drawing shows, for readers who cannot see it. */
  name: string;
}

export const WIDTH = 800;
export const LEFT = 74;
export const RIGHT = 792;

/** Of lanes and what is in them. */
const SIZES = { bar: 22, ticks: 10, role: 15, key: 19, gap: 8 };

export interface CanvasLane {
  y: number;
  height: number;
  /** Where several hosts share a lane: whose bands are drawn in it. */
  sharedBy?: string;
}

/** A drawing in the making. Bands lie behind everything, marks in front. */
export class Canvas {
  readonly behind: Markup[] = [];
  readonly main: Markup[] = [];
  readonly front: Markup[] = [];
  readonly notes: string[] = [];
  readonly lanes = new Map<string, CanvasLane>();
  readonly scale: Scale;
  readonly sizes = SIZES;
  /** The holds of the violations, by their beginnings; then by client and id, since the objects are others. */
  private readonly highlighted: ReadonlyMap<number, ReadonlySet<string>>;
  y = 2;

  constructor(readonly options: SheetOptions) {
    this.scale = { fromNs: options.fromNs, untilNs: options.untilNs, left: LEFT, right: RIGHT };
    const highlighted = new Map<number, Set<string>>();
    for (const hold of options.mark.violation.holds) {
      const names = highlighted.get(hold.fromNs) ?? new Set();
      highlighted.set(hold.fromNs, names.add(`${hold.client} ${hold.id}`));
    }
    this.highlighted = highlighted;
  }

  x(ns: number): number {
    return xOf(this.scale, ns);
  }

  sees(fromNs: number, untilNs: number): boolean {
    return isInWindow(this.scale, fromNs, untilNs);
  }

  /** True for the holds of the violation. */
  highlights(k: number): boolean {
    const { holds } = this.options.story;
    const names = this.highlighted.get(holds.fromNs[k]!);
    if (!names) return false;
    const { client, id } = holds.hold(k);
    return names.has(`${client} ${id}`);
  }

  colour(key: string): string {
    const at = this.options.story.keys.indexOf(key);
    return at < 0 ? 'k-other' : `k${at % KEY_COLOURS}`;
  }
}

export const KEY_COLOURS = 8;

export function drawHeading(canvas: Canvas, text: string): void {
  canvas.y += 3;
  canvas.main.push(label('heading', 4, canvas.y + 11, text));
  canvas.y += 19;
}
