/** A verdict for people, the same in every report: its first words, how it is coloured, and its three lines. */
import type { Results } from '../../vocabulary/verdict.js';

/** `passed`: nothing fails the run, but something was found that `--fail-on` or `--known-ok` lets through. */
export type Tone = Results['verdict'] | 'passed';

type Judged = Pick<Results, 'verdict' | 'found' | 'words' | 'strength'>;

export function toneOf({ verdict, found }: Pick<Results, 'verdict' | 'found'>): Tone {
  return verdict === 'held' && Object.values(found).some((times) => times > 0) ? 'passed' : verdict;
}

/** The verdict's first words; results of earlier versions have none, and are told as far as they go. */
export function firstWords(judged: Judged): string {
  if (judged.words) return judged.words.verdict;
  const tone = toneOf(judged);
  if (tone === 'held') return `HELD (${judged.strength ?? 'its strength is not known'})`;
  return { passed: 'PASSED, WITH FINDINGS THAT ARE ALLOWED', violated: 'VIOLATED', unknown: 'CANNOT TELL' }[tone];
}

/** The same without its reasons, for badges and tables: `VIOLATED: not safe on sentinel`. */
export function fewWords(judged: Judged): string {
  return firstWords(judged).replace(/ \(.*$|;.*$/, '');
}

/** The three lines, each with its name; none in results of earlier versions. */
export function verdictLines({ words }: Pick<Results, 'words'>): [name: string, line: string][] {
  if (!words) return [];
  return [
    ['Lock', words.lock],
    ['Deployment', words.deployment],
    ['Leases', words.leases],
  ];
}
