/**
 * HTML and SVG that cannot be injected into: whatever a lock, a log or a user said is escaped by default, and only
 * what this folder wrote as a `markup` template goes out as it is. Excludes formatting of times and numbers.
 */
import { visible } from '../harness/record/schemas/foreign-text.js';

/** Text that is HTML or SVG already. Made here, and of constants that this folder wrote. */
export class Markup {
  constructor(readonly source: string) {}
  toString(): string {
    return this.source;
  }
}

export type MarkupPart = Markup | string | number | undefined | readonly MarkupPart[];

/** Template tag: strings are escaped, numbers rounded to a hundredth, nested markup and arrays kept. */
export function markup(strings: TemplateStringsArray, ...parts: MarkupPart[]): Markup {
  let out = strings[0] ?? '';
  parts.forEach((part, at) => {
    out += render(part) + (strings[at + 1] ?? '');
  });
  return new Markup(out);
}

/** Parts on lines of their own, as hover texts want them. */
export function stacked(parts: readonly MarkupPart[]): Markup {
  return new Markup(parts.map(render).join('\n'));
}

function render(part: MarkupPart): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.source;
  if (typeof part === 'number') return String(Math.round(part * 100) / 100);
  if (typeof part === 'string') return escapeText(part);
  return part.map(render).join('');
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escaped for text and for quoted attributes; characters that hide or reorder text are made visible. */
export function escapeText(text: string): string {
  return visible(String(text)).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
