/** What is found of an adapter: of the program between a lock and this tool, not of the lock. */

/** Kinds of mistakes; each is told once, with how often it was seen. */
export const RULES = [
  'protocol',
  'doubt',
  'stamp-missing',
  'stamp-late',
  'not-renewed',
  'release-left-key',
  'fail-though-done',
  'lease-unit',
  'lease-shorter',
  'feature-not-shown',
  'feature-not-claimed',
  'names-unknown',
] as const;

export type AdapterRule = (typeof RULES)[number];

export interface AdapterFinding {
  rule: AdapterRule;
  /** `mistake`: what it says is not so. `advice`: true, but less can be found than could be. */
  weight: 'mistake' | 'advice';
  /** What was seen, in one sentence, with the first time. */
  text: string;
  /** What to do about it, in one sentence. */
  remedy: string;
  /** How often it was seen. */
  count: number;
}

/** One time that something was seen. */
export interface Sighting {
  text: string;
}

/** A finding of everything that was seen; none where nothing was. */
export function found(
  rule: AdapterRule,
  weight: AdapterFinding['weight'],
  seen: readonly Sighting[],
  remedy: string,
): AdapterFinding[] {
  return seen[0] ? [{ rule, weight, text: seen[0].text, remedy, count: seen.length }] : [];
}
