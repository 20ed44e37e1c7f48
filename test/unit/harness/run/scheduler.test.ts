import { describe, expect, test } from 'vitest';
import type { SchedulerOptions } from '../../../../harness/run/scheduler.js';
import type { SlotProcess } from '../../../../harness/run/slot-process.js';
import { monotonicNs } from '../../../../harness/runtimes/real-clock.js';
import type { HistoryEvent } from '../../../../harness/vocabulary/history.js';
import type { ClientScript, Instruction, Outcome } from '../../../../harness/vocabulary/workload.js';
import { fakeHost } from './fake-client.js';
import { fakeRun } from './fake-run.js';

const HELLO = { type: 'ok', value: { lock: 'fake', features: ['clock'] } };

async function setUp(script: SchedulerOptions['script'], hello: object = HELLO, model?: SchedulerOptions['model']) {
  const { host, processes } = fakeHost('c1');
  const { scheduler, clock, events } = fakeRun([host], script, {}, undefined, model);
  const started = scheduler.start();
  started.catch(() => {}); // looked at by the test
  await processes[0]!.nextRequest();
  processes[0]!.answer({ id: 0, ...hello });
  const recorded = async (matches: (event: HistoryEvent) => boolean): Promise<HistoryEvent> => {
    for (;;) {
      const found = events().find(matches);
      if (found) return found;
      await clock.sleep(2);
    }
  };
  /** Completes the handshake of a process that came up again. */
  const greet = async (n: number) => {
    while (processes.length <= n) await clock.sleep(2);
    await processes[n]!.nextRequest();
    processes[n]!.answer({ id: 0, ...hello });
    return processes[n]!;
  };
  return {
    scheduler,
    started,
    client: processes[0]!,
    processes,
    events,
    recorded,
    greet,
    now: () => monotonicNs(),
    clock,
  };
}

/** Acquires once, idles, releases, then idles for ever. */
function* oneHold(): ClientScript {
  const granted: Outcome = yield { do: 'acquire', key: 'lock:0', leaseMs: 5_000, waitMs: 100 } as Instruction;
  if (granted.type === 'ok') yield { do: 'release', hold: granted.id };
  yield { do: 'idle', ms: 1e6 };
}

/** A client that has been granted lock:0 and works under it for ever. */
async function holding() {
  const world = await setUp(function* () {
    yield { do: 'acquire', key: 'lock:0', leaseMs: 5_000, waitMs: 100 };
    yield { do: 'idle', ms: 1e6 };
  });
  await world.started;
  world.scheduler.runScripts();
  const { id } = await world.client.nextRequest();
  const began = world.now();
  world.client.answer({ id, type: 'ok', began, ended: began });
  await world.recorded((event) => event.type === 'ok');
  return { ...world, id };
}

