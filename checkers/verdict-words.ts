/**
 * What every report begins with: the verdict with whose mistake it is, and three lines that anybody understands.
 *
 * Promises: what fails the run is told by its gravest blame (the lock, unexplained, the deployment, the lease), and numbers count
 * what is proven. "No other mistake of the lock found" is said only where nothing is unexplained, counted without its cause, or
 * left open by a checker, whatever `--fail-on` and known findings let pass; it never says that the lock made none.
 */

import { blamedOn } from '../harness/record/facts/blame.js';
import { countOfClass } from '../harness/record/facts/classes.js';
import { leaseKindOf } from '../harness/record/facts/lease-kind.js';
import { toneOf } from '../harness/record/facts/verdict-words.js';
import { count, listed, plural, serviceInWords } from '../harness/record/facts/words.js';
import { CLASSES } from '../harness/record/schemas/violation-class.js';
import type { CheckInput } from '../harness/vocabulary/run.js';
import type {
  BlameName,
  CheckerResult,
  Hold,
  Results,
  VerdictWords,
  Violation,
  ViolationClass,
} from '../harness/vocabulary/verdict.js';
import { causePhrase } from './causes/descriptions.js';
import { lossesIn } from './causes/losses.js';
import { boundPercent, ENOUGH_STRIKES, WITHOUT_FAULTS } from './worth/strength.js';

/** What a run came to, before it is put into words. */
export interface Weighed {
  input: CheckInput;
  verdict: Results['verdict'];
  checkers: readonly CheckerResult[];
  /** All of them, and those that fail the run. */
  violations: readonly Violation[];
  failing: readonly Violation[];
  found: Results['found'];
  /** What `--fail-on lock` would come to, and what is open then. */
  own: { verdict: Results['verdict']; open: readonly string[] };
  stats: Record<string, number>;
}

export function verdictWordsOf(run: Weighed): VerdictWords {
  const stronger = commandForMore(run);
  return {
    verdict: firstWordsOf(run),
    lock: lockLine(run),
    deployment: deploymentLine(run),
    leases: leasesLine(run),
    ...(stronger !== undefined && { stronger }),
  };
}

// ------------------------------------------------------------------------------------------------------------ verdict

function firstWordsOf(run: Weighed): string {
  const tone = toneOf(run);
  if (tone === 'unknown') return 'CANNOT TELL';
  if (tone === 'passed')
    return `PASSED, WITH ${listed(allowedCounts(run)).toUpperCase()} ALLOWED BY ${allowedBy(run.violations, countedOnly(run) > 0, run)}`;
  if (tone === 'held') return heldWords(run);
  const [lock, unexplained] = [blaming(run.failing, 'lock'), blaming(run.failing, 'unexplained')];
  if (lock.length > 0) return 'VIOLATED by the lock';
  if (unexplained.length > 0) return 'VIOLATED, cause unknown';
  const [lost, overslept] = [blaming(run.failing, 'deployment'), blaming(run.failing, 'lease')];
  const whose = [
    ...(lost.length > 0 ? [`not safe on ${run.input.config.topology} (${lossesIn(lost, 'short')})`] : []),
    ...(overslept.length > 0 ? [outlasted(overslept, 'their lease')] : []),
  ];
  // Nothing but what is counted, of which nothing else is known.
  if (whose.length === 0) return 'VIOLATED, cause unknown';
  return `VIOLATED: ${whose.join(', and ')}; ${whatElse(run)}`;
}

/** What is said of the lock where what fails the run is not its mistake. */
function whatElse(run: Weighed): string {
  const own = blaming(run.violations, 'lock');
  if (own.length > 0) return `mistakes of the lock, too, allowed by ${allowedBy(own, false, run)}`;
  const untold = countedOnly(run);
  if (untold > 0) return `${plural(untold, 'finding')} more ${untold === 1 ? 'is' : 'are'} not explained`;
  return isClear(run) ? 'no other mistake of the lock found' : 'whether the lock made a mistake, too, cannot be told';
}

/** Nothing is open of the lock's own mistakes, not even by what was known before. */
function isClear({ own, violations }: Pick<Weighed, 'own' | 'violations'>): boolean {
  return own.verdict === 'held' && violations.every((one) => ['deployment', 'lease'].includes(blamedOn(one)));
}

function heldWords(run: Weighed): string {
  if (run.input.config.scenario !== undefined) return 'HELD in this play';
  const { counted, holds, struck } = worthOf(run);
  if (counted === 0) return struck ? 'HELD, without a strike to count' : 'HELD, without a hold to count';
  const what = struck
    ? `${plural(counted, 'strike')} (${plural(holds, 'hold')} struck)`
    : `${plural(counted, 'hold')} without faults`;
  return isWeak(run) ? `HELD, weakly: in only ${what}` : `HELD in ${what}`;
}

