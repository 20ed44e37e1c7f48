/** Pointer and keys. A plain wheel scrolls the page, as everywhere; with Ctrl it zooms, sideways it pans. */
import type { Pen } from './pen.js';
import type { View } from './view.js';

export interface Steering {
  readonly view: View;
  command(name: string): void;
  hover(pen: Pen, x: number, y: number): void;
  leave(): void;
}

const KEYS: Record<string, string> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  '+': 'in',
  '=': 'in',
  '-': 'out',
  '0': 'all',
  Home: 'all',
  n: 'next-violation',
  p: 'previous-violation',
  f: 'next-fault',
  c: 'copy',
  Escape: 'unpin',
};

/** Keys that mean something else to a page: they are the timeline's where it has the focus. */
const OF_THE_PAGE = new Set(['Home', 'Escape']);
const WRITTEN_IN = 'input,select,textarea,[contenteditable]';
const SCROLLED_SIDEWAYS = '.scroll,nav';

/**
 * The keys that tooltips name work wherever the focus is: after a press it is on a button, after a click beside the timeline nowhere.
 * They do not in a field, nor do arrows in what they scroll.
 */
export function listenToKeys(chart: HTMLElement, steering: Steering): void {
  document.addEventListener('keydown', (event) => {
    const command = KEYS[event.key];
    const at = event.target as Element;
    if (command === undefined || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const isThere = at.closest('#chart,.tools') !== null;
    const isTaken =
      OF_THE_PAGE.has(event.key) ||
      at.closest(WRITTEN_IN) !== null ||
      (event.key.startsWith('Arrow') && at.closest(SCROLLED_SIDEWAYS) !== null);
    if (!isThere && isTaken) return;
    event.preventDefault();
    steering.command(command);
    if (!isThere) chart.scrollIntoView({ block: 'nearest' });
  });
}
/** A pointer that moved less than this pressed, and did not drag. */
const PRESS_PX = 4;

/** `strip`: the part of the canvas that shows the whole run, where pressing goes to that time. */
export function listenToPointer(pen: Pen, steering: Steering, strip?: { y: number; height: number }): void {
  const { canvas } = pen;
  const { view } = steering;
  const pointers = new Map<number, { x: number; y: number }>();
  let pressedAt: { x: number; y: number; fromUs: number; untilUs: number; inStrip: boolean } | undefined;
  let dragged = false;

  const place = (event: PointerEvent | WheelEvent) => {
    const bounds = canvas.getBoundingClientRect();
    return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
  };
  const goInStrip = (x: number) => {
    const part = (x - pen.left) / (pen.right - pen.left);
    const middle = view.firstUs + part * (view.lastUs - view.firstUs);
    view.show(middle - view.lengthUs / 2, middle + view.lengthUs / 2);
  };

  canvas.addEventListener('pointerdown', (event) => {
    const at = place(event);
    pointers.set(event.pointerId, at);
    canvas.setPointerCapture(event.pointerId);
    const inStrip = strip !== undefined && at.y >= strip.y && at.y < strip.y + strip.height;
    pressedAt = { ...at, fromUs: view.fromUs, untilUs: view.untilUs, inStrip };
    dragged = false;
    if (inStrip) goInStrip(at.x);
  });
  canvas.addEventListener('pointermove', (event) => {
    const at = place(event);
    const before = pointers.get(event.pointerId);
    if (before === undefined || pressedAt === undefined) {
      steering.hover(pen, at.x, at.y);
      return;
    }
    if (pointers.size === 2) pinch(pen, view, pointers, event.pointerId, at);
    else if (pressedAt.inStrip) goInStrip(at.x);
    else if (dragged || Math.abs(at.x - pressedAt.x) > PRESS_PX) {
      dragged = true;
      const byUs = ((pressedAt.x - at.x) / (pen.right - pen.left)) * (pressedAt.untilUs - pressedAt.fromUs);
      view.show(pressedAt.fromUs + byUs, pressedAt.untilUs + byUs);
    }
    pointers.set(event.pointerId, at);
    steering.leave();
  });
  const lift = (event: PointerEvent) => {
    const at = place(event);
    const pressed = pointers.size === 1 && !dragged && pressedAt !== undefined && !pressedAt.inStrip;
    pointers.delete(event.pointerId);
    if (pressed && event.type === 'pointerup' && at.x >= pen.left) {
      view.pin(pen.us(at.x));
      steering.hover(pen, at.x, at.y);
    }
    if (pointers.size === 0) pressedAt = undefined;
    else dragged = true;
  };
  canvas.addEventListener('pointerup', lift);
  canvas.addEventListener('pointercancel', lift);
  canvas.addEventListener('pointerleave', () => steering.leave());
  canvas.addEventListener('dblclick', (event) => view.zoom(4, pen.us(place(event as unknown as PointerEvent).x)));
  canvas.addEventListener(
    'wheel',
    (event) => {
      const sideways =
        Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.shiftKey ? event.deltaY : 0;
      if (!event.ctrlKey && !event.metaKey && sideways === 0) return;
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) view.zoom(Math.exp(-event.deltaY / 300), pen.us(place(event).x));
      else view.pan(sideways / (pen.right - pen.left));
    },
    { passive: false },
  );
}

/** Two fingers: what was under each of them stays under it. */
function pinch(
  pen: Pen,
  view: View,
  pointers: ReadonlyMap<number, { x: number }>,
  moved: number,
  to: { x: number },
): void {
  const other = [...pointers].find(([id]) => id !== moved)![1].x;
  const before = Math.max(8, Math.abs(pointers.get(moved)!.x - other));
  view.zoom(Math.max(8, Math.abs(to.x - other)) / before, pen.us((to.x + other) / 2));
}
