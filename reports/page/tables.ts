/** The tables below the drawing: faults, checkers, what came after the faults, and what was run. */

import { count, durationOfMs, moment, plural, serviceInWords } from '../../harness/record/facts/words.js';
import { clipped } from '../../harness/record/schemas/foreign-text.js';
import type { FaultEffect, FaultRecord } from '../../harness/vocabulary/history.js';
import type { LeastWorth, RunConfig } from '../../harness/vocabulary/run.js';
import type { HoldTimes } from '../../harness/vocabulary/workload.js';
import type { ReportInput } from '../input.js';
import { type Markup, markup } from '../markup.js';
import { type FaultStory, faultNumber, plannedWords, whenWords } from '../story/faults.js';
import type { Story } from '../story/story.js';
import { countFound } from '../words.js';
import type { Citations } from './cited.js';

/** Rows of a table that a reader would still read; the files have the rest. */
const MOST_FAULTS = 500;

// ---------------------------------------------------------------------------------------------------------- faults

export function faultsSection(story: Story, citations: Citations): Markup {
  if (story.faults.length === 0) return markup`<h2 id="faults">Faults</h2><p>None was planned, and none struck.</p>`;
  const rows = story.faults.slice(0, MOST_FAULTS).map((fault) => faultRow(fault, citations));
  const more = story.faults.length - rows.length;
  return markup`<h2 id="faults">Faults</h2>
<div class="scroll"><table class="faults"><thead><tr><th>no.</th><th>planned</th><th>outcome</th><th>really done; proof read back</th><th>healed; proof read back</th></tr></thead><tbody>${rows}</tbody></table></div>
${more > 0 ? markup`<p class="note">${count(more)} further steps are in <code>plan.json</code> and <code>history.jsonl</code>.</p>` : undefined}`;
}

const OUTCOME_CLASS: Record<FaultStory['outcome'], string> = {
  struck: 'good',
  refused: 'doubt',
  failed: 'bad',
  begun: 'doubt',
  'never struck': 'doubt',
};

function faultRow(fault: FaultStory, citations: Citations): Markup {
  const planned =
    fault.planned === undefined
      ? markup`${fault.fault}: not in the plan`
      : markup`<p>${clipped(plannedWords(fault.planned), 300)}</p><p class="muted">${whenWords(fault.planned)}, for ${durationOfMs(fault.planned.forMs)}</p>`;
  const done = fault.moments.filter(({ record }) => record.state !== 'heal');
  const healed = fault.moments.filter(({ record }) => record.state === 'heal');
  const told = (moments: FaultStory['moments']) =>
    moments.map(
      ({ atNs, line, record }) =>
        markup`<p><span class="when">${moment(atNs)}</span> ${recordWords(record)} <span class="note">${citations.historyLine(line)}</span></p>`,
    );
  const unhealed = fault.spans.some((span) => span.ended === 'open');
  return markup`<tr id="fault-${fault.step + 1}"><td class="nowrap">${faultNumber(fault.step)}</td><td>${planned}</td>
<td class="nowrap"><span class="state ${OUTCOME_CLASS[fault.outcome]}">${fault.outcome}</span></td>
<td>${done.length === 0 ? 'nothing: the run ended before it was due' : told(done)}</td>
<td>${told(healed)}${unhealed ? markup`<p><span class="state bad">no heal in the record</span></p>` : undefined}</td></tr>`;
}

function recordWords(record: FaultRecord): Markup {
  const state = record.state === 'refused' || record.state === 'failed' ? `${record.state}: ` : '';
  const extra = [
    record.targets.length > 0 ? `targets ${record.targets.join(', ')}` : undefined,
    ...record.effects.map(effectWords),
  ].filter((word) => word !== undefined);
  return markup`${state}${clipped(record.did, 600)}${extra.length > 0 ? markup` <span class="muted">(${clipped(extra.join('; '), 600)})</span>` : undefined}${record.proof === undefined ? undefined : markup`<br><span class="muted">proof: ${clipped(record.proof, 600)}</span>`}`;
}

