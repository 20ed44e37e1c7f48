/** Of all reasons why nothing can be told, the one that explains the others is the first. */
import { describe, expect, it } from 'vitest';
import { judge, judgesOf } from '../../../../checkers/index.js';
import { Story, turns } from '../build.js';

const judged = (story: Story) => judge(story.input(), judgesOf({ model: { kind: 'mutex' }, played: false }));
/** Each asks for the lock once, from the nth second on. */
const asking = (clients: number, reason: (n: number) => string, type: 'fail' | 'info') => {
  const story = new Story().planned('pause').configured({ clients });
  for (let n = 1; n <= clients; n++) {
    story.up(`c${n}`).acquire(`c${n}`, [n, n + 0.6], { type, reason: reason(n) });
    if (type === 'info') story.down(`c${n}`, n + 0.7, reason(n));
  }
  return story;
};

describe('where nobody was granted anything', () => {
  it('that is what is told first, with what most clients met, and not the fault that found no holder', () => {
    const gone = asking(8, (n) => `ConnectionLossError: z${(n % 3) + 1}: no answer within 500 ms`, 'info');
    const { headline, reasons, verdict, words } = judged(gone.whole(30));
    expect(verdict).toBe('unknown');
    expect(headline).toBe('Cannot tell: no client was granted anything: 8 of 8 gone: no answer within 500 ms.');
    expect(words!.lock).toContain('cannot be told: no client was granted anything: 8 of 8 gone');
    expect(reasons.indexOf('the planned fault "pause" never struck (none of its steps was reached)')).toBeGreaterThan(
      0,
    );
    expect(new Set(reasons).size).toBe(reasons.length);
  });

  it('says what they were answered, or that they were not', () => {
    const refused = asking(3, (n) => (n === 3 ? 'held' : 'unreachable'), 'fail');
    expect(judged(refused.whole(30)).headline).toMatch(
      /: no client was granted anything: 2 of 3 were answered "unreachable", in 2 tries\.$/,
    );
    const silent = new Story().up('c1').acquire('c1', [1]);
    expect(judged(silent.whole(30)).headline).toMatch(/: no client was granted anything: no try was answered\.$/);
  });

  it('says what most clients met, and of such what most tries met; a client and its successor are one', () => {
    const told = (story: Story) => /granted anything: (.*)\.$/.exec(judged(story.whole(30)).headline)?.[1];
    expect(told(asking(3, (n) => (n === 1 ? 'held' : 'unreachable'), 'fail'))).toBe(
      '2 of 3 were answered "unreachable", in 2 tries',
    );
    const twice = asking(2, (n) => (n === 1 ? 'held' : 'unreachable'), 'fail');
    expect(told(twice.acquire('c2', [4, 4.1], { type: 'fail', reason: 'unreachable' }))).toBe(
      '1 of 2 were answered "unreachable", in 2 tries',
    );
    const succeeded = asking(2, (n) => (n === 1 ? 'held' : 'unreachable'), 'fail');
    const up = { slot: 'c1', host: 'c1', address: '10.77.0.9', lock: 'l', features: [] };
    succeeded.event(3, { type: 'client-up', client: 'c1.2', ...up });
    expect(told(succeeded.acquire('c1.2', [4, 4.1], { type: 'fail', reason: 'held' }))).toBe(
      '1 of 2 were answered "held", in 2 tries',
    );
    const silent = new Story().configured({ clients: 2 }).up('c1').up('c2').acquire('c1', [1, 1.1], { type: 'fail' });
    expect(told(silent)).toBe('1 of 2 were answered "no reason was given", in 1 try');
  });

  it('it comes before what other checkers cannot tell', () => {
    const gone = asking(2, () => 'no answer within 500 ms', 'info').recovered(20, ['z1 does not answer']);
    const { reasons } = judged(gone.probe(26, false).event(30, { type: 'phase', phase: 'end' }));
    expect(reasons[0]).toMatch(/^no client was granted anything/);
    expect(reasons.findIndex((one) => one.includes('z1 does not answer'))).toBeGreaterThan(0);
  });

  it('what ended the run, and what hides grants, come before it', () => {
    const gone = () => asking(2, () => 'no answer within 500 ms', 'info');
    const full = gone().fault(9, -1, 'disk', 'failed', { mishap: 'disk', proof: 'the disk is full' });
    const reasons = judged(full.torn()).reasons;
    expect(reasons[0]).toBe('the disk is full');
    expect(reasons.findIndex((one) => one.startsWith('no client was granted'))).toBeGreaterThan(
      reasons.findIndex((one) => one.startsWith('the history is torn')),
    );
    // A harness that stood still asked for nothing.
    const still = judged(gone().disturbed(25, 'harness-stall', 20_000).whole(30)).reasons;
    expect(still[0]).toMatch(/^the harness stood still for /);
    expect(still[1]).toMatch(/^no client was granted anything/);
  });
});

it('few holds are explained by clients that were gone, if most were, and for no fault', () => {
  const few = (reason: string, clients: number) => {
    const story = turns(4).configured({ clients });
    for (const client of ['c3', 'c4', 'c5'])
      story.up(client).acquire(client, [20, 21], { type: 'info', reason }).down(client, 21.1, reason);
    return judged(story.whole(30)).headline;
  };
  expect(few('z1: no answer within 500 ms', 5)).toMatch(
    /there were only 4 holds; .*: 3 of 5 gone: no answer within 500 ms\.$/,
  );
  expect(few('z1: no answer within 500 ms', 6)).toMatch(/two for each of 6 clients\)\.$/);
  expect(few('client exited (SIGKILL)', 5)).toMatch(/two for each of 5 clients\)\.$/);
});

it('what was asked for comes after what explains why it was not had', () => {
  const story = turns(12)
    .planned('clock')
    .configured({ atLeast: { strikes: 5 } });
  const { reasons } = judged(story.fault(2, 0, 'clock', 'refused', { proof: 'no C compiler' }).whole(30));
  const at = (text: string) => reasons.findIndex((one) => one.includes(text));
  expect(at('never struck (no C compiler)')).toBe(0);
  expect(at('--min-strikes asks for 5')).toBeGreaterThan(0);
});
