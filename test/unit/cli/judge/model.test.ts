import { expect, test } from 'vitest';
import { modelOfRun } from '../../../../cli/judge/judge.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { Story } from '../../checkers/build.js';

const PERMITS: LockModel = { kind: 'semaphore', permits: 3 };

test.each<[said: LockModel | undefined, asked: LockModel | undefined, judged: LockModel]>([
  [undefined, undefined, { kind: 'mutex' }],
  [PERMITS, { kind: 'semaphore', permits: 2 }, PERMITS],
  [PERMITS, { kind: 'mutex' }, { kind: 'mutex' }],
  // A play asks for nothing: of its locks only this one is no mutex to it.
  [{ kind: 'read-write' }, undefined, { kind: 'read-write' }],
  [{ kind: 'fair' }, undefined, { kind: 'mutex' }],
])('a lock that says %j, taken for %j, is judged as %j', (said, asked, judged) => {
  const { history } = new Story().up('c1').input();
  const rare = history.rare.map((event) => (event.type === 'client-up' && said ? { ...event, model: said } : event));
  expect(modelOfRun({ rare }, asked)).toEqual(judged);
});
