/** The timeline as one thing: two canvases, its controls, what is under the pointer, and the moment that is pinned. */

import { duration, moment } from '../../harness/record/facts/words.js';
import type { PageData } from '../data/page-data.js';
import { drawHead, type Head, layOutHead } from './draw-head.js';
import { drawLanes } from './draw-lanes.js';
import { listenToKeys, listenToPointer, type Steering } from './input.js';
import { type Lane, type Layout, layOut } from './lanes.js';
import { faultWords, stateAt, underPointer, type Words } from './look.js';
import { Pen } from './pen.js';
import { onThemeChange, readTheme } from './theme.js';
import type { View } from './view.js';

/** This close counts as pointed at, CSS pixels. */
const NEAR_PX = 4;
/** So long after the last change the address is brought up to date. */
const SETTLED_MS = 200;

export class TimelineView implements Steering {
  private readonly head: Pen;
  private readonly lanes: Pen;
  private readonly headLayout: Head;
  private readonly layout: Layout;
  private readonly tip = element('tip');
  private readonly state = element('state');
  private readonly window = element('window');
  private drawn = true;
  private settling: number | undefined;
  /** Frames drawn since the page was opened: how tests measure smoothness. */
  frames = 0;

  constructor(
    readonly data: PageData,
    readonly view: View,
  ) {
    const theme = readTheme();
    this.head = new Pen(element('head') as HTMLCanvasElement, view, theme);
    this.lanes = new Pen(element('lanes') as HTMLCanvasElement, view, theme);
    this.headLayout = layOutHead(data);
    this.layout = layOut(data);
    listenToPointer(this.lanes, this);
    listenToPointer(this.head, this, this.headLayout.strip);
    listenToKeys(element('chart'), this);
    for (const button of document.querySelectorAll<HTMLButtonElement>('[data-do]'))
      button.addEventListener('click', () => this.command(button.dataset.do!));
    new ResizeObserver(() => this.draw()).observe(element('chart'));
    onThemeChange(() => {
      this.head.theme = this.lanes.theme = readTheme();
      this.draw();
    });
    view.listen(() => {
      this.draw();
      this.settle();
    });
    this.paint();
  }

  /** Once a frame, however much has changed. */
  draw(): void {
    if (!this.drawn) return;
    this.drawn = false;
    requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    this.drawn = true;
    this.frames++;
    const width = element('chart').clientWidth;
    this.head.resize(width, this.headLayout.height);
    this.lanes.resize(width, this.layout.height);
    drawHead(this.head, this.data, this.headLayout);
    drawLanes(this.lanes, this.data, this.layout);
    const { fromUs, untilUs, lengthUs, isAll } = this.view;
    const whole = isAll ? 'the whole run' : duration(lengthUs * 1e3);
    this.window.textContent = `${moment(fromUs * 1e3)} – ${moment(untilUs * 1e3)} (${whole})`;
  }

  /** The address follows the view, so that it can be passed on; and the pinned moment is put into words. */
  private settle(): void {
    clearTimeout(this.settling);
    this.settling = window.setTimeout(() => {
      const { hash } = this.view;
      if (hash !== location.hash)
        history.replaceState(null, '', hash === '' ? location.pathname + location.search : hash);
      this.tellState();
    }, SETTLED_MS);
  }

  private tellState(): void {
    const { atUs } = this.view;
    this.state.hidden = atUs === undefined;
    if (atUs === undefined) return;
    const { title, lines } = stateAt(this.data, this.layout.lanes, atUs);
    const heading = Object.assign(document.createElement('b'), { textContent: title });
    const list = document.createElement('ul');
    for (const line of lines) list.append(Object.assign(document.createElement('li'), { textContent: line }));
    this.state.replaceChildren(heading, list);
  }

  command(name: string): void {
    const { view } = this;
    const commands: Record<string, () => void> = {
      in: () => view.zoom(2),
      out: () => view.zoom(1 / 2),
      all: () => view.showAll(),
      left: () => view.pan(-0.15),
      right: () => view.pan(0.15),
      'next-violation': () => this.jump(1),
      'previous-violation': () => this.jump(-1),
      'next-fault': () => this.nextFault(),
      unpin: () => view.pin(undefined),
      copy: () => void this.copy(),
    };
    commands[name]?.();
  }

