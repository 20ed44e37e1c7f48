import { describe, expect, it } from 'vitest';
import type { HistoryEvent } from '../../../../harness/vocabulary/history.js';
import { type AtStep, matchesTrigger, StepWatch, type Trigger } from '../../../../nemesis/striking/step-watch.js';
import { type FakeClient, type World, world } from '../fakes.js';

const AFTER: Trigger = { event: 'step', step: 'after-set', count: 1 };

/** Strikes wait at a step of a lock on one server. */
function watching() {
  const w = world('single');
  const watch = new StepWatch(w.context, w.levers);
  /** What became of a trigger, once something has. */
  const next = (after: Trigger = AFTER, signal = w.interrupt.signal) => {
    const told: { how?: AtStep | string } = {};
    void watch.next(after, signal).then((how) => {
      told.how = how;
    });
    return told;
  };
  return { w, next, pass: (ms = 50) => w.clock.run(w.clock.sleep(ms)) };
}

/** A client says that it is at the step, in an operation that was told to stop there, or was not. */
function says(w: World, client: FakeClient, isAsked = true): void {
  client.stopping = isAsked ? { step: 'after-set' } : undefined;
  saysAgain(w, client);
}

function saysAgain(w: World, { name }: { name: string }): void {
  w.emit({ type: 'step', client: name, name: 'after-set', clientNs: w.clock.nowNs() });
}

const stands = ({ process }: FakeClient) => process.signal('SIGSTOP');
const at = ({ how }: { how?: AtStep | string }) => how as AtStep;
const done = ({ notes }: World) => notes.map(({ state, did }) => [state, did]);
const FOR_A_MOMENT = 'stood at "after-set" for a moment: no strike was meant for it';

it('says that it never came where the run had ended before', async () => {
  const { w, next, pass } = watching();
  w.interrupt.abort();
  const told = next();
  await pass();
  expect(told.how).toBe('its trigger never came: 0 of 1 times "after-set"');
});

it('lets go by what comes before its count, and what no client of this run says', async () => {
  const { w, next, pass } = watching();
  const told = next({ ...AFTER, count: 2 });
  const [c1, c2] = w.clients as [FakeClient, FakeClient];
  says(w, c1, false);
  saysAgain(w, { name: 'c99' });
  says(w, c2);
  stands(c2);
  await pass();
  expect(at(told).seen).toBe('c2 stood at "after-set" (1 before it went by, in operations that had been sent already)');
});

it('lets go by what an operation says that is to stop at another step', async () => {
  const { w, next, pass } = watching();
  const told = next();
  const [c1] = w.clients as [FakeClient];
  c1.stopping = { step: 'before-set' };
  saysAgain(w, c1);
  stands(c1);
  await pass();
  expect(told.how).toBeUndefined();
  expect(await c1.process.state()).toBe('stopped');
});

it('counts nothing any more once it is told who is at the step', async () => {
  const { w, next, pass } = watching();
  const told = next();
  const [c1, c2, c3] = w.clients as [FakeClient, FakeClient, FakeClient];
  says(w, c1);
  says(w, c2, false);
  says(w, c3);
  stands(c3);
  await pass();
  expect(told.how).toBeUndefined();
  expect(done(w)).toEqual([['heal', `c3 ${FOR_A_MOMENT}`]]);
  stands(c1);
  await pass();
  expect(at(told).seen).toBe('c1 stood at "after-set"');
});