/** What was done as data says more exactly than `did` what was cut, moved or lost; nothing where it says the same. */
function effectWords(effect: FaultEffect): string | undefined {
  switch (effect.kind) {
    case 'cut':
      return effect.untilNs === undefined ? `cut ${pairWords(effect.pairs)}` : undefined;
    case 'degraded':
      return effect.untilNs === undefined ? `degraded ${pairWords(effect.pairs)}` : undefined;
    case 'heard-after':
      return effect.untilNs === undefined
        ? `heard after others, within ${durationOfMs(effect.withinMs)}: ${pairWords(effect.pairs)}`
        : undefined;
    case 'connections-reset':
      return `reset ${pairWords(effect.pairs)}`;
    case 'syncs-slowly':
      return effect.untilNs === undefined
        ? `${effect.who.join(', ')}: a sync takes ${durationOfMs(effect.syncMs)}`
        : undefined;
    case 'slot-moves':
      return `slot ${effect.slot}: ${effect.who.join(' → ')}`;
    case 'forgot':
      return `forgot ${effect.who.join(', ')}`;
    case 'clock-jumped':
    case 'clock-strobes':
      return `clock ${effect.offsetMs >= 0 ? '+' : '−'}${durationOfMs(Math.abs(effect.offsetMs))}`;
    default:
      return undefined;
  }
}

/** Both ways of a link as one. */
function pairWords(all: readonly [from: string, to: string][]): string {
  const pairs = new Set(all.map(([from, to]) => `${from} ${to}`));
  const words = all.flatMap(([from, to]) => {
    if (!pairs.delete(`${from} ${to}`)) return [];
    return pairs.delete(`${to} ${from}`) ? [`${from} ↔ ${to}`] : [`${from} → ${to}`];
  });
  return words.join(', ');
}

// -------------------------------------------------------------------------------------------------------- checkers

/** How a verdict looks. */
export const VERDICT_CLASS: Record<string, string> = { valid: 'good', invalid: 'bad', unknown: 'doubt' };

export function checkersSection({ results }: ReportInput): Markup {
  const rows = results.checkers.map(
    (one) =>
      markup`<tr><td class="nowrap">${one.checker}</td><td class="nowrap"><span class="state ${VERDICT_CLASS[one.verdict] ?? 'doubt'}">${one.verdict}</span></td><td>${count(countFound(one))}</td><td>${statWords(one.stats)}</td><td>${one.notes.map((note) => markup`<p>${clipped(note, 1_000)}</p>`)}</td></tr>`,
  );
  return markup`<h2 id="checkers">Checkers</h2>
${rows.length === 0 ? markup`<p>No checker ran.</p>` : markup`<div class="scroll"><table><thead><tr><th>checker</th><th>verdict</th><th>violations</th><th>figures</th><th>notes</th></tr></thead><tbody>${rows}</tbody></table></div>`}
${Object.keys(results.stats).length === 0 ? undefined : markup`<p class="note">The run’s own figures: ${statWords(results.stats)}</p>`}`;
}

function statWords(stats: Record<string, number>): string {
  return clipped(
    Object.entries(stats)
      .map(([name, value]) => `${name} ${count(value)}`)
      .join(' · '),
    2_000,
  );
}

// ------------------------------------------------------------------------------------------------ after the faults

export function aftermathSection({ history }: ReportInput, citations: Citations): Markup {
  const rows = history.rare.flatMap((event) => {
    if (event.type === 'recovered') {
      const state =
        event.missing.length === 0
          ? markup`ready again after ${durationOfMs(event.afterMs)}`
          : markup`<span class="state bad">not ready</span> after ${durationOfMs(event.afterMs)}: ${clipped(event.missing.join('; '), 1_000)}`;
      return markup`<tr><td class="when">${moment(event.atNs)}</td><td>deployment</td><td>${state} <span class="note">${citations.historyLine(event.i)}</span></td></tr>`;
    }
    if (event.type === 'probe') {
      const state = event.acquired
        ? markup`<span class="state good">acquired</span> by ${event.client} after ${durationOfMs(event.afterMs)}`
        : markup`<span class="state bad">not acquired</span> by ${event.client} within ${durationOfMs(event.afterMs)}${event.reason === undefined ? '' : `: ${clipped(event.reason, 600)}`}`;
      return markup`<tr><td class="when">${moment(event.atNs)}</td><td>${clipped(event.key, 200)}</td><td>${state} <span class="note">${citations.historyLine(event.i)}</span></td></tr>`;
    }
    return [];
  });
  return markup`<h2 id="after">After the faults</h2>
${rows.length === 0 ? markup`<p>Neither recovery nor the liveness probe is in the record.</p>` : markup`<table><thead><tr><th>when</th><th>what</th><th>result</th></tr></thead><tbody>${rows.slice(0, 300)}</tbody></table>`}`;
}