  /** To the violation that begins next after (or before) the pinned moment, or after the middle of what is shown. */
  private jump(step: 1 | -1): void {
    const marks = [...this.data.violations].sort((a, b) => a.fromUs - b.fromUs || a.number - b.number);
    if (marks.length === 0) return;
    const hereUs = this.view.atUs ?? (step > 0 ? this.view.firstUs - 1 : this.view.lastUs + 1);
    const next =
      step > 0 ? marks.find(({ fromUs }) => fromUs > hereUs) : marks.findLast(({ fromUs }) => fromUs < hereUs);
    const mark = next ?? (step > 0 ? marks[0]! : marks.at(-1)!);
    this.view.show(...mark.windowUs);
    this.view.pin(mark.fromUs);
  }

  private nextFault(): void {
    const faults = [...this.data.faults].sort((a, b) => a.fromUs - b.fromUs);
    const hereUs = this.view.atUs ?? this.view.firstUs - 1;
    const fault = faults.find(({ fromUs }) => fromUs > hereUs) ?? faults[0];
    if (fault === undefined) return;
    const around = Math.max(500_000, (fault.untilUs - fault.fromUs) / 4);
    this.view.show(fault.fromUs - around, fault.untilUs + around);
    this.view.pin(fault.fromUs);
  }

  private async copy(): Promise<void> {
    const link = new URL(this.view.hash === '' ? '#timeline' : this.view.hash, location.href).href;
    // Not every browser lets a page from a disk write there: then the address bar has the same link.
    const done = await navigator.clipboard?.writeText(link).then(
      () => true,
      () => false,
    );
    this.window.textContent = done ? 'link copied' : 'the link is in the address bar';
  }

  /** Shows what is there beside the pointer. */
  hover(pen: Pen, x: number, y: number): void {
    const words = x < pen.left ? [] : this.wordsAt(pen, x, y);
    this.tip.hidden = words.length === 0;
    if (words.length === 0) return;
    const lines = words.map((line, at) =>
      Object.assign(document.createElement(at === 0 ? 'b' : 'span'), { textContent: line }),
    );
    this.tip.replaceChildren(...lines);
    const bounds = pen.canvas.getBoundingClientRect();
    const [left, top] = [bounds.left + x, bounds.top + y];
    const { offsetWidth, offsetHeight } = this.tip;
    const beside = left + 14 + offsetWidth > innerWidth ? left - 14 - offsetWidth : left + 14;
    const below = top + 16 + offsetHeight > innerHeight ? top - 12 - offsetHeight : top + 16;
    this.tip.style.left = `${Math.max(4, beside)}px`;
    this.tip.style.top = `${Math.max(4, below)}px`;
  }

  leave(): void {
    this.tip.hidden = true;
  }

  private wordsAt(pen: Pen, x: number, y: number): Words {
    const us = pen.us(x);
    const nearUs = NEAR_PX * pen.usPerPx;
    if (pen === this.head) {
      const fault = this.headLayout.faults.find(
        ({ band, y: top }) =>
          y >= top &&
          y < top + 16 &&
          band.fromUs - nearUs <= us &&
          us <= Math.max(band.untilUs, band.fromUs + 120 * pen.usPerPx),
      );
      if (fault !== undefined) return faultWords(fault.band);
      const { marksY } = this.headLayout;
      if (y < marksY || y > marksY + 17) return [];
      return this.data.violations
        .filter(({ fromUs, untilUs }) => fromUs - 2 * nearUs <= us && us <= untilUs + 2 * nearUs)
        .slice(0, 5)
        .map(({ number, what }) => `${number}. ${what}`);
    }
    const lane = this.layout.lanes.find((one: Lane) => y >= one.y - 2 && y < one.y + one.height + 2);
    return lane === undefined ? [] : underPointer(this.data, lane, us, y, nearUs);
  }
}

function element(id: string): HTMLElement {
  return document.getElementById(id)!;
}