describe('a history that can be trusted', () => {
  test("invoke is recorded before the line is sent, completions carry the client's own stamps", async () => {
    const { scheduler, started, client, events, recorded, now } = await setUp(oneHold);
    await started;
    scheduler.runScripts();
    const asked = await client.nextRequest();
    expect(events().at(-1)).toMatchObject({
      type: 'invoke',
      op: 'acquire',
      key: 'lock:0',
      id: asked.id,
      leaseMs: 5_000,
    });
    const began = now();
    client.answer({
      id: asked.id,
      type: 'ok',
      began,
      ended: began + 10,
      value: { token: 7, validForMs: 4_900, grantSent: began + 1 },
    });
    const ok = await recorded((event) => event.type === 'ok');
    expect(ok).toMatchObject({ client: 'c1', op: 'acquire', token: 7, validForMs: 4_900 });
    if (ok.type !== 'ok') throw new Error('not ok');
    expect(ok.endedNs! - ok.beganNs!).toBe(10);
    expect(ok.grantSentNs! - ok.beganNs!).toBe(1);
    expect(ok.beganNs!).toBeLessThanOrEqual(ok.atNs);
    await client.nextRequest();
    await scheduler[Symbol.asyncDispose]();
  });

  test('an operation says at which step it is to stop, while that is asked and where its program can', async () => {
    const able = { type: 'ok', value: { lock: 'fake', features: ['stop-at'] } };
    const { scheduler, started, client, recorded, now } = await setUp(oneHold, able);
    await started;
    const others = scheduler.stops.ask('before-del', 'c2');
    const stop = scheduler.stops.ask('after-set', 'c1');
    scheduler.runScripts();
    const asked = await client.nextRequest();
    expect(asked).toMatchObject({ op: 'acquire', stopAt: 'after-set' });
    expect(await recorded((event) => event.type === 'invoke')).not.toHaveProperty('stopAt');
    const [target] = scheduler.targets();
    expect(target).toMatchObject({ canStop: true, stopping: { step: 'after-set' } });
    stop();
    const began = now();
    client.answer({ id: asked.id, type: 'ok', began, ended: began });
    expect(await client.nextRequest()).not.toHaveProperty('stopAt');
    expect(target!.stopping).toBeUndefined();
    others();
    await scheduler[Symbol.asyncDispose]();

    const unable = await setUp(oneHold);
    await unable.started;
    unable.scheduler.stops.ask('after-set');
    unable.scheduler.runScripts();
    expect(await unable.client.nextRequest()).not.toHaveProperty('stopAt');
    expect(unable.scheduler.targets()[0]!.canStop).toBe(false);
    await unable.scheduler[Symbol.asyncDispose]();
  });

  test('what a client held that is gone can be released no more, and is asked of nobody', async () => {
    const { scheduler, started, client, now, recorded } = await setUp(oneHold);
    await started;
    const acquired = scheduler.perform(0, { do: 'acquire', key: 'lock:0', leaseMs: 5_000, waitMs: 0 });
    const { id } = await client.nextRequest();
    const began = now();
    client.answer({ id, type: 'ok', began, ended: began });
    expect((await acquired).type).toBe('ok');
    const target = scheduler.targets()[0] as unknown as SlotProcess;
    await target.kill();
    await recorded((event) => event.type === 'client-down');
    expect(await target.perform({ do: 'release', hold: Number(id) })).toMatchObject({
      type: 'info',
      reason: 'client is gone',
    });
    target.resume();
    await scheduler[Symbol.asyncDispose]();
  });

  test('the end waits for an operation of a manual client, and releases what it was granted', async () => {
    const { scheduler, started, client, now } = await setUp(oneHold);
    await started;
    const acquire = { do: 'acquire', key: 'lock:0', leaseMs: 5_000, waitMs: 60_000 } as const;
    const acquired = scheduler.perform(0, acquire);
    const { id } = await client.nextRequest();
    const finished = scheduler.finish();
    const began = now();
    client.answer({ id, type: 'ok', began, ended: began });
    expect((await acquired).type).toBe('ok');
    const release = await client.nextRequest();
    expect(release).toMatchObject({ op: 'release', hold: id });
    const at = now();
    client.answer({ id: release.id, type: 'ok', began: at, ended: at });
    await finished;
    await expect(scheduler.perform(0, acquire)).rejects.toThrow('the run is over');
    await scheduler[Symbol.asyncDispose]();
  });

  test.each([
    ['garbage', (client: Fake, id: number) => client.print(`what? {${id}\n`), /protocol: what/],
    ['an unknown id', (client: Fake) => client.answer({ id: 999, type: 'ok' }), /protocol: .*999/],
    ['a fail without a reason', (client: Fake, id: number) => client.answer({ id, type: 'fail' }), /protocol/],
    ['a line without end', (client: Fake) => client.print('x'.repeat(70_000)), /more than 65536 bytes/],
    [
      'stamps out of order',
      (client: Fake, id: number, now: number) => client.answer({ id, type: 'ok', began: now, ended: now - 5 }),
      /stamps out of order/,
    ],
    [
      'stamps of another clock',
      (client: Fake, id: number) => client.answer({ id, type: 'ok', began: Date.now(), ended: Date.now() + 1 }),
      /stamps out of order/,
    ],
    [
      'a value of the wrong type',
      (client: Fake, id: number) => client.answer({ id, type: 'ok', value: { token: 'seven' } }),
      /value of acquire/,
    ],
    [
      'a lease from another time',
      (client: Fake, id: number, now: number) =>
        client.answer({ id, type: 'ok', began: now, ended: now, value: { grantSent: now + 9 } }),
      /lease is said to run/,
    ],
    ['death', (client: Fake) => client.exit({ code: 7, signal: null }), /client exited \(7\)/],
  ])('%s: the outcome is info, and the client comes back under a new name', async (name, misbehave, reason) => {
    const { scheduler, started, client, recorded, greet, now } = await setUp(oneHold);
    await started;
    scheduler.runScripts();
    const asked = await client.nextRequest();
    misbehave(client, asked.id as number, now());
    expect(await recorded((event) => event.type === 'info')).toMatchObject({
      client: 'c1',
      op: 'acquire',
      reason: expect.stringMatching(reason),
    });
    const down = await recorded((event) => event.type === 'client-down' && event.client === 'c1');
    const broke = {
      what: expect.not.stringMatching(/^protocol/),
      lost: { id: asked.id, op: 'acquire', key: 'lock:0' },
    };
    expect(down).toMatchObject(name === 'death' ? { reason: 'exited by itself (status 7)' } : { broke });
    if (name === 'death') expect(down).not.toHaveProperty('broke');
    const next = await greet(1);
    await recorded((event) => event.type === 'client-up' && event.client === 'c1.2');
    await next.nextRequest();
    await scheduler[Symbol.asyncDispose]();
  });

  test('a process is told what the one before it worked under when it died, and nothing of what that had let go', async () => {
    const resumed: (string | undefined)[] = [];
    const world = await setUp(function* (_random, _lock, { resumes }) {
      resumed.push(resumes);
      const first = yield { do: 'acquire', key: 'lock:0', leaseMs: 5_000, waitMs: 100 };
      if (resumed.length > 1) yield { do: 'release', hold: (first as { id: number }).id };
      yield { do: 'idle', ms: resumed.length > 2 ? 1e6 : 1 };
      yield { do: 'acquire', key: 'lock:1', leaseMs: 5_000, waitMs: 100 };
    });
    const { scheduler, started, client, greet, now } = world;
    const granted = async (process: typeof client) => {
      const { id } = await process.nextRequest();
      process.answer({ id, type: 'ok', began: now(), ended: now() });
    };
    await started;
    scheduler.runScripts();
    await granted(client);
    await client.nextRequest();
    client.exit({ code: 7, signal: null });
    const second = await greet(1);
    await granted(second);
    await granted(second);
    await second.nextRequest();
    second.exit({ code: 7, signal: null });
    await (await greet(2)).nextRequest();
    expect(resumed).toEqual([undefined, 'lock:0', undefined]);
    await scheduler[Symbol.asyncDispose]();
  });

  test('a client that never answers is info; one that is stopped is only late', async () => {
    const { scheduler, started, client, events, recorded, now, clock } = await setUp(oneHold);
    await started;
    client.setState('stopped');
    scheduler.runScripts();
    const asked = await client.nextRequest();
    // Past the time-out of 100 + 200 ms: were it running, it would be gone.
    await clock.sleep(500);
    expect(events().some((event) => event.type === 'info')).toBe(false);
    client.setState('running');
    const began = now();
    client.answer({ id: asked.id, type: 'ok', began, ended: began });
    await recorded((event) => event.type === 'ok');
    // Its release goes unanswered while it runs.
    await client.nextRequest();
    expect(await recorded((event) => event.type === 'info')).toMatchObject({
      op: 'release',
      reason: expect.stringContaining('no answer within'),
    });
    expect(client.signals).toContain('SIGKILL');
    await scheduler[Symbol.asyncDispose]();
  });

  test.each([
    ['from the future', (now: number) => ({ type: 'renewed', at: now + 60e9 })],
    ['of another clock', () => ({ type: 'lost', at: Date.now() })],
    ['for a lease of nothing', (now: number) => ({ type: 'renewed', at: now, leaseMs: -1 })],
  ])('a notice %s ends the client', async (_, notice) => {
    const { scheduler, client, id, recorded, events, now } = await holding();
    client.answer({ hold: id, ...notice(now()) });
    const down = await recorded((event) => event.type === 'client-down');
    expect(down).toMatchObject({ reason: expect.stringMatching(/^protocol: /), broke: { what: expect.any(String) } });
    expect(down).not.toHaveProperty('broke.lost');
    expect(events().some((event) => event.type === 'renewed' || event.type === 'lost')).toBe(false);
    await scheduler[Symbol.asyncDispose]();
  });

  test('a lost notice that arrives with the grant is not lost', async () => {
    const { scheduler, started, client, recorded, now } = await setUp(oneHold);
    await started;
    scheduler.runScripts();
    const { id } = await client.nextRequest();
    const began = now();
    client.print(
      `${JSON.stringify({ id, type: 'ok', began, ended: began })}\n${JSON.stringify({ type: 'lost', hold: id, at: began + 1, reason: 'x' })}\n`,
    );
    const lost = await recorded((event) => event.type === 'lost');
    const ok = await recorded((event) => event.type === 'ok');
    expect(lost.i).toBeGreaterThan(ok.i);
    await scheduler[Symbol.asyncDispose]();
  });

  test.each([
    ['lost is recorded of that hold', 'lost', true],
    ['renewed is no news', 'renewed', false],
  ])('what a lock says of a hold that was released: %s', async (_, type, isTold) => {
    const { scheduler, started, client, recorded, events, now } = await setUp(oneHold);
    await started;
    scheduler.runScripts();
    const { id } = await client.nextRequest();
    const began = now();
    client.answer({ id, type: 'ok', began, ended: began });
    const release = await client.nextRequest();
    client.answer({ id: release.id, type: 'ok', began: now(), ended: now() });
    await recorded((event) => event.type === 'ok' && event.op === 'release');
    client.answer({ type, hold: id, at: now() });
    // What comes after it has been read when this is recorded.
    client.answer({ type: 'step', name: 'after-it', at: now() });
    await recorded((event) => event.type === 'step');
    const told = events().filter((event) => event.type === 'lost' || event.type === 'renewed');
    expect(told).toMatchObject(isTold ? [{ type, client: 'c1', hold: id, key: 'lock:0' }] : []);
    await scheduler[Symbol.asyncDispose]();
  });

  test.each([
    ['before the attempt left that was granted', 2, true],
    ['when it left, before the answer', 5, false],
  ])('a hold that was lost %s', async (_, atNs, breaks) => {
    const { scheduler, started, client, recorded, now } = await setUp(oneHold);
    await started;
    scheduler.runScripts();
    const { id } = await client.nextRequest();
    const began = now();
    client.answer({ id, type: 'ok', began, ended: began + 10, value: { grantSent: began + 5 } });
    await recorded((event) => event.type === 'ok');
    client.answer({ type: 'lost', hold: id, at: began + atNs });
    const event = await recorded(({ type }) => type === (breaks ? 'client-down' : 'lost'));
    if (breaks) expect(event).toMatchObject({ broke: { what: expect.stringMatching(/not of its time/) } });
    await scheduler[Symbol.asyncDispose]();
  });

  test("a killed client's holds end before the kill, and its slot stays empty until healed", async () => {
    const { scheduler, processes, recorded, greet, clock } = await holding();
    const target = scheduler.targets()[0]!;
    expect(target.holding).toEqual(['lock:0']);
    const before = clock.nowNs();
    await target.kill();
    const down = await recorded((event) => event.type === 'client-down');
    if (down.type !== 'client-down') throw new Error('not down');
    expect(down.endNs).toBeGreaterThanOrEqual(before);
    expect(down.endNs).toBeLessThanOrEqual(down.atNs);
    await clock.sleep(50);
    expect(processes.length).toBe(1);
    expect(scheduler.clientAt('10.77.0.9')).toEqual({ name: 'c1' });
    target.resume();
    await greet(1);
    await recorded((event) => event.type === 'client-up' && event.client === 'c1.2');
    // A look that a server has answered since then tells the successor's connections from the dead one's.
    const { name, predecessorDeadNs } = scheduler.clientAt('10.77.0.9')!;
    expect(name).toBe('c1.2');
    expect(predecessorDeadNs).toBeGreaterThanOrEqual(before);
    expect(predecessorDeadNs).toBeLessThanOrEqual(down.atNs);
    await scheduler[Symbol.asyncDispose]();
  });
});

