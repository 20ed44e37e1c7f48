/** Reads a report back, independently of the code that wrote it: its markup, its scales, its bars. */

import { unpacked } from '../../../reports/data/pack.js';
import type { PageData } from '../../../reports/data/page-data.js';
import { unfolded } from '../../../reports/page/folded.js';

export interface Tag {
  name: string;
  attributes: Record<string, string>;
  at: number;
}

/** The page without its style, its script and what only that reads: markup, which can be parsed. What is folded away is in its place. */
export function markupOf(page: string): string {
  const data = /<script type="application\/octet-stream" id="folded-data">([^<]*)</.exec(page)?.[1];
  const bodyOf = data === undefined ? () => '' : unfolded(data);
  return withoutScripts(page).replace(
    /(<div) data-folded="([\w-]+)"(>)/g,
    (_, tag, name, end) => `${tag}${end}${bodyOf(name)}`,
  );
}

/** The same as it is while nothing has been opened. */
export function withoutScripts(page: string): string {
  return page
    .replace(/<style>[^<]*<\/style>/, '')
    .replace(/<script [^>]*>[^<]*<\/script>\n/g, '')
    .replace(/<script type="module">[\s\S]*?<\/script>/, '');
}

/** What the page's script is given, with all lists in times, not differences. */
export function dataOf(page: string): PageData {
  const data = unpacked<PageData>(/<script type="application\/octet-stream" id="run-data">([^<]*)</.exec(page)![1]!);
  const addUp = (list: number[]) => {
    for (let n = 1; n < list.length; n++) list[n]! += list[n - 1]!;
  };
  for (const { holds, tries } of data.slots) for (const list of [holds, tries]) addUp(list.fromUs);
  for (const { owners } of data.nodes) for (const list of owners) addUp(list.fromUs);
  return data;
}

/** Every tag of a document; throws where the markup is not well formed, so an escape that was forgotten shows. */
export function tagsOf(document: string): Tag[] {
  const tags: Tag[] = [];
  const open: string[] = [];
  const token =
    /<!doctype html>|<\?xml[^<>]*\?>|<(\/?)([a-zA-Z][\w-]*)((?:\s+[\w:-]+="[^"<>]*"|\s+defer)*)\s*(\/?)>|[^<>]+/y;
  while (token.lastIndex < document.length) {
    const at = token.lastIndex;
    const match = token.exec(document);
    if (match === null) throw new Error(`not well formed at ${at}: ${JSON.stringify(document.slice(at, at + 120))}`);
    const [, closing, name, written = '', selfClosing] = match;
    if (name === undefined) continue;
    if (closing === '/') {
      const expected = open.pop();
      if (expected !== name) throw new Error(`</${name}> closes <${expected}> at ${at}`);
      continue;
    }
    const attributes = Object.fromEntries(
      [...written.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, key, value]) => [key!, value!]),
    );
    tags.push({ name, attributes, at });
    if (selfClosing !== '/' && !['meta', 'br', 'input'].includes(name)) open.push(name);
  }
  if (open.length > 0) throw new Error(`never closed: ${open.join(', ')}`);
  return tags;
}

export interface DrawnSheet {
  source: string;
  tags: Tag[];
  /** The moment at an x, from the scale that the drawing states. */
  momentAt(x: number): number;
  nsPerPx: number;
}

/** The drawings of a page. */
export function sheetsOf(document: string): DrawnSheet[] {
  return [...document.matchAll(/<svg class="sheet"[\s\S]*?<\/svg>/g)].map(([source]) => {
    const tags = tagsOf(source);
    const { attributes } = tags[0]!;
    const number = (name: string) => {
      if (attributes[name] === undefined) throw new Error(`the drawing does not state ${name}`);
      return Number(attributes[name]);
    };
    const nsPerPx = (number('data-until-ns') - number('data-from-ns')) / (number('data-right') - number('data-left'));
    return { source, tags, nsPerPx, momentAt: (x) => number('data-from-ns') + (x - number('data-left')) * nsPerPx };
  });
}

/** The rectangles of one hold, in order: lease running, then stale. */
export function holdBars(sheet: DrawnSheet, name: string): { class: string; fromNs: number; untilNs: number }[] {
  const start = sheet.source.indexOf(`data-hold="${name}"`);
  if (start < 0) return [];
  const group = sheet.source.slice(start, sheet.source.indexOf('</g>', start));
  return [...group.matchAll(/<rect class="(hold|hold-edge) [^"]*" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g)].map(
    ([, kind, x, width]) => ({
      class: kind!,
      fromNs: sheet.momentAt(Number(x)),
      untilNs: sheet.momentAt(Number(x) + Number(width)),
    }),
  );
}
