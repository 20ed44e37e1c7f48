/** Whatever a lock client prints: it is an answer, a notice, or it breaks the protocol, and then one line says how. */
import type { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClientProcess, LineAllowance, valueFields } from '../../../../harness/run/client-process.js';
import type { Clock } from '../../../../harness/vocabulary/time.js';
import { fakeHost } from './fake-client.js';

const EPOCH_NS = 1_000;
const clock: Clock = {
  nowNs: () => 0,
  wallMs: () => 0,
  sleep: (_, signal) => new Promise((resolve) => signal?.addEventListener('abort', () => resolve())),
};

/** A client that was asked one thing, and what became of what it printed. */
async function printed(line: string) {
  const { host, processes } = fakeHost('c1');
  const notices: object[] = [];
  const garbage: string[] = [];
  const client = new ClientProcess({
    name: 'c1',
    host,
    argv: [],
    clock,
    epochNs: EPOCH_NS,
    allowance: new LineAllowance(clock),
    onNotice: (notice) => notices.push(notice),
    onGarbage: (what) => garbage.push(what),
    onExit: () => {},
  });
  const reply = client.exchange(client.reserveId(), { op: 'clock' });
  processes[0]!.print(`${line}\n`);
  const stdout = processes[0]!.stdout as PassThrough;
  stdout.end();
  await new Promise((resolve) => stdout.once('end', resolve));
  return { reply, notices, garbage };
}

