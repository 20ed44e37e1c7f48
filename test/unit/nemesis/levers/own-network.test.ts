/** Cuts and degraded links in a network that is the runtime's own, here the simulated one: told, counted, and read back. */
import { beforeEach, describe, expect, it } from 'vitest';
import { drawsFor } from '../../../../harness/runtimes/sim/draws.js';
import { SimNetwork } from '../../../../harness/runtimes/sim/network.js';
import { Timeline } from '../../../../harness/runtimes/sim/timeline.js';
import type { LinkShape } from '../../../../harness/vocabulary/host.js';
import { NOTHING_ASKED } from '../../../../nemesis/levers/link-shaper.js';
import { bothWays, oneWay } from '../../../../nemesis/levers/network.js';
import { OwnLinkLever } from '../../../../nemesis/levers/own-links.js';
import { OwnNetworkLever } from '../../../../nemesis/levers/own-network.js';
import { FakeClock, FakeHost } from '../fakes.js';

const clock = new FakeClock();
const [r1, r2, c1] = ['r1', 'r2', 'c1'].map((name, n) => new FakeHost(name, `10.77.0.${n + 2}`, clock)) as [
  FakeHost,
  FakeHost,
  FakeHost,
];
let timeline: Timeline;
let network: SimNetwork;
const settle = () => {
  while (timeline.next());
};

beforeEach(() => {
  timeline = new Timeline();
  network = new SimNetwork(
    timeline,
    (what) => drawsFor(1, what),
    () => {},
    (hear) => void timeline.at(timeline.nowNs, hear),
  );
  for (const { address, name } of [r1, r2, c1]) network.hosts.set(address, name);
});

describe('a cut', () => {
  let lever: OwnNetworkLever;
  beforeEach(() => {
    lever = new OwnNetworkLever(network, clock);
  });

  it('is told pair by pair, each in its direction, and passes again when it is healed', async () => {
    const { proof, effects, heal } = await lever.cut([...oneWay([c1], [r1]), ...oneWay([c1], [r2])]);
    expect(proof).toBe('nothing passes from c1 to r1, c1 to r2');
    expect(effects).toEqual([
      {
        kind: 'cut',
        pairs: [
          ['c1', 'r1'],
          ['c1', 'r2'],
        ],
        sinceNs: clock.nowNs(),
      },
    ]);
    expect([network.isCut('c1', 'r1'), network.isCut('r1', 'c1')]).toEqual([true, false]);
    expect(await lever.trouble(c1)).toEqual(['still cut: c1>r1, c1>r2']);
    expect(await lever.trouble(r1)).toEqual([]);
    expect(await heal()).toBe('all passes again: c1 to r1, c1 to r2');
    expect(network.isCut('c1', 'r1')).toBe(false);
    expect(await lever.trouble(c1)).toEqual([]);
  });

  it('is known whichever way it goes', async () => {
    await lever.cut(oneWay([r1], [r2]));
    expect([lever.isCut([r1, r2]), lever.isCut([r2, r1]), lever.isCut([r1, c1])]).toEqual([true, true, false]);
  });

  it('stays until the last fault that wants it is healed', async () => {
    const first = await lever.cut(bothWays([r1], [r2]));
    const second = await lever.cut(oneWay([r1], [r2]));
    expect(await first.heal()).toBe('kept cut by another fault: r1 to r2');
    expect([network.isCut('r1', 'r2'), network.isCut('r2', 'r1')]).toEqual([true, false]);
    // A second healing is none.
    await first.heal();
    expect(network.isCut('r1', 'r2')).toBe(true);
    expect(await second.heal()).toBe('all passes again: r1 to r2');
    expect(network.isCut('r1', 'r2')).toBe(false);
  });

  it('that the network does not show is an error, with its pair', async () => {
    const forgetful = new OwnNetworkLever(
      Object.assign(Object.create(network), { cut: () => {} }) as SimNetwork,
      clock,
    );
    await expect(forgetful.cut(oneWay([c1], [r1]))).rejects.toThrow('not cut: c1 to r1');
  });

  it('asks for nothing by reverse path', async () => {
    expect(await lever.oneWayTrouble()).toEqual([]);
  });
});

describe('a host off the network', () => {
  it('reaches nobody and is reached by nobody, until the last fault is healed', async () => {
    const lever = new OwnNetworkLever(network, clock);
    const first = await lever.off(r1);
    const second = await lever.off(r1);
    expect(first.proof).toBe('nothing passes from or to r1');
    expect(first.effects).toEqual([{ kind: 'off-network', who: ['r1'], sinceNs: clock.nowNs() }]);
    expect([network.isCut('r1', '*'), network.isCut('*', 'r1')]).toEqual([true, true]);
    expect([lever.isCut([r1, c1]), lever.isCut([c1, r1]), lever.isCut([c1, r2])]).toEqual([true, true, false]);
    expect([await lever.trouble(r1), await lever.trouble(c1)]).toEqual([['r1 is off the network'], []]);
    expect(await first.heal()).toBe('r1 is kept off the network by another fault');
    expect(lever.isCut([r1, c1])).toBe(true);
    expect(await second.heal()).toBe('r1 is on the network again');
    expect([network.isCut('r1', '*'), network.isCut('*', 'r1'), lever.isCut([r1, c1])]).toEqual([false, false, false]);
    expect(await lever.trouble(r1)).toEqual([]);
  });
});

