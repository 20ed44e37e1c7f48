/** The page's sections, always in sight, each with how much is in it. */

import { count } from '../../harness/record/facts/words.js';
import { type Markup, markup } from '../markup.js';

/** `count` absent: a section that is nothing to count. */
export interface Section {
  id: string;
  name: string;
  count?: number;
}

export function navigation(entries: readonly Section[]): Markup {
  return markup`<nav aria-label="Sections">${entries.map(({ id, name, count: many }) => markup`<a href="${`#${id}`}">${name}${many === undefined ? undefined : markup` <b>${count(many)}</b>`}</a> `)}</nav>`;
}
