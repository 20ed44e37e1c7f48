/**
 * What the classes of findings are called, and in which order violations are reported. Every other place asks here.
 */
import type { Violation, ViolationClass } from '../../vocabulary/verdict.js';
import { CLASSES } from '../schemas/violation-class.js';
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

/**
 * The order in which violations are reported and numbered, everywhere: those that fail the run before those that it allows;
 * of each class, kind and cause the earliest before a second of any, for a reader of five should see five stories and not
 * one of them five times; then the gravest class, and then by time.
 */
export function inOrderOfTelling(
  violations: readonly Violation[],
  failOn: readonly ViolationClass[],
): readonly Violation[] {
  const told = new Set<string>();
  const ranked = [...violations]
    .sort((a, b) => a.fromNs - b.fromNs)
    .map((violation) => {
      const story = `${violation.class} ${violation.kind} ${violation.cause.name}`;
      const again = told.has(story) ? 1 : 0;
      told.add(story);
      return { violation, again, allowed: failOn.includes(violation.class) ? 0 : 1 };
    });
  const gravity = ({ violation }: { violation: Violation }) => CLASSES.indexOf(violation.class);
  return ranked
    .sort((a, b) => a.allowed - b.allowed || a.again - b.again || gravity(a) - gravity(b))
    .map(({ violation }) => violation);
}
