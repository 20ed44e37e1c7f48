/** What a client whose requests were all refused may hold all the same, so that its hold is not said to have been granted by nobody. */
import { describe, expect, it } from 'vitest';
import { KEY, Story } from '../build.js';
import { causeNames } from './two-grants.js';

const UNSEEN = { unseen: [KEY] };
const watched = () => new Story().up('c2').watch(0, 'r1').sample(0.2, 'r1').looks(0.3, 5, 'r1', UNSEEN);

describe('a client whose SET NX was refused', () => {
  /** c0 holds at 1 s, and c2 asks at 1.5 s; at 2 s c0 gives it to somebody, which a stranger removes, and c3 takes it at 3 s. */
  const waited = (owner: string, by = 'c0') =>
    causeNames(
      watched()
        .promised({ kind: 'fair' })
        .up('c0')
        .up('c3')
        .grant('c0', 1)
        .take(0.999, 'r1', 'c0')
        .grant('c2', 2.1, { sent: 1.5, began: 1.501, grantSent: 1.502 })
        .take(1.503, 'r1', 'c2')
        .release('c0', 2)
        .command(2.001, 'r1', by, ['SET', KEY, owner, 'PX', '5000'])
        .command(2.5, 'r1', 'stranger', ['DEL', KEY])
        .grant('c3', 3)
        .take(2.999, 'r1', 'c3')
        .release('c2', 4)
        .release('c3', 4),
    );

  it('holds what the holder before it, which released, stored for it while it waited', () => {
    expect(waited('value-of-c2')).not.toContain('never-granted');
    expect(waited('value-of-c4')).toContain('never-granted');
  });

  /** A stranger removes what c1 holds from 1 s on; c2's try after that is not answered, and the next one is refused. */
  const found = (first: string, ...looks: string[][]) => {
    const story = watched().up('c1').grant('c1', 1).take(0.999, 'r1', 'c1').command(2, 'r1', 'stranger', ['DEL', KEY]);
    story.refused('c2', 2.4, 2.6, 'info').take(2.45, 'r1', first, 'earlier').grant('c2', 3).take(2.999, 'r1', 'c2');
    for (const argv of looks) story.command(2.9995, 'r1', 'c2', argv);
    return causeNames(story.release('c1', 4).release('c2', 4));
  };

  it('may hold what it had stored in a try that was not answered, and saw there', () => {
    expect(found('c2', ['GET', KEY])).not.toContain('never-granted');
    expect(found('c3', ['GET', KEY])).toContain('never-granted');
    expect(found('c2')).toContain('never-granted');
  });
});