test('a kill of a client that is already being ended waits until it is dead', async () => {
  const { scheduler, client, id, clock } = await holding();
  // The kernel takes its time, as on a busy machine.
  let die = () => {};
  const killed = new Promise<void>((resolve) => {
    client.signal = () => {
      die = () => client.exit({ code: null, signal: 'SIGKILL' });
      resolve();
    };
  });
  client.print(`babble about ${id}\n`);
  const target = scheduler.targets()[0]!;
  await killed;
  let isBack = false;
  const back = target.kill().then(() => {
    isBack = true;
  });
  await clock.sleep(20);
  expect(isBack).toBe(false);
  die();
  await back;
  expect(await target.process.state()).toBe('dead');
  await scheduler[Symbol.asyncDispose]();
});

type Fake = ReturnType<typeof fakeHost>['processes'][number];

describe('the handshake', () => {
  test.each([
    [{ type: 'fail', reason: 'cannot import' }, 'could not start: cannot import'],
    [{ type: 'ok', value: { features: [] } }, 'value.lock: missing, expected a string'],
    [{ type: 'ok', value: { lock: 'x', features: 'all' } }, 'value.features: expected a list, got "all"'],
    [{ type: 'ok', value: { lock: 'x', features: [], topologies: ['redlock'] } }, 'makes no sense on topology single'],
    [
      { type: 'ok', value: { lock: 'x', features: [], model: { kind: 'semaphore', permits: 3 } } },
      'lets 3 clients hold at once',
    ],
    [
      { type: 'ok', value: { lock: 'x', features: [], model: { kind: 'semaphore', permits: 0 } } },
      'value.model.permits: expected a whole number from 1, got 0',
    ],
    [
      { type: 'ok', value: { lock: 'x', features: [], deadlines: { place: 'soon' } } },
      'value.deadlines.place: expected ',
    ],
    [{ type: 'ok', value: { lock: 'x', features: [], deadlines: { permit: 0 } } }, 'value.deadlines.permit: expected '],
    [{ type: 'ok', value: { lock: 'x', features: [], lease: 'for ever' } }, 'value.lease: expected '],
  ])('%j is an error that names what was said', async (hello, message) => {
    const { started, scheduler } = await setUp(oneHold, hello);
    await expect(started).rejects.toThrow(message);
    await scheduler[Symbol.asyncDispose]();
  });

  test.each([
    ['fair', {}, 'whose model is "fair", and "x" says none: if it promises that'],
    ['fair', { model: { kind: 'mutex' } }, 'whose model is "fair", and "x" says "mutex"'],
    ['semaphore', { model: { kind: 'reentrant', depth: 2 } }, 'whose model is "semaphore", and "x" says "reentrant"'],
  ] as const)('a workload for %s refuses a lock that promises %j', async (kind, says, message) => {
    const model = kind === 'fair' ? ({ kind } as const) : ({ kind, permits: 2 } as const);
    const value = { lock: 'x', features: [], ...says };
    const { started, scheduler } = await setUp(oneHold, { type: 'ok', value }, model);
    await expect(started).rejects.toThrow(message);
    await scheduler[Symbol.asyncDispose]();
  });

  test.each([
    [{ kind: 'fair' }, { kind: 'fair' }],
    [
      { kind: 'semaphore', permits: 2 },
      { kind: 'semaphore', permits: 5 },
    ],
    [{ kind: 'mutex' }, undefined],
  ] as const)('a workload for %j takes a lock that promises %j', async (expected, model) => {
    const value = { lock: 'x', features: [], ...(model && { model }) };
    const { started, scheduler } = await setUp(oneHold, { type: 'ok', value }, expected);
    await expect(started).resolves.toMatchObject({ lock: 'x' });
    await scheduler[Symbol.asyncDispose]();
  });

  test('what the lock declares is recorded', async () => {
    const value = { lock: 'x', features: [], lease: 'none', deadlines: { place: 1_500, permit: 'never' } };
    const { started, scheduler, recorded } = await setUp(oneHold, { type: 'ok', value });
    await started;
    const up = await recorded(({ type }) => type === 'client-up');
    expect(up).toMatchObject({ lease: 'none', deadlines: { place: 1_500, permit: 'never' } });
    await scheduler[Symbol.asyncDispose]();
  });
});

