/** Aimed faults in virtual time: each strikes at its moment, as the record of every message has it, and at no other. */
import { describe, expect, test } from 'vitest';
import { type Exchange, exchangesOf } from '../../../harness/record/facts/exchanges.js';
import type { Aim, PlanStep } from '../../../harness/vocabulary/faults.js';
import { type Simulated, simulated } from '../../support/simulated.js';

const DUE_MS = 500;
const LEASE_NS = 470e6;
/** It is told in whole milliseconds, and asked for by messages. */
const NEAR_NS = 4e6;
const PAUSE = { fault: 'pause', target: { names: ['c1'] }, forMs: 300 };
const RELEASES_BY_TWO = ['--lock', 'set-nx-px-get-del', '--clients', '3'];

const aimed = (aim: Aim | undefined, fault: Omit<PlanStep, 'atMs'> = PAUSE): PlanStep => ({
  atMs: DUE_MS,
  ...(aim && { aim }),
  ...fault,
});

/** When the last step became due, and when it struck; undefined where it did not. */
function timesOf({ history, records }: Simulated, step = 0): { dueNs: number; struckNs?: number } {
  const torture = history.find((event) => event.type === 'phase' && event.phase === 'torture')!;
  const strike = records.find((one) => one.step === step && one.state === 'strike');
  return { dueNs: torture.atNs + DUE_MS * 1e6, ...(strike && { struckNs: strike.atNs }) };
}

const CLIENTS = new Set(['c1', 'c2', 'c3']);
const exchanges = ({ messages }: Simulated) => exchangesOf(messages, (host) => CLIENTS.has(host));
const isOfC1 = ({ client }: Exchange) => client === 'c1';
/** Whether its client sent it in the instant in which it heard an answer. */
const isGoneOnWith = ({ client, request }: Exchange, all: readonly Exchange[]) =>
  all.some((one) => one.client === client && one.answer?.message.arrivedNs === request.sentNs);

/** Requests that were still before their server when the fault struck, and those that had been carried out, since it was due. */
function around(of: Simulated, counts: (one: Exchange, all: readonly Exchange[]) => boolean, delayedNs = 0) {
  const { dueNs, struckNs = Number.NaN } = timesOf(of);
  const all = exchanges(of);
  const counted = all.filter((one) => counts(one, all) && (one.request.arrivedNs ?? Infinity) >= dueNs);
  return {
    struckNs,
    done: counted.filter((one) => one.request.arrivedNs! < struckNs),
    // It struck in the instant in which one came, which is told as coming then.
    at: counted.filter(({ request }) => request.arrivedNs! >= struckNs && request.arrivedNs! <= struckNs + delayedNs),
  };
}

describe.each(['request', 'going-on'] as const)('%s', (event) => {
  const counts = (one: Exchange, all: readonly Exchange[]) =>
    isOfC1(one) && (event === 'request' || isGoneOnWith(one, all));

  test('before: the server has heard those before it, and not this one, which its client has sent', async () => {
    const played = await simulated(RELEASES_BY_TWO, [aimed({ side: 'before', event, count: 2 })]);
    expect(played.records[0]).toMatchObject({ state: 'strike', targets: ['c1'] });
    expect(played.records[0]!.late).toBeUndefined();
    const { done, at, struckNs } = around(played, counts);
    expect(done).toHaveLength(1);
    expect(at).toHaveLength(1);
    expect(at[0]!.request.sentNs).toBeLessThan(struckNs);
    if (event === 'going-on') expect(at[0]!.argv[0]!.toUpperCase()).toBe('DEL');
    // Its answer comes to who is stopped.
    expect(at[0]!.answer!.message.arrivedNs!).toBeGreaterThan(struckNs);
  });

  test('after: the server has carried it out, and its client has not heard so', async () => {
    const played = await simulated(RELEASES_BY_TWO, [aimed({ side: 'after', event, count: 2 })]);
    expect(played.records[0]!.late).toBeUndefined();
    const { done, at, struckNs } = around(played, counts);
    const second = [...done, ...at][1]!;
    expect([...done, ...at]).toHaveLength(2);
    expect(second.answer!.message.sentNs).toBe(struckNs);
    expect(second.answer!.message.arrivedNs!).toBeGreaterThan(struckNs);
  });

  test('at its time, which is no such moment, where it is not aimed', async () => {
    const { done, at } = around(await simulated(RELEASES_BY_TWO, [aimed(undefined)]), counts);
    expect([done.length, at.length]).toEqual([0, 0]);
  });
});

