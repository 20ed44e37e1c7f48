/**
 * What the classes of findings are called, and in which order violations are reported. Every other place asks here.
 */
import type { FailOn, Violation, ViolationClass } from '../../vocabulary/verdict.js';
import { BLAMES } from '../schemas/blame.js';
import { CLASSES } from '../schemas/violation-class.js';
import { BEARINGS, bearingOf, blamedOn } from './blame.js';
import { clearestOf } from './clearest.js';
import { plural } from './words.js';

interface ClassWords {
  /** As the label of one finding: `exclusion broken`. */
  name: string;
  /** As what is counted: `2 overlaps of two holders`. */
  one: string;
  many: string;
}

const WORDS: Record<ViolationClass, ClassWords> = {
  exclusion: { name: 'exclusion broken', one: 'overlap of two holders', many: 'overlaps of two holders' },
  harm: { name: 'harm done', one: 'case of harm', many: 'cases of harm' },
  stale: { name: 'stale holder', one: 'stale holder', many: 'stale holders' },
  liveness: { name: 'liveness lost', one: 'failure of liveness', many: 'failures of liveness' },
};

/** `exclusion broken`, `stale holder`, ... A class that only a record from elsewhere knows is named as it is. */
export function className(name: string): string {
  return WORDS[name as ViolationClass]?.name ?? name;
}

/** `2 stale holders`. */
export function countOfClass(count: number, name: ViolationClass): string {
  return plural(count, WORDS[name].one, WORDS[name].many);
}

/** The same for violations that tell the same: of one class, kind and cause, with one to blame. */
export function storyKey(violation: Violation): string {
  return `${violation.class} ${violation.kind} ${violation.cause.name} ${blamedOn(violation)}`;
}

/**
 * The order in which violations are reported and numbered, everywhere: those that fail the run, then those of which it cannot
 * be told, then those that it allows; of these first the lock's own mistakes, then what is unexplained, the deployment's and
 * the lease's (`schemas/blame.ts`); of each class, kind and cause the clearest (`clearestOf`) before a second of any; then the gravest
 * class, and then by time. The clearest stands where the earliest of its cause would.
 */
export function inOrderOfTelling(violations: readonly Violation[], failOn: readonly FailOn[]): readonly Violation[] {
  const byTime = [...violations].sort((a, b) => a.fromNs - b.fromNs);
  const stories = new Map<string, Violation[]>();
  for (const violation of byTime) {
    const story = storyKey(violation);
    const same = stories.get(story);
    if (same) same.push(violation);
    else stories.set(story, [violation]);
  }
  const first = [...stories.values()].map((same) => clearestOf(same)!);
  const told = new Set(first);
  const ranked = [...first, ...byTime.filter((violation) => !told.has(violation))].map((violation) => ({
    violation,
    again: told.has(violation) ? 0 : 1,
    bearing: BEARINGS.indexOf(bearingOf(violation, failOn)),
  }));
  const blame = ({ violation }: { violation: Violation }) => BLAMES.indexOf(blamedOn(violation));
  const gravity = ({ violation }: { violation: Violation }) => CLASSES.indexOf(violation.class);
  return ranked
    .sort((a, b) => a.bearing - b.bearing || blame(a) - blame(b) || a.again - b.again || gravity(a) - gravity(b))
    .map(({ violation }) => violation);
}