describe('a line', () => {
  it.each([
    [{ id: 1, type: 'ok' }, { type: 'ok' }],
    [
      { id: 1, type: 'ok', began: 1_500, ended: 1_700, value: 7 },
      { type: 'ok', beganNs: 500, endedNs: 700, value: 7 },
    ],
    [
      { id: 1, type: 'fail', reason: 'held\n' },
      { type: 'fail', reason: 'held␊' },
    ],
    [
      { id: 1, type: 'info', reason: 'timeout', more: 1 },
      { type: 'info', reason: 'timeout' },
    ],
    // A machine that was started 200 days ago.
    [
      { id: 1, type: 'ok', began: 17_280_000_000_000_000 },
      { type: 'ok', beganNs: 17_280_000_000_000_000 - EPOCH_NS },
    ],
  ])('%j is an answer', async (line, answer) => {
    const { reply, garbage } = await printed(JSON.stringify(line));
    expect(garbage).toEqual([]);
    expect(await reply).toEqual(answer);
  });

  it.each([
    ['what?', 'what?'],
    ['7', '7 (expected an object, got 7)'],
    ['{"id":2,"type":"ok"}', '{"id":2,"type":"ok"} (no request 2 waits for an answer)'],
    ['{"id":1,"type":"fail"}', '{"id":1,"type":"fail"} (reason: missing, expected a string)'],
    ['{"id":1}', '{"id":1} (type: missing, expected one of ok, fail, info)'],
    ['{"id":1,"type":"ok","began":1.5}', '{"id":1,"type":"ok","began":1.5} (began: expected whole nanoseconds)'],
    ['{"type":"lost","hold":1}', '{"type":"lost","hold":1} (at: missing, expected a whole number from 0)'],
    [
      '{"type":"renewed","hold":1,"at":5,"leaseMs":0}',
      '{"type":"renewed","hold":1,"at":5,"leaseMs":0} (leaseMs: expected a number above 0, got 0)',
    ],
  ])('%s breaks the protocol', async (line, says) => {
    const { reply, notices, garbage } = await printed(line);
    expect({ notices, garbage }).toEqual({ notices: [], garbage: [says] });
    expect(await reply).toEqual({ type: 'info', unanswered: true, reason: `protocol: ${says}` });
  });

  const field = fc.oneof(
    fc.constantFrom(0, 1, Number.POSITIVE_INFINITY, -1, 'ok', 'fail', 'lost', 'x\u009b', null),
    fc.jsonValue(),
  );
  const message = fc.dictionary(
    fc.constantFrom('id', 'type', 'began', 'ended', 'reason', 'value', 'hold', 'at', 'leaseMs', 'name'),
    field,
  );

  it('of any JSON or none is one of the three', async () => {
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      message.map((one) => JSON.stringify(one)),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (text) => {
        const line = text.replaceAll('\n', ' ');
        const { reply, notices, garbage } = await printed(line);
        const answered = await Promise.race([reply.then(() => 1), Promise.resolve().then(() => 0)]);
        expect(garbage.length + notices.length + answered).toBeGreaterThan(line.trim() === '' ? -1 : 0);
        for (const what of garbage) expect(what).toMatch(/^\P{Cc}+$/u);
      }),
      { numRuns: 300 },
    );
  });

  it('of any value is fields for the history, or one line', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom('token', 'validForMs', 'grantSent', 'sent', 'value', 'version'), field),
    );
    fc.assert(
      fc.property(fc.constantFrom('acquire', 'extend', 'release', 'read', 'write', 'clock'), value, (op, given) => {
        const { value: fields, problem } = valueFields(op, given, EPOCH_NS);
        if (problem !== undefined) expect(problem).toMatch(/^\P{Cc}+$/u);
        else
          for (const recorded of Object.values(fields))
            if (recorded !== undefined) expect(recorded).toSatisfy(Number.isFinite);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a program that takes long to start', () => {
  /** A clock that stands still until it is moved. */
  function handClock() {
    let nowMs = 0;
    const waiting = new Set<{ atMs: number; wake: () => void }>();
    const hand: Clock = {
      nowNs: () => nowMs * 1e6,
      wallMs: () => nowMs,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          const one = { atMs: nowMs + ms, wake: resolve };
          waiting.add(one);
          signal?.addEventListener('abort', () => resolve());
        }),
    };
    const moveTo = async (ms: number) => {
      nowMs = ms;
      for (const one of waiting) if (one.atMs <= nowMs) one.wake();
      await new Promise(setImmediate);
    };
    return { hand, moveTo };
  }

  function starting() {
    const { host, processes } = fakeHost('c1');
    const { hand, moveTo } = handClock();
    const client = new ClientProcess({
      name: 'c1',
      host,
      argv: [],
      clock: hand,
      epochNs: EPOCH_NS,
      allowance: new LineAllowance(hand),
      onNotice: () => {},
      onGarbage: () => {},
      onExit: () => {},
    });
    const options = { client: 'c1', leaseMs: 1_000, commandTimeoutMs: 100, seed: 1 };
    const topology = { kind: 'single', node: { name: 'r1', host: '10.0.0.1', port: 1 } } as const;
    const outcome = client.shakeHands(topology, options, 15_000).then(
      ({ lock }) => lock,
      ({ message }: Error) => message,
    );
    const says = async (line: object) => {
      processes[0]!.print(`${JSON.stringify(line)}\n`);
      await new Promise(setImmediate);
    };
    return { outcome, moveTo, says, asked: processes[0]!.asked };
  }
  const hello = { id: 0, type: 'ok', value: { lock: 'slow' } };

  it('has 15 seconds, and is told how to get more', async () => {
    const { outcome, moveTo, asked } = starting();
    await moveTo(15_001);
    expect(await outcome).toMatch(/did not answer init within 15000 ms; .*"withinMs":60000.*--starts-within 60s/);
    expect(asked).toMatchObject([{ op: 'init', protocol: 2 }]);
  });

  it('has as long as it asks for, counted from when it asked', async () => {
    const { outcome, moveTo, says } = starting();
    await moveTo(10_000);
    await says({ type: 'starting', withinMs: 60_000 });
    await moveTo(69_000);
    await says(hello);
    expect(await outcome).toBe('slow');
  });

  it('has no more than two minutes from then, and never less than it had', async () => {
    const one = starting();
    await one.says({ type: 'starting', withinMs: 1e9 });
    await one.moveTo(15_001);
    await one.moveTo(120_001);
    expect(await one.outcome).toMatch(/within 120000 ms/);
    const other = starting();
    await other.says({ type: 'starting', withinMs: 5 });
    await other.moveTo(14_000);
    await other.says(hello);
    expect(await other.outcome).toBe('slow');
  });
});
