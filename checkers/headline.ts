/** The one sentence that a verdict opens with. */

import { blamedOn, whose } from '../harness/record/facts/blame.js';
import { className, countOfClass } from '../harness/record/facts/classes.js';
import { listed, moment, plural } from '../harness/record/facts/words.js';
import { BLAMES } from '../harness/record/schemas/blame.js';
import { CLASSES } from '../harness/record/schemas/violation-class.js';
import type { LockModel } from '../harness/vocabulary/protocol.js';
import type { Checker, FindingKind } from '../harness/vocabulary/run.js';
import type { BlameName, Results, Violation, ViolationClass } from '../harness/vocabulary/verdict.js';
import { causePhrase } from './causes/descriptions.js';

/**
 * What a headline is made of: violations that are reported, those of them that fail the run, and how many there are in all.
 */
export interface Findings {
  violations: readonly Violation[];
  failing: readonly Violation[];
  found: Results['found'];
}

/** What was looked at, and in how many holds. */
export interface Judged {
  /** Exclusion was judged, and nothing was left open about it. */
  exclusion: boolean;
  model: LockModel;
  stats: Record<string, number>;
  /** Their words for what they found. */
  judges: readonly Checker[];
}

export function headlineOf(
  verdict: Results['verdict'],
  findings: Findings,
  open: readonly string[],
  judged: Judged,
): string {
  if (verdict === 'violated') return accusation(findings, judged.judges);
  if (verdict === 'unknown') return `Cannot tell: ${open[0]}.`.replace(/\.\.$/, '.');
  const { stats } = judged;
  const struck = stats.struckHolds
    ? `, ${stats.struckHolds} struck by a fault (${plural(stats.strikes ?? 0, 'strike')})`
    : '';
  const holds = `${plural(stats.holds ?? 0, 'hold')}${struck}`;
  if (findings.violations.length > 0)
    return `Nothing that fails this run was found in ${holds}; but ${alsoBlamed(findings.violations, untoldOf(findings.violations, findings.found))}.`;
  if (judged.exclusion) return `The lock held: ${holds}, ${neverHeld(judged.model)}.`;
  // Holders may well have held side by side: that was not asked, or cannot be determined and does not fail this run.
  const refused = stats.refusedStale ? `, ${plural(stats.refusedStale, 'stale write')} refused` : '';
  return `Nothing that fails this run was found: ${holds}${refused}; whether two ever held at once was not judged.`;
}

/** What no two clients, or more of them, did. */
function neverHeld(model: LockModel): string {
  if (model.kind === 'semaphore') return `never more than ${model.permits} at once`;
  return model.kind === 'read-write' ? 'never a writer beside another holder' : 'never two at once';
}

/** What fails the run first, in the order of telling: whose mistake it is, how often and why; and what else was found. */
function accusation({ violations, failing, found }: Findings, judges: readonly Checker[]): string {
  const told = failing[0]!;
  const on = blamedOn(told);
  const isOfIt = (one: Violation) =>
    one.class === told.class && one.kind === told.kind && blamedOn(one) === on && one.known === told.known;
  const same = violations.filter(isOfIt);
  // Told first is the clearest; what a headline names is when it began to go wrong.
  const first = same.reduce((a, b) => (b.fromNs < a.fromNs ? b : a));
  const others = violations.filter((one) => !isOfIt(one));
  const untold = untoldOf(violations, found);
  // Of what is counted only, nothing is known of its cause either.
  const counted = on === 'unexplained' ? untold[first.class] : 0;
  const what = happened(same.length + counted, first, judges);
  // What is the lock's own mistake by its kind is not unexplained, though no cause is named.
  const isNamed = on !== 'lock' || first.cause.name !== 'unexplained';
  const why = isNamed ? `, ${causePhrase(first.cause.name)}${AFTER_THE_CAUSE[on] ?? ''}` : '';
  const also = alsoBlamed(others, { ...untold, [first.class]: untold[first.class] - counted });
  return `${on === 'lock' ? `The lock's mistake. ${what}` : what} (first at ${moment(first.fromNs)} on ${first.key}${why})${also === '' ? '' : `; also ${also}`}.`;
}

/** How many of each class are counted, and not among the violations. */
function untoldOf(violations: readonly Violation[], found: Results['found']): Record<ViolationClass, number> {
  const rest = (name: ViolationClass) =>
    Math.max(0, (found[name] ?? 0) - violations.filter((one) => one.class === name).length);
  return Object.fromEntries(CLASSES.map((name) => [name, rest(name)])) as Record<ViolationClass, number>;
}

const AFTER_THE_CAUSE: Partial<Record<BlameName, string>> = {
  deployment: ": the deployment's doing",
  lease: ': no lease prevents that',
};

/** `2 stale holders (the lease's) and 1 failure of liveness (unexplained)`, in the order of telling. */
function alsoBlamed(others: readonly Violation[], untold: Record<ViolationClass, number>): string {
  const told = BLAMES.flatMap((on) =>
    CLASSES.flatMap((name) => {
      const times = others.filter((one) => blamedOn(one) === on && one.class === name).length;
      return times > 0 ? [`${countOfClass(times, name)} (${whose(on)})`] : [];
    }),
  );
  const rest = CLASSES.flatMap((name) =>
    untold[name] > 0 ? [`${countOfClass(untold[name], name)} not explained one by one`] : [],
  );
  return listed([...told, ...rest]);
}

/** By the kind of the first violation that fails the run, in the words of the checker that found it. */
function happened(count: number, first: Violation, judges: readonly Checker[]): string {
  const kind = findingKind(judges, first);
  if (kind) return kind.headline(count, first);
  const name = className(first.class);
  return `${name[0]!.toUpperCase()}${name.slice(1)}: ${plural(count, 'finding')} of the kind "${first.kind}"`;
}

/** What a checker says of findings like this one; undefined for those of a record from elsewhere. */
export function findingKind(judges: readonly Checker[], { class: name, kind }: Violation): FindingKind | undefined {
  return judges
    .flatMap(({ properties }) => properties)
    .find((property) => property.class === name && Object.hasOwn(property.kinds, kind))?.kinds[kind];
}
