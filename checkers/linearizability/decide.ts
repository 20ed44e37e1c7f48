/**
 * Decides whether one key's history can be explained by a lock of its model, by procedures that cost O(n log n) wherever
 * there is one, and hands over what makes the decision believed: witnesses that a second procedure has found impossible too,
 * or a linearization that was checked step by step.
 *
 * - **Cores** (`spans.ts`, `sweep.ts`): who certainly held when, and what must not overlap; unknown outcomes included.
 * - **Leases** (`lease.ts`): grants in the forced order of the cores, each as early as it can be.
 * - **Tokens** (`fences.ts`) and **refused tries** (`tries.ts`), where model and reading ask for them.
 * - **Search** (`search.ts`) for what is left: readers, nesting or several permits together with tries that inform, holds of
 *   unknown grants among leases or tries, leases shorter than their acquires took, permits with leases. It has a budget.
 *
 * What one client did follows from its own stamps; beyond its intervals nothing is taken from the order of its operations,
 * but that no hold ends before it began. A fair lock is decided as a mutex: in which order it served is judged elsewhere.
 */

import { plural } from '../../harness/record/facts/words.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import { isCrowded, isImpossible } from './confirm.js';
import { type Inversions, inversionsOf } from './fences.js';
import { type Schedule, schedule } from './lease.js';
import { searched } from './searched.js';
import { coverOf, overlappingSections } from './section-overlaps.js';
import { type Found, sectionsOf } from './sections.js';
import { certainSpans, SPAN, type Spans } from './spans.js';
import { type Moments, SortedSpans, type Swept, sweep } from './sweep.js';
import { orderWithTries, type Tried, triesInGaps } from './tries.js';
import type { DecideKey, DecideOptions, Decision, KeyHistory, Linearization, Reading, Witness } from './types.js';
import { BadLinearization, verify } from './verify.js';
import { Witnesses } from './witnesses.js';

export const decide: DecideKey = (history, model, reading, options) => {
  const facts = factsOf(history, model, reading, options);
  const found = countOf(facts);
  if (found > 0) return invalid(history, model, reading, options, facts, found);
  if (!isOpen(facts)) {
    const decision = valid(history, model, reading, facts);
    if (decision) return decision;
  }
  return bySearch(history, model, reading, options, facts);
};

/** What the fast procedures found. */
interface Facts {
  found: Found;
  /** When each section certainly held. */
  certain: SortedSpans;
  swept: Swept;
  /** Of windows without an instant, those that have none whatever else is done. */
  windows: number[];
  leased: Leased | undefined;
  inversions: Inversions | undefined;
  tried: Tried | undefined;
}

interface Leased {
  schedule: Schedule;
  /** When each section held in that schedule. */
  timeline: SortedSpans;
  swept: Swept;
}

function factsOf(history: KeyHistory, model: LockModel, reading: Reading, options: DecideOptions): Facts {
  const clients = history.operations.clients.length;
  const most = mostOf(options);
  const found = sectionsOf(history, model, reading);
  const certain = timelineOf(history, model, found, certainSpans(found.sections, model));
  const swept = sweep(certain, model, clients);
  const doubtful = new Set(swept.doubtful);
  const leased = reading.leases && hasLeases(found) ? leasedBy(history, model, found, certain, swept) : undefined;
  const exclusive = isExclusive(model) && !certain.spans.kind.includes(SPAN.adrift);
  return {
    found,
    certain,
    swept,
    windows: swept.unplaced.filter((k) => !doubtful.has(k)),
    leased,
    inversions:
      model.kind === 'fenced' ? inversionsOf(certain, history.operations, swept.overlaps > 0, most) : undefined,
    tried:
      found.tries.length > 0 ? triesInGaps(history, found, leased?.timeline ?? certain, exclusive, most) : undefined,
  };
}

function leasedBy(history: KeyHistory, model: LockModel, found: Found, certain: SortedSpans, swept: Swept): Leased {
  const scheduled = schedule(found.sections, certain.spans, model, swept.beganExcluded);
  const timeline = timelineOf(history, model, found, scheduled.spans);
  return { schedule: scheduled, timeline, swept: sweep(timeline, model, history.operations.clients.length) };
}

/** Of a fenced lock, grants that any order explains come in the order of their tokens. */
function timelineOf({ operations }: KeyHistory, { kind }: LockModel, { sections }: Found, spans: Spans): SortedSpans {
  if (kind !== 'fenced') return new SortedSpans(sections, spans);
  return new SortedSpans(sections, spans, (k) => {
    const token = operations.token[sections.acquire[k]!]!;
    return Number.isNaN(token) ? Number.NEGATIVE_INFINITY : token;
  });
}

