/** What is said where somebody has typed a name that nothing has. */
import { describe, expect, it } from 'vitest';
import { insteadOf, nearestName } from '../../../../harness/record/schemas/names.js';

const TOPOLOGIES = ['single', 'replica', 'sentinel', 'cluster', 'redlock'];
const MANY = Array.from({ length: 30 }, (_, n) => `fault-number-${n}`);

describe('the nearest name', () => {
  it.each([
    ['sentinal', 'sentinel'],
    ['clutser', 'cluster'],
    ['Single', 'single'],
    ['redlok', 'redlock'],
    ['repl', 'replica'],
  ])('of %s is %s', (given, meant) => {
    expect(nearestName(given, TOPOLOGIES)).toBe(meant);
  });

  it.each(['', 'x', 'kafka', 'single-node-cluster'])('of %j there is none', (given) => {
    expect(nearestName(given, TOPOLOGIES)).toBeUndefined();
  });

  it('has fewest slips; of those that have it in themselves it is the shortest', () => {
    expect(nearestName('del', ['delay', 'dell'])).toBe('dell');
    expect(nearestName('blind-del', ['broken/blind-del-mended', 'broken/blind-del'])).toBe('broken/blind-del');
  });
});

describe('what to type instead', () => {
  it('is one name, and the few that there are', () => {
    expect(insteadOf('sentinal', TOPOLOGIES)).toBe(
      'did you mean sentinel? there are single, replica, sentinel, cluster, redlock',
    );
    expect(insteadOf('kafka', TOPOLOGIES)).toBe('there are single, replica, sentinel, cluster, redlock');
    expect(insteadOf('etcdd', [...TOPOLOGIES, 'etcd'], { shown: TOPOLOGIES })).toMatch(
      /^did you mean etcd\? there are single, [^.]*redlock$/,
    );
  });

  it('is, of many, one name and the command that shows them', () => {
    expect(insteadOf('fault-numbr-7', MANY, { list: 'list faults' })).toBe(
      "did you mean fault-number-7? ('list faults' shows all)",
    );
    expect(insteadOf('meteor', MANY, { list: 'list faults' })).toBe("'list faults' shows all that there are");
    expect(insteadOf('meteor', MANY)).toBe(`there are ${MANY.join(', ')}`);
  });
});
