/**
 * Every cause that is named was true. Runs are made by a small model of Redis, its clients and what befalls them (`oracle/`),
 * which knows what happened to each grant, and shares no code with what reads the record; the record is made as the harness
 * makes it, with the gaps that a real one has.
 */
import { expect, it } from 'vitest';
import { ORACLES } from './every-cause.js';
import { setups } from './oracle/drawing.js';
import { type Judged, judged } from './oracle/judged.js';
import { play } from './oracle/run.js';
import { isDeep, tried } from './tried.js';

/** So many of either sort of record, and a hundred times as many in the deep layer. */
const RUNS = 100;

/** Each comes about by itself so often in runs with a whole record that it is among those of every draw. */
const EVERY = [
  'clock-jumped',
  'clock-ran-fast',
  'client-paused',
  'client-slow',
  'evicted',
  'failover-lost-write',
  'granted-late',
  'lease-too-short',
  'minority-granted',
  'never-granted',
  'node-forgot',
  'overwritten',
  'released-by-other',
  'shared-owner',
];
/** The others come about by themselves some times in ten thousand runs. */
const RARE = isDeep ? ORACLES['oracle.test.ts'] : [];

/** How often each cause was true, and named where it was the only one. */
class Counts {
  private readonly byCause = new Map<string, { alone: number; aloneNamed: number; named: number }>();

  add({ name, truth }: Judged): void {
    for (const cause of truth) {
      const count = this.byCause.get(cause) ?? { alone: 0, aloneNamed: 0, named: 0 };
      this.byCause.set(cause, count);
      if (name === cause) count.named++;
      if (truth.size > 1) continue;
      count.alone++;
      if (name === cause) count.aloneNamed++;
    }
  }

  named(cause: string): number {
    return this.byCause.get(cause)?.named ?? 0;
  }

  toString(): string {
    const causes = [...this.byCause].sort(([a], [b]) => a.localeCompare(b));
    const words = causes.map(
      ([cause, { alone, aloneNamed, named }]) =>
        `${cause}: named ${named} times; where nothing else was true, ${aloneNamed} of ${alone}`,
    );
    return words.join('\n  ');
  }
}

it.each([
  ['whole', true],
  ['full of gaps', false],
])('names only causes that were true, of a record that is %s', (word, isWhole) => {
  const counts = new Counts();
  const { share, told } = tried(RUNS, setups(isWhole), (setup) => {
    const all = judged(play(setup));
    for (const one of all) counts.add(one);
    return all;
  });
  if (isDeep) console.log(`record ${word}: ${counts}`);
  if (!isWhole) return;
  expect(share, `${told}\n  ${counts}`).toBeGreaterThan(0.88);
  for (const cause of EVERY) expect(counts.named(cause), `${cause}: ${counts}`).toBeGreaterThanOrEqual(isDeep ? 50 : 1);
  for (const cause of RARE) expect(counts.named(cause), `${cause}: ${counts}`).toBeGreaterThanOrEqual(1);
});
