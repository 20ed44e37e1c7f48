import { PassThrough, Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { type FeedMessage, startFeed } from '../../../../cli/live/feed.js';
import { Ledger } from '../../../../harness/record/facts/ledger.js';
import type { Clock } from '../../../../harness/vocabulary/time.js';
import { KEY, Story } from '../../checkers/build.js';

const FACTS = { keys: [KEY], timeLimitMs: 20_000, exclusive: true, plan: { version: 1 as const, seed: 1, steps: [] } };

/** Time that passes only when `tick` is called. */
function manualClock(): Clock & { tick(): Promise<void> } {
  let wake = () => {};
  return {
    nowNs: () => 1e9,
    wallMs: () => 0,
    sleep: (_, signal) =>
      new Promise((resolve) => {
        wake = () => {
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        signal?.addEventListener('abort', wake);
      }),
    async tick() {
      wake();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it('sends the state of the run, and prints what is worth a line', async () => {
  const clock = manualClock();
  const channel = new PassThrough();
  const ledger = new Ledger();
  const lines: string[] = [];
  {
    await using feed = startFeed(FACTS, ledger, clock, (line) => lines.push(line), channel);
    const story = new Story().event(0.5, { type: 'phase', phase: 'torture' }).grant('c1', 0.6);
    for (const event of story.history().all()) {
      ledger.event(event);
      feed.event(event);
    }
    await clock.tick();
  }
  // Not `channel.read()`, which gives all that is buffered, or (from Node 26 on) one chunk of it.
  channel.end();
  const sent = (await channel.toArray())
    .join('')
    .trim()
    .split('\n')
    .flatMap((line) => {
      const message = JSON.parse(line) as FeedMessage;
      return 'snapshot' in message ? [message.snapshot] : [];
    });
  expect(sent.map(({ phase }) => phase)).toEqual(['start', 'torture']);
  expect(sent[1]!.keys[0]!.holders).toMatchObject([{ client: 'c1' }]);
  expect(lines).toEqual(['   0.5 s  torture']);
});

it('never waits for a stalled terminal, and queues nothing', async () => {
  const clock = manualClock();
  const taken: string[] = [];
  const stuck = new Writable({ write: (chunk) => void taken.push(String(chunk)) }); // never calls back
  await using _feed = startFeed(FACTS, new Ledger(), clock, () => {}, stuck);
  for (let n = 0; n < 50; n++) await clock.tick();
  expect(taken).toHaveLength(1);
  expect(stuck.writableLength).toBe(taken[0]!.length);
});

it('reports overlaps as they end, three at most', async () => {
  const lines: string[] = [];
  const ledger = new Ledger();
  await using feed = startFeed(FACTS, ledger, manualClock(), (line) => lines.push(line), new PassThrough());
  const story = new Story();
  for (let n = 1; n <= 30; n++)
    story
      .grant('c1', n)
      .grant('c2', n + 0.1)
      .release('c1', n + 0.4)
      .release('c2', n + 0.8);
  for (const event of story.history().all()) {
    ledger.event(event);
    feed.event(event);
  }
  expect(lines).toHaveLength(4);
  expect(lines[0]).toBe(
    '   1.0 s  overlap  lock:0: c1 and c2 held it at once for 300 ms, while both leases ran (preliminary)',
  );
  expect(lines[3]).toContain('only counted');
});

it('prints nothing that acts on a terminal', async () => {
  const lines: string[] = [];
  await using feed = startFeed(FACTS, new Ledger(), manualClock(), (line) => lines.push(line), new PassThrough());
  feed.say('clients of lock "\u001b[2Jx\n"');
  feed.event({
    i: 0,
    atNs: 1e9,
    type: 'client-down',
    client: 'c1',
    endNs: 1e9,
    reason: 'exited by itself \u001b]0;x\u0007',
  });
  for (const line of lines) expect(line).toMatch(/^[^\p{Cc}]+$/u);
  expect(lines).toHaveLength(2);
});