describe('the probe at the end', () => {
  async function idling() {
    const world = await setUp(function* () {
      yield { do: 'idle', ms: 1e6 };
    });
    await world.started;
    const answer = ({ id }: Record<string, unknown>, type: 'ok' | 'fail') => {
      const at = world.now();
      world.client.answer({ id, type, began: at, ended: at, ...(type === 'fail' && { reason: 'held' }) });
    };
    return { ...world, answer };
  }

  test('tries again when the leases have ended, however late the answer to the try before came', async () => {
    const { scheduler, client, clock, answer } = await idling();
    // Far enough off that the first try is on its way before it, however busy the machine is.
    const dueNs = clock.nowNs() + 200e6;
    const giveUpNs = dueNs + 1e6;
    const probing = scheduler.probe(0, 'lock:0', { waitMs: 5, dueNs, giveUpNs });
    const first = await client.nextRequest();
    expect(first).toMatchObject({ op: 'acquire', waitMs: 5 });
    while (clock.nowNs() < giveUpNs) await clock.sleep(2);
    answer(first, 'fail');
    const second = await client.nextRequest();
    expect(second).toMatchObject({ op: 'acquire', waitMs: 5 });
    answer(second, 'ok');
    answer(await client.nextRequest(), 'ok');
    expect(await probing).toEqual({ client: 'c1', acquired: true });
  });

  test('is not made by a client that may hold the key without knowing it; where all may, by two', async () => {
    const hosts = ['c1', 'c2'].map((name) => fakeHost(name));
    const script = function* (): ClientScript {
      yield { do: 'acquire', key: 'lock:0', leaseMs: 5_000, waitMs: 0, cancelAfterMs: 1 };
      yield { do: 'idle', ms: 1e6 };
    };
    const { scheduler, clock, events } = fakeRun(
      hosts.map(({ host }) => host),
      script,
    );
    const started = scheduler.start();
    const clients = hosts.map(({ processes }) => processes[0]!);
    const hello = { type: 'ok', value: { lock: 'fake', features: ['cancel'] } };
    for (const client of clients) client.answer({ ...(await client.nextRequest()), ...hello });
    await started;
    const stamps = () => ({ began: monotonicNs(), ended: monotonicNs() });
    scheduler.runScripts();
    const [c1, c2] = clients as [(typeof clients)[0], (typeof clients)[0]];
    /** Has it give its first acquire up, and answers that. */
    const giveUp = async (client: typeof c1, answer: object) => {
      const acquire = await client.nextRequest();
      const cancel = await client.nextRequest();
      expect(cancel).toMatchObject({ op: 'cancel', acquire: acquire.id });
      client.answer({ id: cancel.id, type: 'ok' });
      client.answer({ id: acquire.id, ...stamps(), ...answer });
    };
    const serve = async (client: typeof c1, ops: string[]) => {
      for (const op of ops) {
        const { id, op: asked } = await client.nextRequest();
        expect(asked).toBe(op);
        client.answer({ id, type: 'ok', ...stamps() });
      }
    };
    const dueNs = clock.nowNs() - 1;
    const probe = () => scheduler.probe(0, 'lock:0', { waitMs: 5, dueNs, giveUpNs: clock.nowNs() + 60e9 });
    await giveUp(c1, { type: 'info', reason: 'interrupted' });
    await giveUp(c2, { type: 'info', reason: 'interrupted' });
    while (events().filter(({ type }) => type === 'info').length < 2) await clock.sleep(1);
    // Both may: c1 is granted it, but that shows nothing; c2 must be as well, after which c1's doubt is over.
    const both = probe();
    await serve(c1, ['acquire', 'release']);
    await serve(c2, ['acquire', 'release']);
    expect(await both).toEqual({ client: 'c2', acquired: true });
    const one = probe();
    await serve(c1, ['acquire', 'release']);
    expect(await one).toEqual({ client: 'c1', acquired: true });
    await scheduler[Symbol.asyncDispose]();
  });

  test('waits for all of the grace then: a lock that needs a second for a grant gets it', async () => {
    const { scheduler, client, clock, answer } = await idling();
    const probing = scheduler.probe(0, 'lock:0', {
      waitMs: 5,
      dueNs: clock.nowNs() - 1,
      giveUpNs: clock.nowNs() + 60e9,
    });
    const asked = await client.nextRequest();
    expect(asked.waitMs).toBeGreaterThan(5);
    expect(asked.waitMs).toBeLessThanOrEqual(60_000);
    answer(asked, 'ok');
    answer(await client.nextRequest(), 'ok');
    expect(await probing).toEqual({ client: 'c1', acquired: true });
  });
});
