/** A strike that is made again and again, so many times and no more. */
import { expect, test } from 'vitest';
import { atMost, goOn } from '../../../../nemesis/striking/ongoing.js';

const context = () => {
  const noted: unknown[] = [];
  let nowNs = 0;
  const clock = {
    nowNs: () => nowNs,
    wallMs: () => nowNs / 1e6,
    sleep: async (ms: number) => {
      nowNs += ms * 1e6;
    },
  };
  return { noted, context: { clock, note: (record: unknown) => noted.push(record) as never } };
};

const record = async () => ({ targets: ['r1'], did: 'struck', effects: [] });

test.each([
  [0, 0],
  [2, 2],
  [undefined, 9],
])('%s more times: %s, and nothing is said of the end', async (times, struck) => {
  const { noted, context: given } = context();
  const signal = new AbortController().signal;
  await goOn({ context: given as never, untilNs: 10e9, signal, targets: [], breathMs: 1_000 }, atMost(times, record));
  expect(noted).toHaveLength(struck);
});
