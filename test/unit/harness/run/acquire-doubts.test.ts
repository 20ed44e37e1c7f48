/** Who may hold a key without knowing it, and until when. */
import { expect, test } from 'vitest';
import { AcquireDoubts } from '../../../../harness/run/acquire-doubts.js';

test('a doubt is of one client and one key, and ends with a later grant to another', () => {
  const doubts = new AcquireDoubts();
  const who = (key: string) => ['c1', 'c2', 'c3'].filter((client) => doubts.mayHold(client, key));
  doubts.doubtful('c1', 'lock:0', 10);
  doubts.doubtful('c2', 'lock:0', 20);
  doubts.doubtful('c3', 'lock:1', 5);
  expect([who('lock:0'), who('lock:1')]).toEqual([['c1', 'c2'], ['c3']]);
  doubts.granted('c1', 'lock:0', 5); // asked before: either doubt may be newer than the grant
  expect(who('lock:0')).toEqual(['c1', 'c2']);
  doubts.granted('c1', 'lock:0', 30); // it may have been let in beside what it left itself
  expect(who('lock:0')).toEqual(['c1']);
  doubts.granted('c3', 'lock:0', 40);
  expect([who('lock:0'), who('lock:1')]).toEqual([[], ['c3']]);
});
