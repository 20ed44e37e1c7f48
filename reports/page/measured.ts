/** What was measured, and what the second procedure and other readings say of the same history. */

import { count, durationOfMs, plural } from '../../harness/record/facts/words.js';
import { clipped } from '../../harness/record/schemas/foreign-text.js';
import type { Measurement, ReadingResult, SecondProcedure } from '../../harness/vocabulary/verdict.js';
import type { ReportInput } from '../input.js';
import { type Markup, markup } from '../markup.js';
import { VERDICT_CLASS } from './tables.js';

/** Rows of a table that a reader would still read; results.json has the rest. */
const MOST_ROWS = 60;

const TITLES: Record<string, string> = {
  latency: 'Latency',
  recovery: 'Time until a lock was granted again',
  availability: 'Availability',
  'loss-to-notice': 'From losing a lock to knowing it',
  turnover: 'Turnover, fairness and price',
};

export function measuredSection({ results }: ReportInput): Markup {
  const byName = new Map<string, Measurement[]>();
  for (const one of results.checkers.flatMap(({ measurements }) => measurements ?? []))
    byName.set(one.name, [...(byName.get(one.name) ?? []), one]);
  if (byName.size === 0) return markup``;
  return markup`<h2>Measured</h2>${[...byName].map(([name, ofName]) => (name === 'availability' ? availability(ofName) : table(name, ofName)))}`;
}

/** Columns of keys that fit beside each other. */
const MOST_KEYS = 8;

/** By fault and key, where the keys are few: the rest is in results.json. */
function availability(measurements: readonly Measurement[]): Markup {
  const keys = [...new Set(measurements.map(({ key }) => key ?? ''))].sort();
  if (keys.length > MOST_KEYS) return table('availability', measurements);
  const byOf = new Map<string, Measurement[]>();
  for (const one of measurements) byOf.set(one.of, [...(byOf.get(one.of) ?? []), one]);
  const rows = [...byOf]
    .slice(0, MOST_ROWS)
    .map(
      ([of, ofThem]) =>
        markup`<tr><td>${clipped(of, 300)}</td>${keys.map((key) => availabilityCell(ofThem.find((one) => (one.key ?? '') === key)))}</tr>`,
    );
  return markup`<details><summary><h3>${TITLES.availability}</h3> ${plural(byOf.size, 'row')}</summary>
<p class="note">For how much of the time each key was available, as far as tries show; in brackets the longest time in which it was not.</p>
<div class="scroll"><table><thead><tr><th>during</th>${keys.map((key) => markup`<th>${clipped(key, 200)}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div></details>`;
}

function availabilityCell(one: Measurement | undefined): Markup {
  const percent = one?.values.availablePercent;
  if (percent === undefined) return markup`<td class="muted">no tries</td>`;
  const outage = one?.values.longestOutageMs ?? 0;
  return markup`<td class="bar">${figure(percent)} %${outage > 0 ? ` (${durationOfMs(outage)})` : ''}<i style="${`width:${Math.max(0, Math.min(100, percent)) * 0.9}%`}"></i></td>`;
}

function table(name: string, measurements: readonly Measurement[]): Markup {
  const values = [...new Set(measurements.flatMap((one) => Object.keys(one.values)))];
  const keyed = measurements.some(({ key }) => key !== undefined);
  const rows = measurements
    .slice(0, MOST_ROWS)
    .map(
      (one) =>
        markup`<tr><td>${clipped(one.of, 300)}</td>${keyed ? markup`<td>${clipped(one.key ?? '', 200)}</td>` : undefined}${values.map((value) => markup`<td class="number">${figure(one.values[value])}</td>`)}</tr>`,
    );
  const more = measurements.length - rows.length;
  return markup`<details><summary><h3>${TITLES[name] ?? name}</h3> ${plural(measurements.length, 'row')}</summary>
<div class="scroll"><table><thead><tr><th>of</th>${keyed ? markup`<th>key</th>` : undefined}${values.map((value) => markup`<th class="number">${heading(value)}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>
${more > 0 ? markup`<p class="note">${count(more)} further rows are in <code>results.json</code>.</p>` : undefined}</details>`;
}

function figure(value: number | undefined): string {
  if (value === undefined) return '';
  return Number.isInteger(value) ? count(value) : value.toFixed(value < 10 ? 2 : 1);
}

/** `longestOutageMs` is "longest outage, ms". */
function heading(name: string): string {
  const unit = /(Ms|Percent)$/.exec(name)?.[1];
  const bare = unit === undefined ? name : name.slice(0, -unit.length);
  const words = bare.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
  return unit === undefined ? words : `${words}, ${unit === 'Ms' ? 'ms' : '%'}`;
}

/** Of each reading, why it may say otherwise than the verdict. */
const DIFFERS: Record<string, string> = {
  strict: 'Here no lease ends, and a client that died, or whose release was refused, still holds.',
  'failed-release-ends': 'As strict, but a release that was answered "not yours" ends the hold.',
  lease:
    'Here a lease ends a hold that was not released; one whose release reached no server stands until its lease has run, while for the verdict its client has stopped.',
};

/** What the two procedures that decide exclusion say, and then the history under other readings. */
export function readingsSection({ results }: ReportInput): Markup {
  const second = results.checkers.find(({ checker }) => checker === 'mutual-exclusion')?.second;
  if (!second && results.readings.length === 0) return markup``;
  return markup`<h2 id="readings">Decided by two procedures</h2>${second ? twoProcedures(second) : undefined}${results.readings.length > 0 ? otherReadings(results.readings) : undefined}`;
}

function twoProcedures({ agreed, open, disagreed }: SecondProcedure): Markup {
  const of = agreed + open.length + disagreed.length;
  const state = disagreed.length > 0 ? 'bad' : open.length > 0 ? 'doubt' : 'good';
  const answer =
    disagreed.length > 0
      ? 'they disagree'
      : of === 0
        ? 'nothing was granted'
        : open.length > 0
          ? 'one procedure only'
          : 'one answer';
  return markup`<p><span class="state ${state}">${answer}</span> Exclusion and stale holders are decided twice: by a sweep over all holds, and by the linearizability checker, which shares neither the holds nor the sweep. They say the same of ${count(agreed)} of ${plural(of, 'key')}.</p>${items(disagreed)}${open.length > 0 ? markup`<p class="note">Of these only the sweep decided:</p>${items(open)}` : undefined}`;
}

function items(texts: readonly string[]): Markup | undefined {
  const shown = texts.slice(0, 20).map((text) => markup`<li>${clipped(text, 1_200)}</li>`);
  return texts.length > 0 ? markup`<ul>${shown}</ul>` : undefined;
}

function otherReadings(readings: readonly ReadingResult[]): Markup {
  const rows = readings.map(
    (one) =>
      markup`<tr><td class="nowrap">${one.title}</td><td class="nowrap"><span class="state ${VERDICT_CLASS[one.verdict] ?? 'doubt'}">${one.verdict}</span></td><td>${count(one.found)}</td><td>${one.procedure}</td><td>${[DIFFERS[one.reading], ...one.proofs, ...one.notes].slice(0, 4).map((text) => (text ? markup`<p>${clipped(text, 600)}</p>` : undefined))}</td></tr>`,
  );
  return markup`<details><summary>The same history under other readings, which ask for more than the verdict does</summary>
<div class="scroll"><table><thead><tr><th>reading</th><th>verdict</th><th>findings</th><th>decided by</th><th>why it may differ, and the first findings</th></tr></thead><tbody>${rows}</tbody></table></div></details>`;
}
