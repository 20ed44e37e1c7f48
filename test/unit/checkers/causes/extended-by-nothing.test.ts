/** That a client's extension deleted its lock is said where the command can only be of that extension. */
import { expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { KEY, Story } from '../build.js';

const BEFORE = '10.77.0.9:40000';
const NOW = '10.77.0.9:40001';

/** c1's release at 1.2 s comes to nothing; it is granted the lock again at 2 s over a new connection, and extends it at 3 s. */
function cause(released: 'ok' | 'info', from: string) {
  const story = new Story().up('c1').up('c2').deployed({ kind: 'primary' }).watch(0.1, 'r1').sample(0.2, 'r1');
  story.grant('c1', 1).take(0.9995, 'r1', 'c1', 'v');
  story.release('c1', 1.2, { type: released, ...(released === 'info' && { reason: 'timeout' }) });
  story.command(1.5, 'r1', 'c3', ['DEL', KEY]);
  story.grant('c1', 2).command(1.9995, 'r1', 'c1', ['SET', KEY, 'v', 'PX', '5000', 'NX'], 0, NOW);
  story.extend('c1', 3).command(3.0002, 'r1', 'c1', ['PEXPIRE', KEY, '5000'], 0, NOW);
  story.command(3.0005, 'r1', 'c1', ['PEXPIRE', KEY, '0'], 0, from);
  story.grant('c2', 4).take(3.9995, 'r1', 'c2').release('c1', 5).release('c2', 5).sample(6, 'r1');
  return mutualExclusion.check(story.input()).violations.map(({ cause: { name } }) => name);
}

it('what was sent to release the hold before, over the connection of then, may come while the next one is extended', () => {
  expect(cause('info', NOW)).toEqual(['lease-too-short']);
  expect(cause('ok', BEFORE)).toEqual(['lease-too-short']);
  expect(cause('info', BEFORE)).toEqual(['unexplained']);
});
