import { describe, expect, it } from 'vitest';
import {
  Columns,
  coded,
  extractor,
  type FieldMap,
  indexes,
  numbers,
  rowsOf,
  type SpecificationOf,
  type TableOf,
  texts,
} from '../../../../harness/record/column-table.js';
import type { Notices } from '../../../../harness/vocabulary/history.js';

const SPECIFICATION = {
  who: texts('people'),
  whom: texts('people'),
  did: coded({ nothing: 0, met: 1, paid: 2 }, 0),
  amount: numbers,
  line: indexes,
} as const;

const FIELDS = {
  who: 'who',
  whom: 'whom',
  did: 'did',
  paid: { column: 'amount', where: ['did', ['paid']] },
  minutes: { column: 'amount', where: ['did', ['met']] },
} as const satisfies FieldMap<'who' | 'whom' | 'did' | 'paid' | 'minutes', typeof SPECIFICATION>;

const EVENTS = [
  { who: 'ann', whom: 'bob', did: 'met', minutes: 5 },
  { who: 'bob', did: 'paid', paid: 0.5 },
  { whom: 'ann' },
  {},
];

function tableOf(events: readonly object[]): TableOf<typeof SPECIFICATION> {
  const columns = new Columns(SPECIFICATION);
  const fill = columns.filler(FIELDS);
  for (const event of events) fill(columns.count++, event);
  return columns.finish();
}

describe('a table made from a specification', () => {
  it('gives back each field that was put in, and none that was not', () => {
    const table = tableOf(EVENTS);
    const extract = extractor(SPECIFICATION, table, FIELDS);
    const back = EVENTS.map((_, row) => {
      const event = {};
      extract(row, event);
      return event;
    });
    expect(back).toEqual(EVENTS);
    expect(table.people).toEqual(['ann', 'bob']);
  });

  it('has a number for what was left out', () => {
    const { who, did, amount, line, count } = tableOf([{}, { who: 'ann' }]);
    expect([count, who[0], did[0], amount[0], line[0]]).toEqual([2, -1, 0, Number.NaN, -1]);
  });

  it('gives some rows as a table of their own', () => {
    const { count, who, amount, people } = rowsOf(SPECIFICATION, tableOf(EVENTS), [1, 0]);
    expect([count, people[who[0]!], [...amount]]).toEqual([2, 'bob', [0.5, 5]]);
  });

  it('does not compile where its type has another column, or a column of another kind', () => {
    const whole = { type: coded({}), line: indexes, client: indexes, hold: indexes, text: texts('texts') };
    const rest = { atNs: numbers, clientNs: numbers };
    expect([
      { ...whole, ...rest, leaseMs: numbers } satisfies SpecificationOf<Notices>,
      // @ts-expect-error A column is missing.
      { ...whole, ...rest } satisfies SpecificationOf<Notices>,
      // @ts-expect-error A column is too many.
      { ...whole, ...rest, leaseMs: numbers, tip: numbers } satisfies SpecificationOf<Notices>,
      // @ts-expect-error A column is of another kind.
      { ...whole, ...rest, leaseMs: indexes } satisfies SpecificationOf<Notices>,
    ]).toHaveLength(4);
  });
});