describe('a degraded link', () => {
  let lever: OwnLinkLever;
  beforeEach(() => {
    lever = new OwnLinkLever(network, clock);
  });
  const pair = oneWay([c1], [r1]);

  /** Sends so many messages from c1 to r1, one after the other, and one to connect. */
  function send(count: number): void {
    network.listen({ host: 'r1', address: r1.address, port: 6379 }, () => ear);
    const plug = network.dial(
      { host: 'c1', address: c1.address, port: 40_000 },
      { address: r1.address, port: 6379 },
      ear,
    );
    settle();
    for (let n = 0; n < count; n++) plug.send(Buffer.from('x'));
    settle();
  }
  const ear = { opened() {}, refused() {}, received() {}, finished() {} };

  it('is told with all that was asked, and as usual when it is healed', async () => {
    const { proof, effects, heal, meanwhile, latestMs } = await lever.shape(pair, { delayMs: 50, jitterMs: 5 });
    expect(proof).toBe('50 ms later, 5 ms more or less: c1 to r1');
    const { gapMs: _, ...asked } = { ...NOTHING_ASKED, delayMs: 50, jitterMs: 5 };
    expect(effects).toEqual([{ kind: 'degraded', pairs: [['c1', 'r1']], ...asked, sinceNs: clock.nowNs() }]);
    expect([meanwhile(), latestMs()]).toEqual([[], 0]);
    expect(network.shapeOf('c1', 'r1')).toMatchObject({ delayMs: 50, jitterMs: 5 });
    expect([await lever.trouble(c1), await lever.trouble(r1)]).toEqual([['still degraded: c1>r1'], []]);
    send(3);
    expect(await heal()).toBe('c1 to r1: as usual, after 4 messages');
    expect(network.shapeOf('c1', 'r1')).toBeUndefined();
    expect(await lever.trouble(c1)).toEqual([]);
  });

  it.each([
    [{ lossPpm: 20_000 }, '2 % of the packets lost, and sent again'],
    [{ duplicatePpm: 10_000 }, '1 % of the packets twice'],
    [{ reorderPpm: 5_000, gapMs: 30 }, '0.5 % of the packets 30 ms late'],
    [{ rateKbps: 64 }, '64 kB/s at the most'],
    [{}, '0 ms later, 0 ms more or less'],
    [{ delayMs: 10, rateKbps: 64 }, '10 ms later, 0 ms more or less, 64 kB/s at the most'],
  ] as [Partial<LinkShape>, string][])('%j in words', async (asked, words) => {
    expect((await lever.shape(pair, asked)).proof).toBe(`${words}: c1 to r1`);
  });

  it('is the sum of what faults ask, until the last one is healed', async () => {
    const first = await lever.shape(pair, { delayMs: 50 });
    const second = await lever.shape(pair, { delayMs: 20 });
    expect(network.shapeOf('c1', 'r1')!.delayMs).toBe(70);
    expect(await first.heal()).toBe('c1 to r1: kept degraded by another fault, after 0 messages');
    expect(network.shapeOf('c1', 'r1')!.delayMs).toBe(20);
    await second.heal();
    expect(network.shapeOf('c1', 'r1')).toBeUndefined();
  });

  it('tells what became of messages, as far as something did', async () => {
    const { heal } = await lever.shape(pair, { lossPpm: 500_000, duplicatePpm: 500_000 });
    send(40);
    const { lost, twice } = network.countsOf('c1', 'r1');
    expect([lost > 0, twice > 0]).toEqual([true, true]);
    expect(await heal()).toBe(
      `c1 to r1: as usual, after 41 messages, ${lost} times one lost and sent again, ${twice} twice`,
    );
    // Of the next fault, what came before it is none of its doing.
    expect(await (await lever.shape(pair, { delayMs: 1 })).heal()).toBe('c1 to r1: as usual, after 0 messages');
  });

  it('tells what was overtaken', async () => {
    const { heal } = await lever.shape(pair, { reorderPpm: 500_000, gapMs: 30 });
    send(40);
    expect(await heal()).toBe(
      `c1 to r1: as usual, after 41 messages, ${network.countsOf('c1', 'r1').overtaken} overtaken`,
    );
  });

  it('that the network does not show is an error, with what was asked', async () => {
    const forgetful = Object.assign(Object.create(network), { shape: () => {} }) as SimNetwork;
    const shape = new OwnLinkLever(forgetful, clock).shape(pair, { delayMs: 50 });
    await expect(shape).rejects.toThrow(/^c1 to r1: asked for .*"delayMs":50.*, and it is .*"delayMs":0/);
  });

  it('loses answers with their connections, and says which are left', async () => {
    expect(await lever.shown(pair[0]!)).toEqual({ replies: 0, resets: 0, reset_ports: [] });
    const asked = await lever.loseReplies(oneWay([r1], [c1])[0]!, 6379, 2);
    expect(asked).toEqual({ replies: 2, resets: 0, reset_ports: [] });
    expect(await lever.shown(oneWay([r1], [c1])[0]!)).toEqual(asked);
  });

  it('resets a connection, of which both ends hear', async () => {
    const heard: string[] = [];
    const end = (name: string) => ({ ...ear, finished: (how: string) => void heard.push(`${name} ${how}`) });
    network.listen({ host: 'r1', address: r1.address, port: 6379 }, () => end('r1'));
    network.dial({ host: 'c1', address: c1.address, port: 40_000 }, { address: r1.address, port: 6379 }, end('c1'));
    settle();
    await lever.reset(oneWay([r1], [c1])[0]!, '', 6379, 40_000);
    settle();
    expect(heard.toSorted()).toEqual(['c1 reset', 'r1 reset']);
  });
});
