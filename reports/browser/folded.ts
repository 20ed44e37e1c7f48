/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** Makes what a page has folded away when it is opened. The other side of `reports/page/folded.ts`, whose markup is escaped there. */
import type { FoldedData } from '../page/folded.js';

export class Unfolding {
  constructor(private readonly data: FoldedData) {
    // It does not bubble.
    document.addEventListener('toggle', ({ target }) => this.fill(target as HTMLElement), true);
  }

  /** What is directly in it, not in something closed further in. */
  private fill(opened: HTMLElement): void {
    if (!(opened instanceof HTMLDetailsElement) || !opened.open) return;
    for (const place of opened.querySelectorAll<HTMLElement>('[data-folded]'))
      if (place.closest('details') === opened) this.make(place);
  }

  private make(place: HTMLElement): void {
    const { pieces, bodies } = this.data;
    place.innerHTML = bodies[place.dataset.folded!]!.map((at) => pieces[at]).join('');
    delete place.dataset.folded;
  }

  /** The element with this id, however deep it is folded away: everything around it is opened. */
  reveal(id: string): HTMLElement | null {
    if (document.getElementById(id) === null) {
      const inside = `id="${id}"`;
      for (const place of document.querySelectorAll<HTMLElement>('[data-folded]'))
        if (this.data.bodies[place.dataset.folded!]!.some((at) => this.data.pieces[at]!.includes(inside)))
          this.make(place);
    }
    const target = document.getElementById(id);
    for (let at = target?.closest('details'); at; at = at.parentElement?.closest('details')) {
      at.open = true;
      this.fill(at);
    }
    return target;
  }
}
