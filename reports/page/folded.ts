/**
 * Parts of a page that are made when a reader opens them: what stands in their place until then, and their markup as data that the
 * page carries. The script's side of it is `reports/browser/folded.ts`. Without it what stands in their place is all there is.
 */
import { packed, unpacked } from '../data/pack.js';
import { type Markup, markup } from '../markup.js';

/** Drawings of the same moments repeat each other's elements, further apart than a packer looks back: each is there once. */
export interface FoldedData {
  pieces: string[];
  /** By name: the pieces that it is made of. */
  bodies: Record<string, number[]>;
}

export class Folded {
  private readonly pieces = new Map<string, number>();
  private readonly bodies: FoldedData['bodies'] = {};

  /** What stands in its place. `name` is an id of the page that nothing else has. */
  fold(name: string, body: Markup): Markup {
    if (this.bodies[name] !== undefined) throw new Error(`${name} is folded away already`);
    this.bodies[name] = body.source.split(/(?<=>)(?=<)/).map((piece) => {
      const at = this.pieces.get(piece) ?? this.pieces.size;
      this.pieces.set(piece, at);
      return at;
    });
    return markup`<div data-folded="${name}"></div>`;
  }

  /** For `pageFrame`. */
  packed(): string {
    return packed({ pieces: [...this.pieces.keys()], bodies: this.bodies } satisfies FoldedData);
  }
}

/** For tests: a part's markup by its name. */
export function unfolded(data: string): (name: string) => string {
  const { pieces, bodies } = unpacked<FoldedData>(data);
  return (name) => bodies[name]!.map((at) => pieces[at]).join('');
}
