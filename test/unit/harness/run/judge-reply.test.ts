import { expect, it } from 'vitest';
import { judgeReply } from '../../../../harness/run/judge-reply.js';

/** An acquire that was sent at 10, began at 20, ended at 40 and was read at 50, and what it says of its grant. */
const judged = (grantSent: number, stamps = { beganNs: 20, endedNs: 40 }) =>
  judgeReply({ type: 'ok', value: { grantSent }, ...stamps }, 'acquire', 0, 10, 50);

it.each([20, 30, 40])('a grant may have left at %i: while the operation went on', (grantSent) =>
  expect(judged(grantSent)).toMatchObject({ type: 'ok', completion: { grantSentNs: grantSent } }),
);

it.each([5, 15, 19, 41, 60])(
  'one that left at %i did not: its lease would run from outside the operation',
  (grantSent) => {
    const { type, broke } = judged(grantSent);
    expect(type).toBe('info');
    expect(broke).toBe(`the lease is said to run from ${grantSent}, outside the operation (20 to 40)`);
  },
);

it.each([
  [9, 40],
  [41, 40],
  [20, 51],
])('a time that runs backwards is told: began at %i, ended at %i', (beganNs, endedNs) =>
  expect(judged(30, { beganNs, endedNs })).toMatchObject({
    type: 'info',
    broke: expect.stringMatching(/^stamps out of order/),
  }),
);
