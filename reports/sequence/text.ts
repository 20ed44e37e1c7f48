/** A sequence for the terminal: a line for each message and what is noted in between, by their milliseconds. */

import { duration } from '../../harness/record/facts/words.js';
import type { Violation } from '../../harness/vocabulary/verdict.js';
import type { ReportInput } from '../input.js';
import { storyOf } from '../story/story.js';
import { mostTelling, whatHappened } from '../words.js';
import { linesOfTime, type Row } from './rows.js';
import { type Sequence, sequenceOf } from './sequence.js';

/** So much time between two lines is said. */
const PAUSE_NS = 5e6;

const MOST_TOLD = 3;

/** Of a few violations, the most telling first, or of those that are asked for; undefined where the run kept no messages. */
export function messagesText(
  input: ReportInput,
  violations: readonly Violation[] = mostTelling(input.results.violations, MOST_TOLD).map(({ violation }) => violation),
): string | undefined {
  if (input.messages === undefined) return undefined;
  const story = storyOf(input);
  const texts = violations.flatMap((violation) => {
    const sequence = sequenceOf(input, story, violation);
    return sequence === undefined ? [] : [`${whatHappened(violation)}\n${sequenceText(sequence)}\n`];
  });
  return texts.length === 0 ? undefined : texts.join('\n');
}

export function sequenceText(sequence: Sequence): string {
  const width = Math.max(...sequence.hosts.map((host) => host.length));
  const lines: string[] = [];
  let before: number | undefined;
  const { fromNs, untilNs } = sequence.wrong;
  for (const row of linesOfTime(sequence)) {
    if (before !== undefined && row.atNs - before >= PAUSE_NS)
      lines.push(`${' '.repeat(12)}… ${duration(row.atNs - before)}`);
    before = row.atNs;
    const isWrong = row.atNs >= fromNs && row.atNs <= untilNs;
    lines.push(`${isWrong ? '!' : ' '} ${(row.atNs / 1e6).toFixed(3).padStart(9)} ${wordsOf(row, width)}`.trimEnd());
  }
  if (sequence.leftOut !== undefined) lines.push(`  left out: ${sequence.leftOut}`);
  return lines.join('\n');
}

function wordsOf({ entry, shows }: Row, width: number): string {
  const pad = (host: string) => host.padEnd(width);
  if (entry.kind === 'note')
    return `${pad(entry.host)} ${' '.repeat(width + 3)} ${entry.tone === 'fault' ? '! ' : ''}${entry.text}`;
  const { from, to, text, way } = entry;
  const trouble = way.trouble === undefined ? '' : `  [${way.trouble}]`;
  if (shows === 'comes') return `${pad(from)} ⇢ ${pad(to)}  comes: ${text}`;
  return `${pad(from)} ${way.arrivedNs === undefined ? '✕' : '→'} ${pad(to)}  ${text}${trouble}`;
}