/** What was found, by kind, in a run that nothing fails. */
function allowedCounts({ checkers, violations, found, input }: Weighed): string[] {
  return CLASSES.flatMap((name) => {
    const times = found[name] ?? 0;
    if (times === 0) return [];
    if (name === 'stale') return [staleCount(violations, times)];
    if (name !== 'exclusion') return [countOfClass(times, name)];
    const overlaps = checkers.reduce((sum, one) => sum + overlapsOf(one), 0);
    const others = times - overlaps;
    const one = input.model.kind === 'semaphore' ? 'hold beyond the permits' : 'double hold';
    const many = input.model.kind === 'semaphore' ? 'holds beyond the permits' : 'double holds';
    return [
      ...(overlaps > 0 ? [plural(overlaps, one, many)] : []),
      ...(others > 0 ? [plural(others, 'other breach of exclusion', 'other breaches of exclusion')] : []),
    ];
  });
}

/** How many overlaps a checker counted: all that it counted of the class, where all that it lists are overlaps. */
function overlapsOf({ violations, found }: CheckerResult): number {
  const listedHere = violations.filter((one) => one.class === 'exclusion');
  const overlaps = listedHere.filter(({ kind }) => kind === 'overlap').length;
  return overlaps === listedHere.length && overlaps > 0 ? (found?.exclusion ?? overlaps) : overlaps;
}

/** Of what is counted only it is not known whether it is of the same holder. */
function staleCount(violations: readonly Violation[], times: number): string {
  const stale = violations.filter((one) => one.class === 'stale');
  return stale.length === times
    ? plural(holdersIn(stale), 'stale holder')
    : plural(times, 'overlap with a stale holder', 'overlaps with stale holders');
}

/** Which flags let these pass; `others`: there is more of them, of which nothing is known. */
function allowedBy(violations: readonly Violation[], others: boolean, { input: { config } }: Weighed): string {
  const isKnown = ({ known }: Violation) => known === 'allowed';
  const byClass = others || violations.some((one) => !isKnown(one));
  return [
    ...(byClass ? [`--fail-on ${config.failOn.length === 0 ? 'none' : config.failOn.join(',')}`] : []),
    ...(violations.some(isKnown) ? ['--known-ok'] : []),
  ].join(' and ');
}

// ---------------------------------------------------------------------------------------------------------- the lines

function lockLine(run: Weighed): string {
  const { violations, own } = run;
  const [mine, open] = [blaming(violations, 'lock'), blaming(violations, 'unexplained')];
  const untold = countedOnly(run);
  const more = [
    ...(open.length > 0 ? [`${plural(open.length, 'finding')} ${open.length === 1 ? 'is' : 'are'} unexplained`] : []),
    ...(untold > 0 ? [`${count(untold)} more ${untold === 1 ? 'is' : 'are'} counted without a cause`] : []),
  ];
  if (mine.length > 0)
    return `its own mistake in ${plural(mine.length, 'finding')}: ${phrasesOf(mine)}.${more.length > 0 ? ` ${capital(listed(more))}.` : ''}`;
  if (more.length > 0) return `no mistake of its own is proven, but ${listed(more)}: each may be one.`;
  const [why] = own.open;
  if (!isClear(run))
    return `whether it made a mistake cannot be told${why === undefined ? '' : `: ${why}`}.`.replace(/\.\.$/, '.');
  return `no mistake of its own was found${worthWords(run)}.`;
}

/** `it was overwritten ×5, slept ×1`: most often first. */
function phrasesOf(violations: readonly Violation[]): string {
  const times = new Map<string, number>();
  for (const { cause, kind } of violations) {
    const phrase = cause.name === 'unexplained' ? kind.replaceAll('-', ' ') : causePhrase(cause.name);
    times.set(phrase, (times.get(phrase) ?? 0) + 1);
  }
  return [...times]
    .sort(([, a], [, b]) => b - a)
    .map(([phrase, many]) => (times.size === 1 ? phrase : `${phrase} ×${count(many)}`))
    .join(', ');
}

function worthWords(run: Weighed): string {
  if (run.input.config.scenario !== undefined) return ' in this play, which is one course of events';
  const { counted, holds, struck } = worthOf(run);
  if (counted === 0) return struck ? ', but no fault struck a lock that was held' : '';
  const where = run.input.config.virtualTime ? ' in virtual time' : '';
  const which = struck ? `${plural(counted, 'strike')}${where} at ${plural(holds, 'hold')}` : plural(counted, 'hold');
  const untested = struck ? '' : `, ${WITHOUT_FAULTS}${where}`;
  return isWeak(run)
    ? ` in only ${which}, which is weak: up to ${boundPercent(counted)} % of such may go wrong, at 95 % confidence${untested}`
    : ` in ${which}: at most ${boundPercent(counted)} % of such go wrong, at 95 % confidence${untested}`;
}