describe('the end of a lease', () => {
  const KILL: PlanStep = { atMs: 400, fault: 'kill', target: 'holder', forMs: 700 };
  const STOP = { fault: 'pause', target: { names: ['r1'] }, forMs: 100 };
  const FOR_LONG = ['--lock', 'set-nx-px', '--clients', '3', '--hold', '0.5x..0.7x'];

  test.each([
    ['before', -NEAR_NS, 0],
    ['after', 0, NEAR_NS],
  ] as const)('%s', async (side, fromNs, toNs) => {
    const played = await simulated(FOR_LONG, [KILL, aimed({ side, event: 'expiry', count: 1 }, STOP)]);
    const { struckNs } = timesOf(played, 1);
    const killedNs = played.records.find(({ step, state }) => step === 0 && state === 'strike')!.atNs;
    expect(played.records.find(({ step }) => step === 1)!.late).toBeUndefined();
    // The last grant before the kill; nobody gives that back.
    const granted = exchanges(played).filter(
      ({ argv, answer }) =>
        argv[0]!.toUpperCase() === 'SET' && answer!.value.type === 'simple' && answer!.message.sentNs < killedNs,
    );
    const endNs = granted.at(-1)!.answer!.message.sentNs + LEASE_NS;
    expect(struckNs! - endNs).toBeGreaterThan(fromNs);
    expect(struckNs! - endNs).toBeLessThan(toNs);
  });

  test('never comes where all give back in time: it is told as refused, and nothing else is different from without it', async () => {
    const none = await simulated(FOR_LONG, []);
    const never = await simulated(FOR_LONG, [aimed({ side: 'before', event: 'expiry', count: 1 }, STOP)]);
    expect(never.records.map(({ state, proof }) => [state, proof])).toEqual([
      ['refused', 'its moment never came: before expiry 1'],
    ]);
    const sent = ({ messages }: Simulated) => messages.map(({ from, to, sentNs, bytes }) => [from, to, sentNs, bytes]);
    expect(sent(never)).toEqual(sent(none));
  });
});

test('as long as its request does not come an aim changes no byte', async () => {
  const [none, never] = await Promise.all([
    simulated(RELEASES_BY_TWO, []),
    simulated(RELEASES_BY_TWO, [aimed({ side: 'before', event: 'going-on', count: 1_000_000 })]),
  ]);
  expect(never!.records.map(({ state }) => state)).toEqual(['refused']);
  expect(never!.result.digest).toBe(none!.result.digest);
});

test.each([
  ['holder', {}],
  [{ names: ['r1'] }, { fault: 'partition' }],
  [{ names: ['c1'] }, { fault: 'kill' }],
] as const)('whom it strikes says whose requests count, and it is the same again: %j', async (target, fault) => {
  const step = aimed(
    { side: 'after', event: 'request', count: 3 },
    { ...PAUSE, target: target as PlanStep['target'], ...fault },
  );
  const [one, again] = await Promise.all([simulated(RELEASES_BY_TWO, [step]), simulated(RELEASES_BY_TWO, [step])]);
  // Of who is killed it takes a moment to see that; the answer waits until then.
  const struckNs = one!.records[0]!.beganNs;
  const struckAfter = exchanges(one!).filter(({ answer }) => answer?.message.sentNs === struckNs);
  expect(struckAfter).toHaveLength(1);
  const [struck] = one!.records[0]!.targets;
  if (target === 'holder' || target.names[0] !== 'r1') expect(struckAfter[0]!.client).toBe(struck);
  expect(one!.result.digest).toBe(again!.result.digest);
});

test('change: at once after what is answered otherwise than the one before it', async () => {
  const played = await simulated(RELEASES_BY_TWO, [aimed({ side: 'after', event: 'change', count: 2 })]);
  const { dueNs, struckNs } = timesOf(played);
  const carriedOut = exchanges(played).filter(
    ({ client, answer }) => client === 'c1' && answer!.message.sentNs >= dueNs,
  );
  const isOther = carriedOut.map(
    ({ answer }, n) => n > 0 && answer!.message.bytes !== carriedOut[n - 1]!.answer!.message.bytes,
  );
  const second = isOther.indexOf(true, isOther.indexOf(true) + 1);
  expect(carriedOut[second]!.answer!.message.sentNs).toBe(struckNs);
  expect(carriedOut[second]!.answer!.message.arrivedNs!).toBeGreaterThan(struckNs!);
});

test('a client that dies after a SETNX that was granted, and before it hears so, leaves a lock for ever', async () => {
  const kill = { fault: 'kill', target: { names: ['c1'] }, forMs: 300 };
  const [found, missed] = await Promise.all([
    simulated(
      ['--lock', 'setnx-expire', '--clients', '2'],
      [aimed({ side: 'after', event: 'change', count: 2 }, kill)],
    ),
    simulated(['--lock', 'setnx-expire', '--clients', '2'], [aimed(undefined, kill)]),
  ]);
  const kinds = ({ result }: Simulated) => result.found.filter(({ blame }) => blame === 'lock').map(({ kind }) => kind);
  expect(kinds(found!)).toEqual(['deadlock']);
  expect(kinds(missed!)).toEqual([]);
});
