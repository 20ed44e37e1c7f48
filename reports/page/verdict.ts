/** The verdict: its first words, its three lines, and what each property came to, folded away. */

import { fewWords, firstWords, type Tone, toneOf, verdictLines } from '../../harness/record/facts/verdict-words.js';
import { count, listed } from '../../harness/record/facts/words.js';
import { clipped } from '../../harness/record/schemas/foreign-text.js';
import type { ReportInput } from '../input.js';
import { Markup, markup } from '../markup.js';
import { type PropertyLine, propertyLines } from '../properties.js';
import { notesInShort } from '../words.js';
import type { Glossary } from './terms.js';

const SIGNS: Readonly<Record<Tone, string>> = { held: '✓', passed: '!', violated: '✗', unknown: '?' };

export function verdictSection(input: ReportInput, terms: Glossary): Markup {
  const { results } = input;
  const tone = toneOf(results);
  const state = tone in SIGNS ? tone : 'unknown';
  const lines = verdictLines(results);
  const all = firstWords(results);
  const few = fewWords(results);
  const rest = all.slice(few.length).replace(/^[; ]+/, '');
  return markup`<section class="verdict ${state}" id="verdict">
<h1>${SIGNS[state]} ${clipped(few, 400)} <span>${rest === '' ? '' : `${clipped(rest, 400)} · `}exit status ${results.exitStatus}</span></h1>
${lines.length === 0 ? undefined : markup`<dl class="in-short">${lines.map(([name, line]) => markup`<div><dt>${name}</dt><dd>${terms.explained(clipped(line, 1_000))}</dd></div>`)}</dl>`}
${lines.length > 0 && results.violations.length > 0 ? undefined : headlineParagraph(input)}
${results.virtualTime === undefined ? undefined : markup`<p>${clipped(results.virtualTime, 1_000)}.</p>`}
${reasons(results)}
${properties(input)}
</section>`;
}

/** The sentence of which a run's list and log are made. Where three lines and a violation say the same, it stands above the violations. */
export function headlineParagraph({ results }: ReportInput): Markup {
  return markup`<p class="headline">${clipped(results.headline, 1_000)}</p>`;
}

/** Of a verdict that is no accusation they are why it is worth less: they are open. */
function reasons({ reasons, verdict }: ReportInput['results']): Markup | undefined {
  if (reasons.length === 0) return undefined;
  const heading =
    verdict === 'unknown' ? 'Why it cannot tell, and what else to know' : 'What weakens it or was left out';
  const open = verdict === 'violated' ? undefined : new Markup(' open=""');
  return markup`<details class="reasons"${open}><summary>${heading}: ${count(reasons.length)}</summary><ul>${notesInShort(reasons).map((reason) => markup`<li>${clipped(reason, 2_000)}</li>`)}</ul></details>`;
}

const STATE_CLASS = {
  held: 'good',
  broken: 'bad',
  allowed: 'doubt',
  weak: 'doubt',
  unknown: 'doubt',
  'none found': 'muted',
  'not judged': 'muted',
} as const;

function properties({ results, config }: ReportInput): Markup {
  const lines = propertyLines(results, config.failOn);
  const rows = lines.map(
    ({ words, state, verdict, told }) =>
      markup`<tr><td>${clipped(words, 400)}</td><td class="nowrap"><span class="state ${STATE_CLASS[state]}">${verdict}</span>${state === 'allowed' ? markup`<br><span class="note">does not fail this run</span>` : undefined}</td><td>${clipped(told, 1_000)}</td></tr>`,
  );
  if (rows.length === 0) return markup`<p>No checker ran.</p>`;
  return markup`<details id="properties"><summary>${propertyTally(lines)}</summary><div class="scroll"><table class="properties"><thead><tr><th>property</th><th>verdict</th><th>what was found</th></tr></thead><tbody>${rows}</tbody></table></div></details>`;
}

const TALLIED: Readonly<Record<PropertyLine['state'], string>> = {
  broken: 'broken',
  unknown: 'left open',
  allowed: 'broken as allowed',
  weak: 'held weakly',
  held: 'held',
  'none found': 'with nothing found',
  'not judged': 'not judged',
};

/** `2 of 13 properties broken, 10 held and 1 not judged`. */
function propertyTally(lines: readonly PropertyLine[]): string {
  const tally = Object.entries(TALLIED).flatMap(([state, words]) => {
    const times = lines.filter((line) => line.state === state).length;
    return times === 0 ? [] : [{ times, words }];
  });
  const ofAll = (times: number) =>
    `${count(times)} of ${count(lines.length)} ${lines.length === 1 ? 'property' : 'properties'}`;
  return listed(tally.map(({ times, words }, at) => `${at === 0 ? ofAll(times) : count(times)} ${words}`));
}
