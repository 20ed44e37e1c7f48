/** What was measured, and whether the history can be explained at all: tables beside the verdict, which decide nothing. */

import { count, durationOfMs } from '../../harness/record/facts/words.js';
import { clipped } from '../../harness/record/schemas/foreign-text.js';
import type { Measurement } from '../../harness/vocabulary/verdict.js';
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
  return markup`<h3>${TITLES.availability}</h3>
<p class="note">For how much of the time each key was available, as far as tries show; in brackets the longest time in which it was not.</p>
<div class="scroll"><table><thead><tr><th>during</th>${keys.map((key) => markup`<th>${clipped(key, 200)}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;
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
  return markup`<h3>${TITLES[name] ?? name}</h3>
<div class="scroll"><table><thead><tr><th>of</th>${keyed ? markup`<th>key</th>` : undefined}${values.map((value) => markup`<th class="number">${heading(value)}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>
${more > 0 ? markup`<p class="note">${count(more)} further rows are in <code>results.json</code>.</p>` : undefined}`;
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

export function readingsSection({ results }: ReportInput): Markup {
  if (results.readings.length === 0) return markup``;
  const rows = results.readings.map(
    (one) =>
      markup`<tr><td class="nowrap">${one.title}</td><td class="nowrap"><span class="state ${VERDICT_CLASS[one.verdict] ?? 'doubt'}">${one.verdict}</span></td><td>${count(one.found)}</td><td>${one.procedure}</td><td>${[...one.proofs, ...one.notes].slice(0, 4).map((text) => markup`<p>${clipped(text, 600)}</p>`)}</td></tr>`,
  );
  return markup`<h2 id="readings">Can the history be explained at all?</h2>
<p class="note">Linearizability, under each reading of what a history leaves open. It asks for more than the verdict does: here a client that died, or whose release was refused, still holds; and strictly there are no leases. So a run can have held although one of these finds something that did no harm.</p>
<div class="scroll"><table><thead><tr><th>reading</th><th>verdict</th><th>findings</th><th>decided by</th><th>the first of them</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
