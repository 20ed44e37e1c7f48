/** A client that was cut off from the server of its lease's end may have had another one to ask when it was to renew. */
import { expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { Story } from '../build.js';

it('a client was not kept from renewing by a cut from the server that was made primary when its renewal had been due', () => {
  const told = (cut: string[]) => {
    const story = new Story().up('c1', ['renews']).up('c2').grant('c1', 1).grant('c2', 6.1).release('c2', 9);
    story.release('c1', 8, { sent: 7.9 }).watch(0, 'r1').watch(0, 'r2');
    story.looks(0.5, 4.5, 'r1').looks(0.5, 4.9, 'r2', { role: 'replica' }).looks(5, 6, 'r2');
    story.looks(4.9, 6, 'r1', { role: 'replica', runId: 'run-2' });
    story.fault(3, 0, 'partition', 'strike', {
      effects: [{ kind: 'cut', pairs: cut.map((node): [string, string] => ['c1', node]) }],
    });
    return mutualExclusion.check(story.input()).violations[0]!.cause.name;
  };
  expect(told(['r1', 'r2'])).toBe('client-cut-off');
  expect(told(['r2'])).toBe('unexplained');
});
