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

it('prints phases, faults and deaths for people, and counts every five seconds', () => {
  expect(told(false, EVENTS)).toEqual([
    '   0.5 s  torture',
    '   2.0 s  struck   pause c1: SIGSTOP to c1',
    '   3.0 s  refused  kill: did not strike one (no client is left)',
    '   4.0 s  c1 is gone: killed by the nemesis',
    '   6.0 s  healed   pause c1',
    '   6.0 s  1 grants, 1 refusals, 0 unknown',
  ]);
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
  progress.event({ i: 0, atNs: 1e9, type: 'client-down', client: 'c1', endNs: 1e9, reason: '\u001b]0;x\u0007' });
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).toMatch(/^[^\p{Cc}]+$/u);
});
