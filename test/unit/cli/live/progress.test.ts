import { expect, it } from 'vitest';
import { createProgress } from '../../../../cli/live/progress.js';
import type { HistoryEvent } from '../../../../harness/vocabulary/history.js';
import { Story } from '../../checkers/build.js';

const STORY = new Story()
  .event(0.5, { type: 'phase', phase: 'torture' })
  .grant('c1', 1)
  .refused('c2', 1.1, 1.2)
  .fault(2, 0, 'pause', 'strike', { targets: ['c1'], did: 'SIGSTOP to c1' })
  .fault(3, 1, 'kill', 'refused', { did: 'did not strike one', proof: 'no client is left' })
  .down('c1', 4)
  .fault(6, 0, 'pause', 'heal', { targets: ['c1'] })
  .history();
const EVENTS: readonly HistoryEvent[] = [...STORY.all()];

function told(json: boolean, events: readonly HistoryEvent[]): string[] {
  const lines: string[] = [];
  const progress = createProgress(json, (line) => lines.push(line));
  for (const event of events) progress.event(event);
  return lines;
}

it('prints phases and faults for people, and counts every five seconds', () => {
  expect(told(false, EVENTS)).toEqual([
    '   0.5 s  torture',
    '   2.0 s  struck   pause c1: SIGSTOP to c1',
    '   3.0 s  refused  kill: did not strike one (no client is left)',
    '   6.0 s  healed   pause c1',
    '   6.0 s  1 grant, 1 refusal, 0 unknown outcomes',
  ]);
});

it.each([
  ['reconnect', 'c4 restarts as c4.3: its connection was lost'],
  ['Connection is closed.', 'c4 restarts as c4.3: its connection was lost'],
  ['Command timed out', 'c4 restarts as c4.3: a request got no answer (Command timed out)'],
  ['no answer within 10.514 s', 'c4 restarts as c4.3: a request got no answer (no answer within 10.514 s)'],
  ['killed by the nemesis', 'c4 restarts as c4.3: a fault had killed it'],
  [
    'quorum not reached',
    'c4 restarts as c4.3: a request failed, and nobody knows whether a server carried it out (quorum not reached)',
  ],
])('tells of a client that ended for %j once another one is in its place', (reason, line) => {
  const next = { type: 'client-up', client: 'c4.3', slot: 'c4', host: 'c4', address: '10.77.0.9' } as const;
  const story = new Story().up('c4').down('c4', 4, reason);
  const events = [
    ...story
      .event(5, { ...next, lock: 'set-nx-px', features: [] })
      .history()
      .all(),
  ];
  expect(told(false, events)).toContain(`   5.0 s  ${line}`);
  expect(told(false, events).join('\n')).not.toContain('4.0 s');
});

it('tells at once of a client that ended by itself', () => {
  const events = [...new Story().up('c1').down('c1', 4, 'exited by itself (status 1)').history().all()];
  expect(told(false, events)).toEqual(['   4.0 s  c1 ended: exited by itself (status 1)']);
});

it('prints the faults as recorded, and the counts, for machines', () => {
  const lines = told(true, EVENTS).map((line) => JSON.parse(line));
  expect(lines.map(({ type, state }) => state ?? type)).toEqual(['strike', 'refused', 'heal', 'progress']);
  expect(lines.at(-1)).toEqual({ type: 'progress', atMs: 6_000, ok: 1, fail: 1, info: 0, grants: 1, faults: 1 });
});

it('lets no control characters through', () => {
  const lines: string[] = [];
  const progress = createProgress(false, (line) => lines.push(line));
  progress.say('clients of lock "\u001b[2Jx\n\u009b1m"');
  progress.event({
    i: 0,
    atNs: 1e9,
    type: 'client-down',
    client: 'c1',
    endNs: 1e9,
    reason: 'exited by itself \u001b]0;x\u0007',
  });
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).toMatch(/^[^\p{Cc}]+$/u);
});
