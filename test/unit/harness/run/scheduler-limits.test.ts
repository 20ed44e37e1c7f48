/** What no lock client can do to the harness, whatever it prints or leaves undone: fill it, hold it up, or end it. */
import { statSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { LineAllowance } from '../../../../harness/run/client-process.js';
import { monotonicNs, realClock } from '../../../../harness/runtimes/real-clock.js';
import type { Host, ProcessExit } from '../../../../harness/vocabulary/host.js';
import type { Clock } from '../../../../harness/vocabulary/time.js';
import type { ClientScript } from '../../../../harness/vocabulary/workload.js';
import { GrantWatch } from '../../../../nemesis/striking/grants.js';
import { type FakeProcess, fakeHost } from './fake-client.js';
import { fakeRun } from './fake-run.js';

const HELLO = { id: 0, type: 'ok', value: { lock: 'fake', features: [] } };

function* forEver(): ClientScript {
  for (;;) {
    const granted = yield { do: 'acquire', key: 'lock:0', leaseMs: 5_000, waitMs: 0 };
    if (granted.type === 'ok') {
      yield { do: 'idle', ms: 1, untilLost: granted.id };
      yield { do: 'release', hold: granted.id };
    }
    yield { do: 'idle', ms: 1 };
  }
}

function world<T extends { host: Host }>(
  names: readonly string[],
  changed: Partial<Clock>,
  hostOf: (name: string) => T,
) {
  const hosts = names.map(hostOf);
  const run = fakeRun(
    hosts.map(({ host }) => host),
    forEver,
    changed,
  );
  return { ...run, hosts };
}

const until = async (clock: Clock, condition: () => boolean) => {
  while (!condition()) await clock.sleep(0.2);
};

/** How many seconds one of a flood's run lasts: a busy machine must not turn that into what is allowed. */
const SLOWER = 20;

/** One client that is up, with the request that it must answer, and time so much slower. `at`: a stamp of now. */
async function asked(slower = 1) {
  const begunNs = monotonicNs();
  const real = realClock(begunNs);
  const slow = {
    nowNs: () => real.nowNs() / slower,
    sleep: (ms: number, signal?: AbortSignal) => real.sleep(ms * slower, signal),
  };
  const one = world(['c1'], slow, fakeHost);
  const at = () => Math.floor(one.epochNs + one.clock.nowNs());
  const started = one.scheduler.start();
  const client = one.hosts[0]!.processes[0]!;
  await client.nextRequest();
  client.answer(HELLO);
  await started;
  one.scheduler.runScripts();
  return { ...one, at, client, request: await client.nextRequest() };
}

describe('floods', () => {
  const UNASKED = /^protocol: more than 1000 unasked lines a second/;
  const FLOODS: [string, (id: unknown, at: number) => string, RegExp][] = [
    ['steps', (_, at) => JSON.stringify({ type: 'step', name: 'x', at }), UNASKED],
    [
      'renewals',
      (hold, at) => JSON.stringify({ type: 'renewed', hold, at }),
      /^protocol: more than 100 notices of a hold before the answer that grants it/,
    ],
    ['empty lines', () => '', UNASKED],
  ];

  test.each(FLOODS)('endless %s end the client, and the history stays small', async (_, line, reason) => {
    const { client, request, events, history, clock, at } = await asked(SLOWER);
    for (let n = 0; n < 20_000; n++) client.print(`${line(request.id, at())}\n`);
    await until(clock, () => events().some((event) => event.type === 'client-down'));
    expect(events().find((event) => event.type === 'client-down')).toMatchObject({
      reason: expect.stringMatching(reason),
    });
    expect(client.signals).toContain('SIGKILL');
    expect(statSync(history).size).toBeLessThan(2e6);
  });

  test('renewals that piled up behind the answer while nobody read are not early', async () => {
    const { client, request, events, clock, at } = await asked(SLOWER);
    const sent = at();
    const grant = { id: request.id, type: 'ok', began: sent, ended: sent, value: { grantSent: sent } };
    const renewal = JSON.stringify({ type: 'renewed', hold: request.id, at: sent });
    client.print(`${[JSON.stringify(grant), ...Array(500).fill(renewal)].join('\n')}\n`);
    const of = (type: string) => events().filter((event) => event.type === type).length;
    await until(clock, () => of('renewed') === 500 || of('client-down') > 0);
    expect(events().filter((event) => event.type === 'client-down')).toEqual([]);
  });

  test("a client's limit of output is not reset by its next process", async () => {
    const { client, request, hosts, events, clock, at } = await asked(SLOWER);
    const flood = (process: FakeProcess) => {
      for (let n = 0; n < 6_000; n++) process.print(`${JSON.stringify({ type: 'step', name: 'x', at: at() })}\n`);
    };
    expect(request.op).toBe('acquire');
    flood(client);
    await until(clock, () => hosts[0]!.processes.length > 1);
    const next = hosts[0]!.processes[1]!;
    await next.nextRequest();
    next.answer(HELLO);
    const before = events().filter((event) => event.type === 'step').length;
    await next.nextRequest();
    flood(next);
    await until(clock, () => events().filter((event) => event.type === 'client-down').length === 2);
    const after = events().filter((event) => event.type === 'step').length;
    expect(before).toBeGreaterThan(4_000);
    expect(after - before).toBeLessThan(4_000);
  });

  test('a thousand lines a second for ever are allowed, and so is a backlog after a stall', () => {
    let nowNs = 0;
    const allowance = new LineAllowance({ ...realClock(0), nowNs: () => nowNs });
    let refused = 0;
    for (let ms = 0; ms < 60_000; ms++, nowNs += 1e6) if (!allowance.take()) refused++;
    nowNs += 3e9;
    for (let n = 0; n < 3_000; n++) if (!allowance.take()) refused++;
    expect(refused).toBe(0);
  });
});

describe('a client that leaves something undone', () => {
  test('a client that never completes the handshake: the start fails and says so, and the others are told to end', async () => {
    const real = realClock(monotonicNs());
    let skippedNs = 0;
    // What is left of the 15 s passes at once, and is over by the clock, too: else it would be waited for once more.
    const sleep: Clock['sleep'] = async (ms, signal) => {
      if (ms < 10_000) return await real.sleep(ms, signal);
      await real.sleep(100, signal);
      if (!signal?.aborted) skippedNs += (ms - 100) * 1e6;
    };
    const nowNs = () => real.nowNs() + skippedNs;
    const { scheduler, hosts, clock } = world(['c1', 'c2'], { sleep, nowNs }, fakeHost);
    const started = scheduler.start();
    const failed = expect(started).rejects.toThrow('the lock client did not answer init within 15000 ms');
    await until(clock, () => hosts[0]!.processes.length > 0);
    hosts[0]!.processes[0]!.answer(HELLO);
    await failed;
    expect(hosts[1]!.processes[0]!.signals).toContain('SIGKILL');
    hosts[0]!.processes[0]!.exit({ code: 0, signal: null });
    await scheduler[Symbol.asyncDispose]();
  });

  test('one that stopped itself does not hold up the end of the run', async () => {
    const { scheduler, client, events, request, clock } = await asked();
    client.setState('stopped');
    await clock.sleep(400); // as long as scripts run, a stopped client is late
    expect(events().some((event) => event.type === 'info')).toBe(false);
    await scheduler.finish();
    expect(events().find((event) => event.type === 'info')).toMatchObject({ id: request.id });
    expect(client.signals).toContain('SIGKILL');
  });
});

test('many clients start a few at a time, and their progress is reported', async () => {
  const names = Array.from({ length: 60 }, (_, n) => `c${n + 1}`);
  const sleep: Clock['sleep'] = (ms, signal) => realClock(0).sleep(ms === 3_000 ? 5 : ms, signal);
  const { scheduler, hosts, said, clock } = world(names, { sleep }, fakeHost);
  const started = scheduler.start();
  const processes = () => hosts.flatMap((host) => host.processes);
  let most = 0;
  for (let answered = 0; answered < names.length; answered++) {
    await until(clock, () => processes().length > answered);
    await clock.sleep(1);
    most = Math.max(most, processes().length - answered);
    processes()[answered]!.answer(HELLO);
  }
  await started;
  expect(most).toBeLessThan(40);
  expect(said.some((line) => /^\d+ of 60 clients are up$/.test(line))).toBe(true);
});

describe('memory', () => {
  const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapBytes = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };

  /** A client that answers at once, as fast as it is asked; three of four tries are refused. */
  function tireless(name: string): Host {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    stdin.on('data', (chunk: Buffer) => {
      for (const line of String(chunk).split('\n').filter(Boolean)) {
        const { id, op } = JSON.parse(line);
        const stamp = monotonicNs();
        const answer = op === 'acquire' && id % 4 !== 0 ? { type: 'fail', reason: 'held' } : { type: 'ok' };
        stdout.write(`${JSON.stringify(op === 'init' ? HELLO : { id, began: stamp, ended: stamp, ...answer })}\n`);
      }
    });
    let die = (_: ProcessExit) => {};
    const exited = new Promise<ProcessExit>((resolve) => {
      die = resolve;
    });
    const signal = () => die({ code: null, signal: 'SIGKILL' });
    const client = { pid: 1, stdin, stdout, exited, signal, state: async () => 'running' };
    return { name, address: '10.77.0.9', folder: '/nowhere', spawn: () => client } as unknown as Host;
  }

  test('a long run does not grow: nothing is kept of an operation that is over', async () => {
    const real = realClock(0);
    const sleep: Clock['sleep'] = (ms, signal) => (ms > 1 ? real.sleep(ms, signal) : nextTurn());
    const { scheduler, recorder, ledger, clock } = world(['c1', 'c2'], { sleep }, (name) => ({ host: tireless(name) }));
    const { signal } = new AbortController();
    using _grants = new GrantWatch({ clock, leaseMs: 5_000, signal, holds: ledger }, 0);
    let [operations, downs] = [0, 0];
    recorder.subscribe(({ type }) => {
      if (type === 'invoke') operations++;
      if (type === 'client-down') downs++;
    });
    await scheduler.start();
    scheduler.runScripts();
    const heapAfter = async (count: number) => {
      while (operations < count) await real.sleep(5);
      return heapBytes();
    };
    await heapAfter(2_000);
    const early = await heapAfter(4_000);
    const [from, late] = [operations, await heapAfter(16_000)];
    expect(downs, 'a fast lock is no flood').toBe(0);
    expect((late - early) / (operations - from)).toBeLessThan(30);
    await scheduler.finish();
  });
});
