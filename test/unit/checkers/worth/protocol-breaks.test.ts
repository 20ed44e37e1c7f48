/** What is not known of a run whose clients broke the protocol. */
import { expect, it } from 'vitest';
import { protocolBreaks } from '../../../../checkers/worth/protocol-breaks.js';
import type { OpName } from '../../../../harness/vocabulary/history.js';
import { Story } from '../build.js';

/** A client for each operation whose answer was lost; undefined: none was awaited. */
const judged = (...lost: (OpName | undefined)[]) => {
  const story = new Story();
  lost.forEach((op, n) => {
    const client = `c${n + 1}`;
    const what = `line ${n + 1} is no JSON`;
    const broke = { what, ...(op && { lost: { id: 1, op, key: 'lock:0' } }) };
    story
      .up(client)
      .event(n + 2, { type: 'client-down', client, reason: `protocol: ${what}`, endNs: (n + 2) * 1e9, broke });
  });
  return protocolBreaks.check(story.input());
};

it('a lost answer to an acquire or an extension may hide a hold, so that nothing can be told', () => {
  expect(judged('acquire')).toEqual({
    verdict: 'unknown',
    notes: [
      '1 time a client broke the protocol, first c1 at 2.000 s: line 1 is no JSON; so 1 answer to an acquire or an extension is lost, and what was held by that is not known. Mend the client: docs/protocol.md, "Stamps" and "When the protocol is broken"',
    ],
    violations: [],
    stats: { protocolBreaks: 1, answersLost: 1 },
  });
  const { verdict, notes, stats } = judged('release', 'extend', 'acquire');
  expect({ verdict, stats }).toEqual({ verdict: 'unknown', stats: { protocolBreaks: 3, answersLost: 2 } });
  expect(notes).toEqual([
    expect.stringMatching(/^2 times a client broke .* first c2 at 3\.000 s: .* so 2 answers to .* are lost/),
    '1 time a client broke the protocol, first c1 at 2.000 s: line 1 is no JSON; no hold is hidden by that',
  ]);
});

it('no other answer hides one, and none is told where nobody broke it', () => {
  expect(judged(undefined, 'release', 'read')).toMatchObject({
    verdict: 'valid',
    notes: [expect.stringMatching(/^3 times .*; no hold is hidden by that$/)],
    stats: { protocolBreaks: 3, answersLost: 0 },
  });
  expect(judged()).toEqual({ verdict: 'valid', notes: [], violations: [], stats: {} });
  const killed = new Story().up('c1').down('c1', 2);
  expect(protocolBreaks.check(killed.input()).verdict).toBe('valid');
});