// ---------------------------------------------------------------------------------------------------- what was run

export function factsSection({ config, settings, serverVersion, history }: ReportInput): Markup {
  const locks = [...new Set(history.rare.flatMap((event) => (event.type === 'client-up' ? [event.lock] : [])))];
  const facts: [string, string][] = [
    ['lock', `${config.lock}${locks.length > 0 ? ` (calls itself ${locks.join(', ')})` : ''}`],
    ['topology', `${config.topology} on ${config.runtime}`],
    ['servers', `${serviceInWords(config.service)} ${serverVersion}, ${config.redis.origin}: ${config.redis.path}`],
    ...(config.service === undefined ? [['persistence', config.topologyOptions.persistence] as [string, string]] : []),
    [
      'workload',
      `${config.workload}, ${config.careless ? 'careless clients (they ignore validity and lost)' : 'careful clients'}`,
    ],
    ['clients', String(config.clients)],
    ['keys', `${config.keys.length}: ${config.keys.join(', ')}`],
    ['lease', durationOfMs(config.leaseMs)],
    ['wait for the lock', durationOfMs(config.waitMs)],
    ['work under the lock', holdWords(config.hold)],
    ['time limit', durationOfMs(config.timeLimitMs)],
    ['seed', String(config.seed)],
    [
      'faults asked for',
      config.nemesis.length === 0
        ? 'none'
        : `${config.nemesis.join(', ')}, every ${durationOfMs(config.nemesisIntervalMs)}`,
    ],
    ['findings that fail a run', config.failOn.length === 0 ? 'none' : config.failOn.join(', ')],
    ...knownFacts(config.known),
    ...(config.atLeast === undefined ? [] : [['least for a pass', leastWords(config.atLeast)] as [string, string]]),
    ['client program', config.clientArgv.join(' ')],
    ...Object.entries(config.unavailable).map(([name, why]): [string, string] => [`without ${name}`, why]),
  ];
  return markup`<h2 id="run">What was run</h2>
<table class="facts"><tbody>${facts.map(([name, value]) => markup`<tr><th>${name}</th><td>${clipped(value, 1_000)}</td></tr>`)}</tbody></table>
<h3>Settings that differ from the servers’ defaults</h3>
${settings.length === 0 ? markup`<p>None.</p>` : markup`<div class="scroll"><table><thead><tr><th>where</th><th>setting</th><th>value</th><th>why</th></tr></thead><tbody>${settings.map((one) => markup`<tr><td>${clipped(one.where, 300)}</td><td class="mono">${clipped(one.name, 300)}</td><td class="mono">${clipped(one.value, 300)}</td><td>${clipped(one.why, 600)}</td></tr>`)}</tbody></table></div>`}`;
}

function knownFacts(known: RunConfig['known']): [string, string][] {
  if (known === undefined) return [];
  return [[known.allowed ? 'known findings, which fail nothing' : 'known findings', known.fingerprints.join(', ')]];
}

function leastWords({ holds, strikes, struckHolds }: LeastWorth): string {
  return [
    ...(holds === undefined ? [] : [plural(holds, 'hold')]),
    ...(strikes === undefined ? [] : [plural(strikes, 'strike')]),
    ...(struckHolds === undefined ? [] : [plural(struckHolds, 'struck hold')]),
  ].join(', ');
}

function holdWords(hold: HoldTimes): string {
  if (!('briefMs' in hold)) return `${hold.min} to ${hold.max} leases`;
  const { briefMs, long, longShare, longOn, habits } = hold;
  const leases = `${long.min.toPrecision(2)} to ${long.max} leases`;
  const kept = habits === undefined ? '' : `; ${habits.keptOn * 100} % of these up to ${habits.kept.max} leases`;
  const on = longOn === undefined ? '' : `, on ${longOn * 100} % of them`;
  return `nearly always ${briefMs.min} to ${briefMs.max} ms; ${leases} for ${longShare * 100} % of the keys' time${on}${kept}`;
}
