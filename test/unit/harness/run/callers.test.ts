/** Several callers in one process, and what a client gives up: an acquire, or a hold while it waits for an answer. */
import { describe, expect, test } from 'vitest';
import type { HistoryEvent } from '../../../../harness/vocabulary/history.js';
import type { ClientScript, Outcome } from '../../../../harness/vocabulary/workload.js';
import { fakeHost } from './fake-client.js';
import { fakeRun } from './fake-run.js';

const hello = (...features: string[]) => ({ id: 0, type: 'ok', value: { lock: 'fake', features } });

function world(script: () => ClientScript, callers?: number) {
  const { host, processes } = fakeHost('c1');
  const run = fakeRun([host], script, {}, callers);
  const event = async (matches: (event: HistoryEvent) => boolean): Promise<HistoryEvent> => {
    for (;;) {
      const found = run.events().find(matches);
      if (found) return found;
      await run.clock.sleep(2);
    }
  };
  return { ...run, processes, event };
}

async function started(run: ReturnType<typeof world>, ...features: string[]) {
  const starting = run.scheduler.start();
  starting.catch(() => {});
  const [client] = run.processes;
  const init = await client!.nextRequest();
  client!.answer(hello(...features));
  await starting;
  return { client: client!, init };
}

function* oneHold(): ClientScript {
  const granted: Outcome = yield { do: 'acquire', key: 'lock:0', leaseMs: 5_000, waitMs: 100 };
  if (granted.type === 'ok') yield { do: 'release', hold: granted.id };
  yield { do: 'idle', ms: 1e6 };
}

describe('callers', () => {
  test('each is a client of its own, in a place of its own, whose holds are nobody else’s', async () => {
    const run = world(oneHold, 2);
    const { client, init } = await started(run, 'callers');
    expect(init).toMatchObject({ options: { client: 'c1', callers: 2 } });
    run.scheduler.runScripts();
    const [a, b] = [await client.nextRequest(), await client.nextRequest()];
    expect([a.caller, b.caller]).toEqual(['a', 'b']);
    // In any order.
    for (const { id } of [b, a]) client.answer({ id, type: 'ok' });
    const [one, other] = [await client.nextRequest(), await client.nextRequest()];
    expect(new Set([one.caller, other.caller])).toEqual(new Set(['a', 'b']));
    const releaseOf = (caller: string) => [one, other].find((asked) => asked.caller === caller)!;
    expect([releaseOf('a').hold, releaseOf('b').hold]).toEqual([a.id, b.id]);
    const ups = run.events().filter(({ type }) => type === 'client-up');
    expect(ups).toMatchObject([
      { client: 'c1-a', slot: 'c1-a', process: 'c1', host: 'c1' },
      { client: 'c1-b', slot: 'c1-b', process: 'c1', host: 'c1' },
    ]);
    const [target] = run.scheduler.targets();
    expect(target).toMatchObject({ name: 'c1', callers: ['c1-a', 'c1-b'], holding: ['lock:0', 'lock:0'] });
    await run.scheduler[Symbol.asyncDispose]();
  });

  test('a notice is of the caller whose hold it names, and their process dies for all of them', async () => {
    const run = world(oneHold, 2);
    const { client } = await started(run, 'callers');
    run.scheduler.runScripts();
    await client.nextRequest();
    const b = await client.nextRequest();
    client.answer({ id: b.id, type: 'ok' });
    await client.nextRequest();
    client.answer({ type: 'lost', hold: b.id, at: Number(process.hrtime.bigint()) });
    expect(await run.event(({ type }) => type === 'lost')).toMatchObject({ client: 'c1-b' });
    client.exit({ code: 1, signal: null });
    await run.event((event) => event.type === 'client-down' && event.client === 'c1-b');
    expect(run.events().filter(({ type }) => type === 'client-down')).toMatchObject([
      { client: 'c1-a' },
      { client: 'c1-b' },
    ]);
    await run.scheduler[Symbol.asyncDispose]();
  });

  test('a lock whose client does not say that it can is refused', async () => {
    const run = world(oneHold, 2);
    await expect(started(run, 'extend')).rejects.toThrow('the feature callers, which "fake" does not say it has');
    await run.scheduler[Symbol.asyncDispose]();
  });
});

