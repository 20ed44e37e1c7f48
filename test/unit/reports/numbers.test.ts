/** No number that people are shown has more than three digits after its point, whatever a lock, a server or a fault said. */
import { expect, it } from 'vitest';
import { createProgress } from '../../../cli/live/progress.js';
import { exactMoment, momentBeside } from '../../../harness/record/facts/words.js';
import { visible } from '../../../harness/record/schemas/foreign-text.js';
import { closingSummary, reports } from '../../../reports/index.js';
import { inputOf, plainSample } from './sample.js';

const LONG = /\d\.\d{4,}/;
const SAID = 'no answer within 10513.948694674858 ms, after 0.1234567 s, in 33.33333333 % of calls';

/** Every sentence of a run says it; what is matched or looked up by its text stays. */
function saying<T>(value: T, key = ''): T {
  if (typeof value === 'string') return (SENTENCES.includes(key) ? `${value}: ${SAID}` : value) as T;
  if (Array.isArray(value)) return value.map((one) => saying(one, key)) as T;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, saying(one, name)])) as T;
}
const SENTENCES = [
  ...['headline', 'reasons', 'notes', 'proof', 'sentence', 'text', 'theory', 'did', 'reason', 'why'],
  ...['lock', 'deployment', 'leases', 'strength', 'weak', 'notJudged', 'virtualTime', 'proofs'],
];

it('in reports and at the end of a run', () => {
  const sample = plainSample();
  const input = inputOf({ ...sample, events: saying(sample.events), results: saying(sample.results) });
  const told = {
    ...reports,
    'the terminal': () => closingSummary({ results: input.results, failOn: [], columns: 80 }),
  };
  for (const [name, make] of Object.entries(told)) {
    const text = make(input);
    if (name === 'messages.txt') continue; // this run kept none
    expect(text, name).toContain('10513.949 ms');
    // The page's script and its packed data are for no reader; coordinates of drawings are attributes; lines of history.jsonl are quoted.
    const shown = text!
      .replace(/<script[\s\S]*?<\/script>|&quot;\w+Ns&quot;:[\d.]+/g, '')
      .replace(/ (?:d|x\d?|y\d?|cx|cy|points|width|height|viewBox|transform|style|href|data-[\w-]+)="[^"]*"/g, '');
    expect(shown.match(new RegExp(`.{0,60}${LONG.source}.{0,20}`, 'g')), name).toBeNull();
  }
});

it('while a run goes on', () => {
  const lines: string[] = [];
  const progress = createProgress(false, (line) => lines.push(line));
  for (const event of saying(plainSample().events)) progress.event(event);
  progress.say(SAID);
  expect(lines.filter((line) => LONG.test(line))).toEqual([]);
  expect(lines.at(-1)).toBe('no answer within 10513.949 ms, after 0.123 s, in 33.333 % of calls');
});

it.each([
  ['npx lock-torture --lease 4.70001s --seed 0.123456', 'npx lock-torture --lease 4.70001s --seed 0.123456'],
  ['/tmp/a.12345/b 7.0.15.1234 x1.23456 ms', '/tmp/a.12345/b 7.0.15.1234 x1.23456 ms'],
  ['1.99999 s, 12.34560 ms.', '2 s, 12.346 ms.'],
])('leaves commands, paths and versions as they are: %s', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

it('of moments to the microsecond and the nanosecond: their unit changes', () => {
  expect(exactMoment(7_412_093_412)).toBe('7,412.093 ms');
  expect(momentBeside(7_412_093_412, [7_412_093_412, 7_512_093_412])).toBe('7.412 s');
  expect(momentBeside(7_412_093_412, [7_412_093_412, 7_413_093_412])).toBe('7,412.093 ms');
  expect(momentBeside(7_412_093_412, [7_412_093_412, 7_412_093_500])).toBe('7,412,093.412 µs');
  expect(momentBeside(Number.NaN, [1, 2])).toBe('an unknown time');
});
