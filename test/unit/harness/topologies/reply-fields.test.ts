import { describe, expect, it } from 'vitest';
import { fieldsOf } from '../../../../harness/topologies/reply-fields.js';

describe('fieldsOf', () => {
  it('reads names and values in turn, names in lower case', () => {
    expect(fieldsOf(['Flags', 'master', 'num-slaves', 2])).toEqual([
      new Map([
        ['flags', 'master'],
        ['num-slaves', '2'],
      ]),
    ]);
  });

  it('reads one map for each of a list of such', () => {
    const [first, second] = fieldsOf([
      ['name', 'r2'],
      ['name', 'r3', 'flags', 'slave'],
    ]);
    expect([first!.get('name'), second!.get('name'), second!.get('flags')]).toEqual(['r2', 'r3', 'slave']);
  });

  it('takes a name without a value for an empty one', () => {
    expect(fieldsOf(['name'])).toEqual([new Map([['name', '']])]);
  });

  it.each([[[]], ['OK'], [null]])('finds none in %j', (reply) => {
    expect(fieldsOf(reply)).toEqual([]);
  });
});