describe('an acquire that is given up', () => {
  function* impatient(): ClientScript {
    for (;;) yield { do: 'acquire', key: 'lock:0', leaseMs: 5_000, waitMs: 10_000, cancelAfterMs: 5 };
  }

  test('the client is told, and is not killed for not knowing', async () => {
    const run = world(impatient);
    const { client } = await started(run, 'cancel');
    run.scheduler.runScripts();
    const asked = await client.nextRequest();
    expect(asked).not.toHaveProperty('cancelAfterMs');
    const cancel = await client.nextRequest();
    expect(cancel).toMatchObject({ op: 'cancel', acquire: asked.id });
    client.answer({ id: cancel.id, type: 'ok' });
    client.answer({ id: asked.id, type: 'info', reason: 'cancelled' });
    const ended = await run.event(({ type }) => type === 'info');
    expect(ended).toMatchObject({ cancelledNs: expect.any(Number), reason: 'cancelled' });
    expect((await client.nextRequest()).op).toBe('acquire');
    expect(client.signals).toEqual([]);
    await run.scheduler[Symbol.asyncDispose]();
  });

  test('over a reconnect it is: what the lock granted was not heard, and nobody could release it', async () => {
    const run = world(impatient);
    const { client } = await started(run, 'cancel');
    run.scheduler.runScripts();
    const asked = await client.nextRequest();
    await client.nextRequest();
    client.answer({ id: asked.id, type: 'info', reason: 'reconnect' });
    const ended = await run.event(({ type }) => type === 'info');
    expect(ended).toMatchObject({ cancelledNs: expect.any(Number), reason: 'reconnect' });
    expect(await run.event(({ type }) => type === 'client-down')).toMatchObject({ client: 'c1' });
    await run.scheduler[Symbol.asyncDispose]();
  });

  test('one that does not answer at all is killed as ever', async () => {
    const run = world(impatient);
    const { client } = await started(run, 'cancel');
    run.scheduler.runScripts();
    await client.nextRequest();
    await client.nextRequest();
    client.exit({ code: null, signal: 'SIGKILL' });
    expect(await run.event(({ type }) => type === 'client-down')).toMatchObject({ client: 'c1' });
    await run.scheduler[Symbol.asyncDispose]();
  });

  test('a client that does not know it is never told', async () => {
    const run = world(impatient);
    const { client } = await started(run, 'extend');
    run.scheduler.runScripts();
    const asked = await client.nextRequest();
    await run.clock.sleep(30);
    client.answer({ id: asked.id, type: 'fail', reason: 'held' });
    expect(await run.event(({ type }) => type === 'fail')).not.toHaveProperty('cancelledNs');
    expect((await client.nextRequest()).op).toBe('acquire');
    await run.scheduler[Symbol.asyncDispose]();
  });
});

describe('a hold that is given up while an operation is not answered', () => {
  /** Longer than any machine here takes for an answer. */
  const LONG_MS = 60_000;

  function* extending(promisesMs: number[]): ClientScript {
    const granted: Outcome = yield { do: 'acquire', key: 'lock:0', leaseMs: 5_000, waitMs: 100 };
    if (granted.type !== 'ok') return;
    for (const afterMs of promisesMs)
      yield { do: 'extend', hold: granted.id, leaseMs: 5_000, givesUp: { hold: granted.id, afterMs } };
    yield { do: 'idle', ms: 1e6 };
  }

  async function extendingClient(...promisesMs: number[]) {
    const run = world(() => extending(promisesMs));
    const starting = run.scheduler.start();
    const client = run.processes[0]!;
    await client.nextRequest();
    client.answer({ id: 0, type: 'ok', value: { lock: 'fake', features: ['extend'], answersWithinMs: LONG_MS } });
    await starting;
    run.scheduler.runScripts();
    client.answer({ id: (await client.nextRequest()).id, type: 'ok' });
    const asked = await client.nextRequest();
    return { ...run, client, asked };
  }

  test('is lost from then on, and the operation goes on', async () => {
    const { client, asked, event, scheduler } = await extendingClient(20);
    expect(asked).not.toHaveProperty('givesUp');
    expect(await event(({ type }) => type === 'lost')).toMatchObject({ reason: 'given up by the client itself' });
    client.answer({ id: asked.id, type: 'ok' });
    expect(
      await event(({ type, id }: HistoryEvent & { id?: number }) => type === 'ok' && id === asked.id),
    ).toBeDefined();
    client.exit({ code: null, signal: 'SIGKILL' });
    await scheduler[Symbol.asyncDispose]();
  });

  test('is not lost by one that is answered, nor by a client that is stopped before it runs again', async () => {
    const { client, asked, events, event, clock, scheduler } = await extendingClient(LONG_MS, 20);
    client.answer({ id: asked.id, type: 'ok' });
    client.setState('stopped');
    const second = await client.nextRequest();
    await clock.sleep(150);
    expect(events().filter(({ type }) => type === 'lost')).toEqual([]);
    const resumedNs = clock.nowNs();
    client.setState('running');
    expect((await event(({ type }) => type === 'lost')).atNs).toBeGreaterThanOrEqual(resumedNs);
    client.answer({ id: second.id, type: 'ok' });
    client.exit({ code: null, signal: 'SIGKILL' });
    await scheduler[Symbol.asyncDispose]();
  });
});