/** Whether one holds at a time, and not even its own client beside it. */
function isExclusive(model: LockModel): boolean {
  if (model.kind === 'semaphore') return model.permits === 1;
  return model.kind !== 'reentrant' && model.kind !== 'read-write';
}

function hasLeases({ sections }: Found): boolean {
  for (let k = 0; k < sections.count; k++) if (sections.leaseNs[k] !== Number.POSITIVE_INFINITY) return true;
  return false;
}

function countOf({ found, swept, windows, leased, inversions, tried }: Facts): number {
  const together = swept.overlaps + swept.tooDeep + windows.length;
  const chains = leased?.schedule.chains.length ?? 0;
  return found.errors.length + together + chains + (inversions?.count ?? 0) + (tried?.count ?? 0);
}

/** Whether the fast procedures, having found nothing impossible, cannot tell that all is possible. */
function isOpen({ swept, leased, tried }: Facts): boolean {
  const unfit = leased && (leased.swept.overlaps > 0 || leased.swept.tooDeep > 0 || leased.swept.unplaced.length > 0);
  return swept.unplaced.length > 0 || unfit === true || leased?.schedule.isOpen === true || tried?.isOpen === true;
}

/** One is looked for even where none is asked for: nothing is called impossible that was not confirmed. */
function mostOf({ witnesses }: DecideOptions): number {
  return Math.max(1, witnesses);
}

// ------------------------------------------------------------------------------------------------------------- valid

/** Undefined where the order that was found does not hold and nothing said that it must. */
function valid(history: KeyHistory, model: LockModel, reading: Reading, facts: Facts): Decision | undefined {
  const { found, certain, leased, tried } = facts;
  const timeline = leased?.timeline ?? certain;
  const linearization = tried
    ? orderWithTries(history, found, timeline)
    : rowsOf((leased?.swept ?? facts.swept).moments, found);
  const error = verify(history, model, reading, linearization);
  // A token is not looked at where the order of the grants was open: then another order may do.
  if (error !== undefined && model.kind === 'fenced' && hasOpenOrder(certain)) return undefined;
  if (error !== undefined) throw new BadLinearization(history, error);
  return {
    verdict: 'valid',
    procedure: procedureOf(facts),
    witnesses: [],
    found: 0,
    notes: notesOf(history, model, facts),
    linearization,
  };
}

function hasOpenOrder({ sections, spans }: SortedSpans): boolean {
  const { kind, fromNs, untilNs } = spans;
  for (let k = 0; k < sections.count; k++)
    if (kind[k] === SPAN.adrift || (kind[k] === SPAN.window && fromNs[k] !== untilNs[k])) return true;
  return false;
}

/** The acquires and releases of sections, as they began and ended. What a lease ended has no release by then. */
function rowsOf({ count, section, atNs }: Moments, { sections }: Found): Linearization {
  const { acquire, endRow, endCallNs } = sections;
  const order = new Int32Array(count);
  const pointsNs = new Float64Array(count);
  let filled = 0;
  for (let at = 0; at < count; at++) {
    const k = section[at]!;
    if (k < 0 && (endRow[~k]! < 0 || atNs[at]! < endCallNs[~k]!)) continue;
    order[filled] = k >= 0 ? acquire[k]! : endRow[~k]!;
    pointsNs[filled++] = atNs[at]!;
  }
  return { order: order.subarray(0, filled), pointsNs: pointsNs.subarray(0, filled) };
}

// ----------------------------------------------------------------------------------------------------------- invalid

interface Claim {
  witness: Witness;
  confirmed: () => boolean;
}

function invalid(
  history: KeyHistory,
  model: LockModel,
  reading: Reading,
  options: DecideOptions,
  facts: Facts,
  found: number,
): Decision {
  const claims = claimsOf(history, model, reading, facts, mostOf(options))
    .sort((a, b) => a.witness.untilNs - b.witness.untilNs || a.witness.fromNs - b.witness.fromNs)
    .slice(0, mostOf(options));
  const confirmed: Witness[] = [];
  const unconfirmed: Witness[] = [];
  for (const { witness, confirmed: isConfirmed } of claims) (isConfirmed() ? confirmed : unconfirmed).push(witness);
  return {
    verdict: confirmed.length > 0 ? 'invalid' : 'unknown',
    procedure: procedureOf(facts),
    witnesses: confirmed.slice(0, options.witnesses),
    found: confirmed.length > 0 ? found - unconfirmed.length : 0,
    notes: [
      ...unconfirmed.map(({ kind, proof }) => `a second procedure did not confirm this ${kind}, a bug: ${proof}`),
      ...notesOf(history, model, facts),
      ...(isOpen(facts) ? ['what else there may be, and only a search could find, was not looked for'] : []),
    ],
  };
}

