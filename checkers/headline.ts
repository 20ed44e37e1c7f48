/** The one sentence that a verdict opens with. */

import { className, countOfClass } from '../harness/record/facts/classes.js';
import { moment, plural } from '../harness/record/facts/words.js';
import { CLASSES } from '../harness/record/schemas/violation-class.js';
import type { LockModel } from '../harness/vocabulary/protocol.js';
import type { Checker } from '../harness/vocabulary/run.js';
import type { Results, Violation } from '../harness/vocabulary/verdict.js';
import { causePhrase } from './causes/explain.js';

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
  const struck = stats.struckHolds ? `, ${stats.struckHolds} struck by a fault` : '';
  const holds = `${plural(stats.holds ?? 0, 'hold')}${struck}`;
  if (findings.violations.length > 0)
    return `Nothing that fails this run was found in ${holds}; but ${alsoFound(findings.found)}.`;
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

/** The gravest class that fails the run, by its first finding, and what else was found: other kinds of it, other classes. */
function accusation({ violations, failing, found }: Findings, judges: readonly Checker[]): string {
  const gravest = CLASSES.find((name) => failing.some((violation) => violation.class === name))!;
  const first = failing.find((violation) => violation.class === gravest)!;
  const others = violations.filter((violation) => violation.class === gravest && violation.kind !== first.kind).length;
  const count = (found[gravest] ?? 0) - others;
  const what = happened(count, first, judges);
  const also = [
    ...(others > 0 ? [`${plural(others, 'more finding')} of that class`] : []),
    alsoFound({ ...found, [gravest]: 0 }),
  ].filter((text) => text !== '');
  return `${what} (first at ${moment(first.fromNs)} on ${first.key}, ${causePhrase(first.cause.name)})${also.length === 0 ? '' : `; also ${also.join(' and ')}`}.`;
}

/** By the kind of the first violation of the gravest class, in the words of the checker that found it. */
function happened(count: number, first: Violation, judges: readonly Checker[]): string {
  const property = judges
    .flatMap(({ properties }) => properties)
    .find(({ class: name, kinds }) => name === first.class && Object.hasOwn(kinds, first.kind));
  if (property) return property.kinds[first.kind]!.headline(count, first);
  const name = className(first.class);
  return `${name[0]!.toUpperCase()}${name.slice(1)}: ${plural(count, 'finding')} of the kind "${first.kind}"`;
}

function alsoFound(found: Results['found']): string {
  return CLASSES.flatMap((name) => (found[name] ? [countOfClass(found[name], name)] : [])).join(' and ');
}