function deploymentLine({ violations, input }: Weighed): string {
  const lost = blaming(violations, 'deployment');
  const service = serviceInWords(input.config.service);
  const told =
    lost.length > 0
      ? `${service} ${lossesIn(lost, 'long')}.`
      : `${service} is not known to have lost what it had granted.`;
  const { outlook } = input;
  return outlook === undefined || (outlook.promises && lost.length > 0) ? told : `${told} ${outlook.text}`;
}

function leasesLine({ violations, checkers, found, stats, input }: Weighed): string {
  const late = blaming(violations, 'lease');
  const others = violations.filter((one) => one.class === 'stale' && blamedOn(one) !== 'lease').length;
  const untold = Math.max(0, (found.stale ?? 0) - violations.filter((one) => one.class === 'stale').length);
  const refused = stats.refusedStale ? ` The resource refused ${plural(stats.refusedStale, 'stale write')}.` : '';
  const more = untold > 0 ? ` ${count(untold)} more overlaps with stale holders are counted without a cause.` : '';
  if (late.length > 0) return `${outlasted(late, 'theirs')}; fencing contains it.${more}${refused}`;
  if (others > 0)
    return `${plural(others, 'finding')} of a stale holder, none of which only its lease explains.${more}${refused}`;
  const judged = checkers.filter(({ properties = [] }) => properties.some((property) => property.class === 'stale'));
  if (judged.length === 0) return `whether a holder outslept its lease was not judged.${refused}`;
  const isOpen = judged.some(({ verdict, open = [] }) => verdict === 'unknown' || open.includes('stale'));
  if (isOpen) return `whether a holder outslept its lease beside another one cannot be told.${refused}`;
  if (leaseKindOf(input.history) === 'none') return `this lock has none.${refused}`;
  return `no holder was found at work past its lease beside another holder.${refused}`;
}

const OUTLASTED: Record<string, string> = {
  'client-paused': 'outslept',
  'granted-late': 'outslept',
  'client-slow': 'worked past',
};

/** `17 holders outslept their lease`. */
function outlasted(violations: readonly Violation[], what: 'their lease' | 'theirs'): string {
  const verbs = new Set(violations.map(({ cause }) => OUTLASTED[cause.name] ?? 'went on past'));
  const [verb] = verbs;
  const holders = holdersIn(violations);
  const whose = holders > 1 ? what : what === 'theirs' ? 'its own' : 'its lease';
  return `${plural(holders, 'holder')} ${verbs.size === 1 ? verb : 'went on past'} ${whose}`;
}

/** How many holders were late, each counted once. */
function holdersIn(violations: readonly Violation[]): number {
  const late = ({ holds, fromNs }: Violation): Hold | undefined =>
    holds.find(({ leaseEndNs }) => leaseEndNs <= fromNs) ?? holds[0];
  const names = violations.map((one, at) => {
    const hold = late(one);
    return hold ? `${hold.client} ${hold.id}` : `of finding ${at}`;
  });
  return new Set(names).size;
}

// ----------------------------------------------------------------------------------------------------------- strength

/** Strikes with the holds that they met, where faults were planned; else all holds. */
function worthOf({ input, stats }: Pick<Weighed, 'input' | 'stats'>): {
  counted: number;
  holds: number;
  struck: boolean;
} {
  const { strikes = 0, struckHolds = 0, holds = 0 } = stats;
  return input.plan.steps.length > 0
    ? { counted: strikes, holds: struckHolds, struck: true }
    : { counted: holds, holds, struck: false };
}

function isWeak(run: Pick<Weighed, 'input' | 'stats'>): boolean {
  return worthOf(run).counted < ENOUGH_STRIKES;
}

/** Runs are not alike: so many that three quarters of what this one had are enough. */
const LIKE_THIS_ONE = 0.75;

/** A series of runs like this one, whose strikes are counted together, is worth enough by all of them. */
function commandForMore(run: Weighed): string | undefined {
  const { config } = run.input;
  const { counted } = worthOf(run);
  if (config.scenario !== undefined || !isClear(run) || !isWeak(run) || counted === 0) return undefined;
  return `${config.reproduce} --times ${Math.ceil(ENOUGH_STRIKES / (LIKE_THIS_ONE * counted))}`;
}

// ------------------------------------------------------------------------------------------------------------- shared

function blaming(violations: readonly Violation[], on: BlameName): Violation[] {
  return violations.filter((violation) => blamedOn(violation) === on);
}

/** Findings that are counted, and not among those that are told one by one. */
function countedOnly({ violations, found }: Pick<Weighed, 'violations' | 'found'>): number {
  const rest = (name: ViolationClass) =>
    Math.max(0, (found[name] ?? 0) - violations.filter((one) => one.class === name).length);
  return CLASSES.reduce((sum, name) => sum + rest(name), 0);
}

function capital(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}`;
}