function claimsOf(
  history: KeyHistory,
  model: LockModel,
  reading: Reading,
  { found, certain, swept, windows, leased, inversions, tried }: Facts,
  most: number,
): Claim[] {
  const witnesses = new Witnesses(history, model, found, certain.spans);
  const claim = (witness: Witness): Claim => ({
    witness,
    confirmed: () => isImpossible(history, witness.rows, model, reading),
  });
  const together =
    swept.overlaps + swept.tooDeep === 0 ? [] : overlappingSections(certain, model, swept.tooDeep > 0, most);
  const crowds = together.map((one): Claim => {
    const witness = witnesses.overlap(one);
    if (model.kind !== 'semaphore') return claim(witness);
    const ofSections = one.sections.map((k) => witnesses.rowsOf(k));
    return { witness, confirmed: () => isCrowded(history, ofSections, model.permits, reading) };
  });
  const byEnd = [...windows].sort((a, b) => certain.spans.untilNs[a]! - certain.spans.untilNs[b]!).slice(0, most);
  const errors = [...found.errors].sort((a, b) => a.untilNs - b.untilNs).slice(0, most);
  return [
    ...errors.map((error) => claim(witnesses.protocol(error))),
    ...crowds,
    ...byEnd.map((k) => claim(witnesses.window(k, coverOf(certain, model, k)))),
    ...(leased?.schedule.chains.slice(0, most) ?? []).map((chain) => claim(witnesses.chain(chain))),
    ...(inversions?.earliest ?? []).map((inversion) => claim(witnesses.inversion(inversion))),
    ...(tried?.inGaps ?? []).map((one) => claim(witnesses.tryInGap(one))),
  ];
}

// ------------------------------------------------------------------------------------------------------------ search

function bySearch(
  history: KeyHistory,
  model: LockModel,
  reading: Reading,
  options: DecideOptions,
  facts: Facts,
): Decision {
  const result = searched(history, model, reading, options.search);
  const notes = notesOf(history, model, facts);
  const decision: Decision = { verdict: result.verdict, procedure: 'search', witnesses: [], found: 0, notes };
  if (result.verdict === 'valid') return { ...decision, linearization: result.linearization };
  if (result.verdict === 'unknown')
    return { ...decision, notes: ['the fast procedures found nothing impossible', ...result.notes, ...notes] };
  const witness = new Witnesses(history, model, facts.found, facts.certain.spans).search(result.rows);
  return { ...decision, found: 1, witnesses: [witness].slice(0, options.witnesses) };
}

// ------------------------------------------------------------------------------------------------------------- notes

function procedureOf({ leased, inversions, tried }: Facts): string {
  const parts = [leased ? 'lease-greedy' : 'cores'];
  if (inversions) parts.push('tokens');
  if (tried) parts.push('free-gaps');
  return parts.join(' + ');
}

function notesOf({ operations: ops }: KeyHistory, model: LockModel, { found, inversions }: Facts): string[] {
  const notes: string[] = [];
  if (model.kind === 'fair')
    notes.push('a fair lock is decided as a mutex here: in which order it served is judged apart');
  if (found.denied > 0)
    notes.push(
      `${plural(found.denied, 'release')} of known holds told "not yours": strictly an error of the client's that ends nothing`,
    );
  if (model.kind === 'fenced') {
    const { acquire, count, returnNs } = found.sections;
    let without = 0;
    for (let k = 0; k < count; k++)
      if (Number.isNaN(ops.token[acquire[k]!]!) && returnNs[k] !== Number.POSITIVE_INFINITY) without++;
    if (without > 0) notes.push(`${plural(without, 'grant')} without a token: nothing is said of those`);
  }
  if (inversions && inversions.count + inversions.answeredBeforeCall > 0)
    notes.push(
      `tokens that did not rise: ${plural(inversions.count, 'grant')} after certain holds with no lower ones; ` +
        `${plural(inversions.answeredBeforeCall, 'grant')} asked for when one with no lower token had been answered`,
    );
  return notes;
}