it('stays with an operation once, however often it comes there', async () => {
  const { w, next, pass } = watching();
  const [c1, c2] = w.clients as [FakeClient, FakeClient];
  const first = next();
  says(w, c1);
  stands(c1);
  await pass();
  await at(first).goOn();
  const second = next();
  saysAgain(w, c1);
  await pass();
  expect(second.how).toBeUndefined();
  says(w, c2);
  stands(c2);
  await pass();
  expect(at(second).seen).toMatch(/^c2 stood at "after-set" \(1 before it went by/);
});

describe('a client that says so and does not stop itself', () => {
  const LATE = expect.stringContaining('it said that it was there, and did not stop itself');

  it('is struck from outside a second later, and as soon as its operation is over', async () => {
    const { w, next, pass } = watching();
    const [c1] = w.clients as [FakeClient];
    const told = next();
    says(w, c1);
    await pass(900);
    expect(told.how).toBeUndefined();
    await pass(200);
    expect(told.how).toMatchObject({ late: LATE });

    const sooner = next();
    says(w, c1);
    await pass(100);
    c1.stopping = undefined;
    await pass(20);
    expect(sooner.how).toMatchObject({ late: LATE });
  });

  it('is another matter when its operation is over: who stops it then is not asked to let it go on', async () => {
    const { w, next, pass } = watching();
    const [c1] = w.clients as [FakeClient];
    next();
    says(w, c1);
    await pass();
    c1.stopping = undefined;
    await pass();
    stands(c1);
    await pass();
    expect(await c1.process.state()).toBe('stopped');
    expect(w.notes).toEqual([]);
  });

  it('goes on when it does where the strike is not wanted any more', async () => {
    const { w, next, pass } = watching();
    const [c1] = w.clients as [FakeClient];
    const told = next();
    says(w, c1);
    w.interrupt.abort();
    stands(c1);
    await pass();
    expect(told.how).toBe('its trigger never came: 1 of 1 times "after-set"');
    expect(done(w)).toEqual([['heal', `c1 ${FOR_A_MOMENT}`]]);
  });
});

describe('two strikes at one client that stands', () => {
  async function two() {
    const { w, next, pass } = watching();
    const [c1] = w.clients as [FakeClient];
    const told = [next(), next()] as const;
    says(w, c1);
    stands(c1);
    await pass();
    return { w, c1, one: at(told[0]), other: at(told[1]) };
  }

  it('keep it there until the second needs it no more', async () => {
    const { w, c1, one, other } = await two();
    await one.goOn();
    expect(await c1.process.state()).toBe('stopped');
    expect(await other.checked()).toBeUndefined();
    await other.goOn();
    expect(await c1.process.state()).toBe('running');
    expect(done(w)).toEqual([['heal', 'c1 stood at "after-set" until it was struck there']]);
  });

  it('are not both shown where the first had to let it go on', async () => {
    const { c1, one, other } = await two();
    await one.goOnNow();
    expect(await c1.process.state()).toBe('running');
    expect(await one.checked()).toBeUndefined();
    const wentOn = 'c1 went on from "after-set" before the strike was in force';
    expect(await other.checked()).toBe(wentOn);
    // Whoever stops it now stops it somewhere else.
    stands(c1);
    expect(await other.checked()).toBe(wentOn);
  });

  it('are both shown where it was killed there, of which nobody knows for how long it had stood', async () => {
    const { w, c1, one, other } = await two();
    c1.process.signal('SIGKILL');
    expect([await one.checked(), await other.checked()]).toEqual([undefined, undefined]);
    await w.clock.run(w.clock.sleep(300));
    await one.goOn();
    await other.goOn();
    const [effect] = w.notes[0]!.effects;
    expect(effect).toMatchObject({ kind: 'stopped', who: ['c1'] });
    expect(effect!.untilNs).toBe(effect!.sinceNs);
  });
});

it('is triggered by the operation that its plan names, of the client that it names', () => {
  const ok = (op: string, client = 'c1') => ({ type: 'ok', op, client }) as HistoryEvent;
  const acquired: Trigger = { event: 'acquire', count: 1, client: 'c1' };
  expect(matchesTrigger(ok('acquire'), acquired)).toBe(true);
  expect(matchesTrigger(ok('acquire', 'c1.2'), acquired)).toBe(true);
  expect(matchesTrigger(ok('acquire', 'c2'), acquired)).toBe(false);
  expect(matchesTrigger(ok('release'), acquired)).toBe(false);
  expect(matchesTrigger({ type: 'invoke', op: 'acquire', client: 'c1' } as HistoryEvent, acquired)).toBe(false);
  const step = (name: string) => ({ type: 'step', name, client: 'c1' }) as HistoryEvent;
  expect(matchesTrigger(step('after-set'), AFTER)).toBe(true);
  expect(matchesTrigger(step('before-set'), AFTER)).toBe(false);
  expect(matchesTrigger(step('after-set'), acquired)).toBe(false);
});
