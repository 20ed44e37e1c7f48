/** Violations by what they have in common, so that eighty of one cause are told once. Pure; every report and the terminal group by this. */
import type { BlameName, CauseName, Violation, ViolationClass } from '../../vocabulary/verdict.js';
import { blamedOn } from './blame.js';
import { className, storyKey } from './classes.js';
import { clearestOf, lengthOf } from './clearest.js';
import { count, duration } from './words.js';

/** A violation by its number in the order of reporting, from 1 on. */
export interface Numbered {
  number: number;
  violation: Violation;
}

/** Violations of one class, kind and cause, with one to blame. */
export interface FindingGroup {
  class: ViolationClass;
  kind: string;
  cause: CauseName;
  blame: BlameName;
  /** Whether such findings were known before the run. */
  known: Violation['known'];
  /** `exclusion broken`, or with its kind `harm done (lost update)`. */
  what: string;
  /** The cause in a few words: `failover lost the write`, `cause not proven`. */
  why: string;
  /** All of them that are at hand, in the order of reporting. Never empty. */
  members: readonly Numbered[];
  /** The one to show: certain and long (`clearestOf`). */
  clearest: Numbered;
  /** Of the longest whose bounds are known, nanoseconds; 0: none lasted. */
  longestNs: number;
}

/**
 * The groups of violations that are in the order of reporting (`inOrderOfTelling`), as those of `results.json` are. They come in the
 * same order: what fails the run first, of that the lock's own mistakes, of these the gravest.
 */
export function groupsOf(violations: readonly Violation[]): FindingGroup[] {
  const stories = new Map<string, Numbered[]>();
  violations.forEach((violation, at) => {
    const key = storyKey(violation);
    const members = stories.get(key);
    if (members) members.push({ number: at + 1, violation });
    else stories.set(key, [{ number: at + 1, violation }]);
  });
  return [...stories.values()].map(groupOf);
}

function groupOf(members: readonly Numbered[]): FindingGroup {
  const { class: name, kind, cause, known } = members[0]!.violation;
  const best = clearestOf(members.map(({ violation }) => violation));
  return {
    class: name,
    kind,
    cause: cause.name,
    blame: blamedOn(members[0]!.violation),
    known,
    what: kind === 'overlap' ? className(name) : `${className(name)} (${kind.replaceAll('-', ' ')})`,
    why: causeInWords(members[0]!.violation),
    members,
    clearest: members.find(({ violation }) => violation === best)!,
    longestNs: members.reduce((longest, { violation }) => {
      const length = lengthOf(violation);
      return Number.isFinite(length) ? Math.max(longest, length) : longest;
    }, 0),
  };
}

/** A violation's cause in a few words. Results of earlier versions have none: their causes are told by name. */
export function causeInWords({ cause, blame }: Violation): string {
  if (cause.name !== 'unexplained') return cause.phrase ?? cause.name.replaceAll('-', ' ');
  return blame?.on === 'lock' ? 'the step of the lock that did it is not shown' : 'cause not proven';
}

/** `failover lost the write ×80, longest 1.1 s`, of one `failover lost the write, for 1.1 s`. */
export function groupInWords({ why, members, longestNs }: FindingGroup): string {
  if (members.length === 1) return longestNs > 0 ? `${why}, for ${duration(longestNs)}` : why;
  const longest = longestNs > 0 ? `, longest ${duration(longestNs)}` : '';
  return `${why} ×${count(members.length)}${longest}`;
}
