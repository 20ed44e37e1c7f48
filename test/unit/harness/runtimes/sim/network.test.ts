import { beforeEach, describe, expect, test } from 'vitest';
import { drawsFor } from '../../../../../harness/runtimes/sim/draws.js';
import { SimNetwork } from '../../../../../harness/runtimes/sim/network.js';
import { Timeline } from '../../../../../harness/runtimes/sim/timeline.js';
import type { Plug, WireEnd } from '../../../../../harness/runtimes/sim/wire.js';
import { ANY_ADDRESS } from '../../../../../harness/runtimes/sim/wire.js';
import type { LinkShape } from '../../../../../harness/vocabulary/host.js';
import { NOTHING_ASKED } from '../../../../../nemesis/levers/link-shaper.js';

const r1 = { host: 'r1', address: '10.77.0.2', port: 6379 };
const c1 = { host: 'c1', address: '10.77.0.3', port: 40_000 };

let timeline: Timeline;
let network: SimNetwork;
let seen: string[];
let atServer: Plug | undefined;

const end = (name: string): WireEnd => ({
  opened: () => seen.push(`${name} opened`),
  refused: () => seen.push(`${name} refused`),
  received: (bytes) => seen.push(`${name} received ${bytes}`),
  finished: (how) => seen.push(`${name} ${how}`),
});
const settle = () => {
  while (timeline.next());
};
const passedMs = (since: number) => (timeline.nowNs - since) / 1e6;

beforeEach(reset);

function reset(): void {
  timeline = new Timeline();
  seen = [];
  atServer = undefined;
  network = new SimNetwork(
    timeline,
    (what) => drawsFor(1, what),
    () => {},
    (hear) => void timeline.at(timeline.nowNs, hear),
  );
  network.hosts.set(r1.address, 'r1').set(c1.address, 'c1');
}

function listen(): () => void {
  return network.listen(r1, (_from, plug) => {
    atServer = plug;
    return end('r1');
  });
}

function connected(): Plug {
  listen();
  const plug = network.dial(c1, r1, end('c1'));
  settle();
  expect(seen.splice(0)).toEqual(['c1 opened']);
  return plug;
}

test('what nobody listens at refuses', () => {
  listen()();
  network.dial(c1, r1, end('c1'));
  settle();
  expect(seen).toEqual(['c1 refused']);
});

test('messages come in order, each way', () => {
  const plug = connected();
  for (const word of ['a', 'b', 'c']) plug.send(Buffer.from(word));
  settle();
  atServer!.send(Buffer.from('d'));
  settle();
  expect(seen).toEqual(['r1 received a', 'r1 received b', 'r1 received c', 'c1 received d']);
});

test('who closes sends what it had sent before, and hears nothing any more', () => {
  const plug = connected();
  atServer!.send(Buffer.from('late'));
  plug.send(Buffer.from('last'));
  plug.close();
  plug.send(Buffer.from('never'));
  settle();
  expect(seen).toEqual(['r1 received last', 'r1 ended']);
});

describe('faults', () => {
  test('what meets a cut waits for its end, and comes in order', () => {
    const plug = connected();
    network.cut('c1', 'r1');
    expect([network.isCut('c1', 'r1'), network.isCut('r1', 'c1')]).toEqual([true, false]);
    plug.send(Buffer.from('a'));
    atServer!.send(Buffer.from('other way'));
    settle();
    expect(seen.splice(0)).toEqual(['c1 received other way']);
    plug.send(Buffer.from('b'));
    settle();
    network.heal('c1', 'r1');
    plug.send(Buffer.from('c'));
    settle();
    expect(seen).toEqual(['r1 received a', 'r1 received b', 'r1 received c']);
  });

  test('what waited for the end of a cut waits no longer for the ends of others, and neither does what is sent after it', () => {
    /** Sent when the first one has come, `others` cuts have ended after the one that it met. */
    const secondCameMs = (others: number) => {
      const plug = connected();
      network.cut('c1', 'r1');
      plug.send(Buffer.from('a'));
      settle();
      const since = timeline.nowNs;
      network.heal('c1', 'r1');
      for (let other = 1; other <= others; other++) timeline.at(since + other * 10e6, () => network.heal('c2', 'r1'));
      while (seen.length === 0) timeline.next();
      plug.send(Buffer.from('b'));
      settle();
      expect(seen).toEqual(['r1 received a', 'r1 received b']);
      return passedMs(since);
    };
    const alone = secondCameMs(0);
    expect(alone).toBeGreaterThan(50);
    reset();
    expect(secondCameMs(5)).toBe(alone);
  });

  test('what has not come is unacknowledged, as far as its sender knows', () => {
    const plug = connected();
    network.cut('r1', 'c1');
    plug.send(Buffer.from('ask'));
    settle();
    atServer!.send(Buffer.from('answer'));
    settle();
    const unacknowledged = (host: string) => network.connectionsOf(host).map((one) => one.unacknowledged);
    expect([unacknowledged('r1'), unacknowledged('c1')]).toEqual([[6], [0]]);
    network.heal('r1', 'c1');
    settle();
    expect(unacknowledged('r1')).toEqual([0]);
  });

  test('who is cut off from everybody reaches nobody', () => {
    const plug = connected();
    network.cut('*', 'r1');
    plug.send(Buffer.from('a'));
    settle();
    expect(seen).toEqual([]);
    network.heal('*', 'r1');
    settle();
    expect(seen).toEqual(['r1 received a']);
  });

  test('a delay is one direction’s, and ends with it', () => {
    const plug = connected();
    network.shape('c1', 'r1', { ...NOTHING_ASKED, delayMs: 50 });
    let since = timeline.nowNs;
    plug.send(Buffer.from('a'));
    settle();
    expect(passedMs(since)).toBeGreaterThan(50);
    since = timeline.nowNs;
    atServer!.send(Buffer.from('b'));
    settle();
    expect(passedMs(since)).toBeLessThan(1);
    network.shape('c1', 'r1', undefined);
    since = timeline.nowNs;
    plug.send(Buffer.from('c'));
    settle();
    expect(passedMs(since)).toBeLessThan(1);
  });

  test('both ends hear of a reset, and what was under way never comes', () => {
    const plug = connected();
    plug.send(Buffer.from('lost'));
    network.reset('r1', 'c1', r1.port, c1.port);
    // In a turn of its own each: what follows in one must not be taken for the other's.
    expect(seen).toEqual([]);
    const heard = [1, 2, 3].map(() => timeline.next() && seen.length);
    expect(heard).toContain(1);
    settle();
    expect(seen.sort()).toEqual(['c1 reset', 'r1 reset']);
    expect(network.connectionsOf('r1')).toEqual([]);
  });
});

test('the delay of a message does not depend on what happens elsewhere', () => {
  const times = (others: number): number => {
    timeline = new Timeline();
    network = new SimNetwork(
      timeline,
      (what) => drawsFor(5, what),
      () => {},
      (hear) => hear(),
    );
    network.hosts.set(r1.address, 'r1').set(c1.address, 'c1').set('10.77.0.4', 'c2');
    const began = timeline.nowNs;
    let at = 0;
    listen();
    for (let n = 0; n < others; n++) network.dial({ host: 'c2', address: '10.77.0.4', port: n }, r1, end('c2'));
    network.dial(c1, r1, { ...end('c1'), opened: () => (at = timeline.nowNs - began) });
    settle();
    return at;
  };
  expect(times(3)).toBe(times(0));
});

describe('links as users of TCP see them', () => {
  const shape = (asked: Partial<LinkShape>) => network.shape('c1', 'r1', { ...NOTHING_ASKED, ...asked });
  /** When each of so many messages came that are sent `everyMs`, in ms after each was sent. */
  function latenesses(count: number, everyMs: number): number[] {
    const plug = connected();
    const [sent, came]: [number[], number[]] = [[], []];
    const received = network.keepMessages();
    for (let n = 0; n < count; n++)
      timeline.at(timeline.nowNs + n * everyMs * 1e6, () => plug.send(Buffer.from(`${n};`)));
    settle();
    for (const message of received) {
      sent.push(message.sentNs);
      came.push(message.arrivedNs!);
    }
    return came.map((ns, n) => (ns - sent[n]!) / 1e6);
  }

  test('what is lost comes after a time-out that doubles, and what is behind it waits for it', () => {
    const plug = connected();
    shape({ lossPpm: 1e6 });
    const since = timeline.nowNs;
    plug.send(Buffer.from('a'));
    timeline.at(since + 650e6, () => shape({}));
    timeline.at(since + 900e6, () => plug.send(Buffer.from('b')));
    settle();
    expect(seen).toEqual(['r1 received a', 'r1 received b']);
    // Lost at once, after 0.2 and after 0.6 s; the next time is 1.4 s after it was sent.
    expect(passedMs(since)).toBeGreaterThan(1_400);
    expect(passedMs(since)).toBeLessThan(1_401);
    expect(network.countsOf('c1', 'r1')).toMatchObject({ messages: 2, lost: 3 });
  });

  test('so many are lost as are asked for, each by itself, and the other way is as usual', () => {
    shape({ lossPpm: 200_000 });
    const late = latenesses(400, 2_000);
    const { messages, lost } = network.countsOf('c1', 'r1');
    expect(messages).toBeGreaterThanOrEqual(400);
    expect(lost / messages).toBeGreaterThan(0.2);
    expect(lost / messages).toBeLessThan(0.31);
    const usual = late.filter((ms) => ms < 1).length;
    expect(usual / 400).toBeCloseTo(0.8, 1);
    const once = late.filter((ms) => ms > 200 && ms < 201).length;
    expect(once / 400).toBeCloseTo(0.16, 1);
    expect(late.every((ms) => [0, 200, 600, 1_400].some((again) => ms > again && ms < again + 1) || ms > 3_000)).toBe(
      true,
    );
    expect(network.countsOf('r1', 'c1')).toMatchObject({ messages: 0, lost: 0 });
  });

  test('which messages are lost does not depend on when they are sent, nor on what else is', () => {
    shape({ lossPpm: 300_000 });
    const isLate = (ms: number) => ms > 100;
    const one = latenesses(50, 5_000).map(isLate);
    reset();
    shape({ lossPpm: 300_000 });
    listen();
    network.hosts.set('10.77.0.4', 'c2');
    network.dial({ ...c1, host: 'c2', address: '10.77.0.4' }, r1, end('c2')).send(Buffer.from('other'));
    settle();
    expect(seen.splice(0)).toContain('r1 received other');
    expect(latenesses(50, 7_000).map(isLate)).toEqual(one);
    expect(new Set(one).size).toBe(2);
  });

  test('what is lost and then meets a cut waits for the end of that, and comes once, in order', () => {
    const plug = connected();
    shape({ lossPpm: 1e6 });
    plug.send(Buffer.from('a'));
    const since = timeline.nowNs;
    timeline.at(since + 50e6, () => {
      network.cut('c1', 'r1');
      shape({});
      plug.send(Buffer.from('b'));
    });
    timeline.at(since + 1_000e6, () => network.heal('c1', 'r1'));
    settle();
    expect(seen).toEqual(['r1 received a', 'r1 received b']);
    expect(passedMs(since)).toBeGreaterThan(1_000);
  });

  test('a link carries so many bytes a second, headers included, of all connections together, in order', () => {
    const plug = connected();
    shape({ rateKbps: 1 });
    const since = timeline.nowNs;
    const cameMs: number[] = [];
    const received = network.keepMessages();
    for (const word of ['a', 'b']) plug.send(Buffer.from(word.repeat(48)));
    settle();
    for (const { arrivedNs } of received) cameMs.push(Math.floor((arrivedNs! - since) / 1e6));
    expect(cameMs).toEqual([100, 200]);
    expect(seen).toEqual([`r1 received ${'a'.repeat(48)}`, `r1 received ${'b'.repeat(48)}`]);
  });

  test('what waits for a slow link goes at once when it is as usual again, in order', () => {
    const plug = connected();
    shape({ rateKbps: 1 });
    const since = timeline.nowNs;
    for (const word of ['a', 'b', 'c']) plug.send(Buffer.from(word));
    timeline.at(since + 60e6, () => network.shape('c1', 'r1', undefined));
    settle();
    expect(seen).toEqual(['r1 received a', 'r1 received b', 'r1 received c']);
    expect(passedMs(since)).toBeLessThan(61);
  });

  test('what is overtaken comes late, with all that is behind it; what comes twice is heard once', () => {
    const plug = connected();
    shape({ reorderPpm: 1e6, gapMs: 20, duplicatePpm: 1e6 });
    const since = timeline.nowNs;
    plug.send(Buffer.from('a'));
    shape({});
    plug.send(Buffer.from('b'));
    settle();
    expect(seen).toEqual(['r1 received a', 'r1 received b']);
    expect(passedMs(since)).toBeGreaterThan(20);
    expect(network.countsOf('c1', 'r1')).toEqual({ messages: 2, lost: 0, twice: 1, overtaken: 1 });
  });

  test('what was lost is kept as that, and what waited behind it as neither lost nor cut', () => {
    const plug = connected();
    const kept = network.keepMessages();
    shape({ lossPpm: 1e6 });
    plug.send(Buffer.from('a'));
    timeline.at(timeline.nowNs + 50e6, () => {
      shape({});
      plug.send(Buffer.from('b'));
    });
    settle();
    expect(kept[0]!.resentNs! - kept[0]!.sentNs).toBeLessThan(1e6);
    expect(kept[0]).not.toHaveProperty('heldNs');
    expect(kept[1]).not.toHaveProperty('resentNs');
    expect(kept[1]).not.toHaveProperty('heldNs');
    expect(kept[1]!.arrivedNs).toBe(kept[0]!.arrivedNs);
  });

  test('what comes while a cut is in force met that, also behind what was lost and is about to be sent again', () => {
    const plug = connected();
    const kept = network.keepMessages();
    shape({ lossPpm: 1e6 });
    plug.send(Buffer.from('a'));
    timeline.at(timeline.nowNs + 50e6, () => {
      network.cut('c1', 'r1');
      shape({});
      plug.send(Buffer.from('b'));
    });
    timeline.at(timeline.nowNs + 1_000e6, () => network.heal('c1', 'r1'));
    settle();
    expect(kept[0]).not.toHaveProperty('heldNs');
    expect(kept[1]!.heldNs! - kept[1]!.sentNs).toBeLessThan(1e6);
  });
});

describe('answers that are lost with their connections', () => {
  const answered = (text: string): string[] => {
    const plug = connected();
    plug.send(Buffer.from('asked'));
    settle();
    atServer!.send(Buffer.from(text));
    settle();
    return seen.splice(0);
  };
  const lost = ['r1 received asked', 'r1 reset', 'c1 reset'];
  const came = (text: string) => ['r1 received asked', `c1 received ${text}`];

  test('are as many as were asked for, and both ends hear of each', () => {
    network.loseReplies('r1', 'c1', r1.port, 1, 'any');
    expect(answered('+OK').sort()).toEqual([...lost].sort());
    expect(network.lostReplies('r1', 'c1')).toMatchObject({ left: 0, ports: [c1.port] });
    expect(answered('+OK')).toEqual(came('+OK'));
  });

  test('are only numbers, of that port, and none any more, where it was said so', () => {
    network.loseReplies('r1', 'c1', r1.port, 1, 'numbers');
    expect(answered('+OK')).toEqual(came('+OK'));
    network.loseReplies('r1', 'c1', 7000, 1, 'any');
    expect(answered('+OK')).toEqual(came('+OK'));
    network.loseReplies('r1', 'c1', r1.port, 1, 'numbers');
    expect(answered(':1')).toHaveLength(3);
    network.loseReplies('r1', 'c1', r1.port, 1, 'any');
    network.loseReplies('r1', 'c1', r1.port, 0, 'any');
    expect(answered(':1')).toEqual(came(':1'));
    expect(network.lostReplies('r1', 'c1').ports).toHaveLength(1);
  });
});

describe('an address that moves', () => {
  const virtual = { host: 'r1', address: '10.77.255.1', port: 6379 };
  const heard = (name: string) => (_from: unknown, plug: Plug) => {
    atServer = plug;
    seen.push(`${name} accepted`);
    return end(name);
  };
  beforeEach(() => {
    network.hosts.set('10.77.0.4', 'r2');
    network.moveAddress(virtual.address, 'r1');
    for (const host of ['r1', 'r2']) network.listen({ ...virtual, host, address: ANY_ADDRESS }, heard(host));
  });
  const dialed = (): Plug => {
    const plug = network.dial(c1, virtual, end('c1'));
    settle();
    return plug;
  };

  test('is answered by who has it, whoever listens to all that are its own', () => {
    dialed();
    expect(network.holderOf(virtual.address)).toBe('r1');
    network.moveAddress(virtual.address, 'r2');
    dialed();
    expect(network.holderOf(virtual.address)).toBe('r2');
    expect(seen).toEqual(['r1 accepted', 'c1 opened', 'r2 accepted', 'c1 opened']);
  });

  test('takes with it whoever is on the way to it', () => {
    network.dial(c1, virtual, end('c1'));
    network.moveAddress(virtual.address, 'r2');
    settle();
    expect(seen).toEqual(['r2 accepted', 'c1 opened']);
  });

  test('an old connection is reset by who has it now, and who accepted it hears nothing', () => {
    const plug = dialed();
    seen = [];
    network.moveAddress(virtual.address, 'r2');
    atServer!.send(Buffer.from('never'));
    settle();
    expect(seen).toEqual([]);
    plug.send(Buffer.from('a'));
    plug.send(Buffer.from('b'));
    settle();
    expect(seen).toEqual(['c1 reset']);
  });

  test('an idle connection is found dead by whose kernel asks after it', () => {
    const plug = dialed();
    const idleSince = timeline.nowNs;
    plug.keepAlive!(1_000);
    timeline.at(idleSince + 2.5e9, () => network.moveAddress(virtual.address, 'r2'));
    seen = [];
    settle();
    expect(seen).toEqual(['c1 reset']);
    // The third time that it asked; the answers before are heard by nobody.
    expect(Math.round(passedMs(idleSince))).toBe(3_000);
  });

  test('and not through a cut: then a second after its end at the latest', () => {
    const plug = dialed();
    const idleSince = timeline.nowNs;
    plug.keepAlive!(1_000);
    network.moveAddress(virtual.address, 'r2');
    network.cut('c1', 'r2');
    timeline.at(idleSince + 4.2e9, () => network.heal('c1', 'r2'));
    seen = [];
    settle();
    expect(seen).toEqual(['c1 reset']);
    expect(Math.round(passedMs(idleSince))).toBe(5_000);
  });

  test('or not found at all where nobody asks, or where it is back by then', () => {
    dialed();
    network.moveAddress(virtual.address, 'r2');
    settle();
    network.moveAddress(virtual.address, 'r1');
    const plug = dialed();
    plug.keepAlive!(1_000);
    seen = [];
    network.moveAddress(virtual.address, 'r2');
    network.moveAddress(virtual.address, 'r1');
    settle();
    expect(seen).toEqual([]);
  });

  test('a connection that nobody used meanwhile goes on when it comes back', () => {
    const plug = dialed();
    seen = [];
    network.moveAddress(virtual.address, 'r2');
    atServer!.send(Buffer.from('late'));
    settle();
    network.moveAddress(virtual.address, 'r1');
    settle();
    plug.send(Buffer.from('a'));
    settle();
    expect(seen).toEqual(['c1 received late', 'r1 received a']);
  });

  test('cuts are between hosts: who is cut off from its new one waits', () => {
    const plug = dialed();
    seen = [];
    network.moveAddress(virtual.address, 'r2');
    network.cut('c1', 'r2');
    plug.send(Buffer.from('a'));
    settle();
    expect(seen).toEqual([]);
    network.heal('c1', 'r2');
    settle();
    expect(seen).toEqual(['c1 reset']);
  });
});

test('messages are kept where they are wanted, with what became of each', () => {
  const kept = network.keepMessages();
  const plug = connected();
  const sentNs = timeline.nowNs;
  plug.send(Buffer.from('in time'));
  settle();
  network.cut('c1', 'r1');
  plug.send(Buffer.from('cut'));
  settle();
  network.heal('c1', 'r1');
  settle();
  network.loseReplies('r1', 'c1', r1.port, 1, 'any');
  atServer!.send(Buffer.from('lost'));
  settle();
  expect(kept.map(({ from, to, bytes }) => `${from}>${to} ${bytes}`)).toEqual([
    'c1>r1 in time',
    'c1>r1 cut',
    'r1>c1 lost',
  ]);
  const [inTime, cut, lost] = kept as [(typeof kept)[0], (typeof kept)[0], (typeof kept)[0]];
  expect(inTime).toMatchObject({ connection: 0, port: r1.port, isBack: false, sentNs });
  expect(inTime.arrivedNs! - sentNs).toBeLessThan(1e6);
  expect(inTime).not.toHaveProperty('heldNs');
  expect(cut.heldNs!).toBeGreaterThan(cut.sentNs);
  expect(cut.arrivedNs!).toBeGreaterThan(cut.heldNs!);
  expect(lost).toMatchObject({ isBack: true, isLost: true });
  expect(lost).not.toHaveProperty('arrivedNs');
});

describe('precedence', () => {
  const c2 = { host: 'c2', address: '10.77.0.4', port: 40_000 };

  /** Two clients, both connected; what each hears is answered by nobody. */
  function two(): [Plug, Plug] {
    network.hosts.set(c2.address, 'c2');
    network.listen(r1, ({ host }) => end(`r1 from ${host}`));
    const plugs: [Plug, Plug] = [network.dial(c1, r1, end('c1')), network.dial(c2, r1, end('c2'))];
    settle();
    seen.length = 0;
    return plugs;
  }
  const heard = () => seen.splice(0).map((line) => line.replace('r1 from ', '').replace(' received', ''));

  test('what comes at about the same time is heard in the order that is asked for, and as it comes once nobody asks', () => {
    const [first, second] = two();
    for (const [order, expected] of [
      [
        ['c1', 'c2'],
        ['c1 a', 'c2 b'],
      ],
      [
        ['c2', 'c1'],
        ['c2 b', 'c1 a'],
      ],
    ] as const)
      for (let n = 0; n < 20; n++) {
        network.precedence.set(order, 5);
        first.send(Buffer.from('a'));
        second.send(Buffer.from('b'));
        settle();
        expect(heard()).toEqual(expected);
      }
    network.precedence.set(undefined, 0);
    expect(network.precedence.isSet).toBe(false);
    const orders = new Set<string>();
    for (let n = 0; n < 20; n++) {
      first.send(Buffer.from('a'));
      second.send(Buffer.from('b'));
      settle();
      orders.add(heard().join());
    }
    expect(orders.size).toBe(2);
  });

  test('who is about something all the time keeps others waiting for no longer than was said; each way keeps its order', () => {
    const [first, second] = two();
    network.precedence.set(['c1', 'c2'], 5);
    const began = timeline.nowNs;
    for (const word of ['b', 'c']) second.send(Buffer.from(word));
    for (let n = 0; n < 200; n++) timeline.at(began + n * 50_000, () => first.send(Buffer.from('a')));
    let cameMs = 0;
    while (timeline.next()) if (cameMs === 0 && seen.includes('r1 from c2 received b')) cameMs = passedMs(began);
    expect(cameMs).toBeGreaterThan(5);
    expect(cameMs).toBeLessThan(5.3);
    expect(heard().filter((line) => line.startsWith('c2'))).toEqual(['c2 b', 'c2 c']);
  });

  test('one request is held back, what follows it waits, and its connection is heard last from then on', () => {
    const [first, second] = two();
    network.precedence.set(['c1', 'c2'], 5);
    const told: string[] = [];
    const began = timeline.nowNs;
    network.precedence.holdBack(
      2,
      300,
      { hosts: ['c1', 'c2'], goingOn: false },
      {
        held: ({ from, to }) => told.push(`${from} to ${to} held`),
        over: () => told.push(`over after ${Math.round(passedMs(began))} ms`),
      },
    );
    for (const word of ['a', 'b', 'c']) first.send(Buffer.from(word));
    timeline.at(began + 1e6, () => second.send(Buffer.from('d')));
    settle();
    expect(heard()).toEqual(['c1 a', 'c2 d', 'c1 b', 'c1 c']);
    expect(told).toEqual(['c1 to r1 held', 'over after 300 ms']);
    for (let n = 0; n < 20; n++) {
      first.send(Buffer.from('a'));
      second.send(Buffer.from('b'));
      settle();
      expect(heard()).toEqual(['c2 b', 'c1 a']);
    }
  });

  test('of two connections that are heard last the one is last that was asked for last, whichever was held back first', () => {
    for (const [nths, expected] of [
      [
        [1, 2],
        ['c1 a', 'c2 b'],
      ],
      [
        [2, 1],
        ['c2 b', 'c1 a'],
      ],
    ] as const) {
      timeline = new Timeline();
      network = new SimNetwork(
        timeline,
        (what) => drawsFor(1, what),
        () => {},
        (hear) => void timeline.at(timeline.nowNs, hear),
      );
      network.hosts.set(r1.address, 'r1').set(c1.address, 'c1');
      const [first, second] = two();
      network.precedence.set(['c1', 'c2'], 5);
      for (const nth of nths)
        network.precedence.holdBack(
          nth,
          1,
          { hosts: ['c1', 'c2'], goingOn: false },
          { held: () => {}, over: () => {} },
        );
      // The first request is one of c1's, the second one of c2's.
      first.send(Buffer.from('x'));
      settle();
      second.send(Buffer.from('y'));
      settle();
      expect(heard()).toEqual(['c1 x', 'c2 y']);
      for (let n = 0; n < 20; n++) {
        first.send(Buffer.from('a'));
        second.send(Buffer.from('b'));
        settle();
        expect(heard()).toEqual(expected);
      }
    }
  });

  test('of what a client sends that can be counted alone with which it goes on, and not what a timer makes it send', () => {
    network.hosts.set(c2.address, 'c2');
    listen();
    const hears = { ...end('c1'), received: () => plug.send(Buffer.from('next')) };
    const plug: Plug = network.dial(c1, r1, hears);
    settle();
    seen.length = 0;
    const held: number[] = [];
    const began = timeline.nowNs;
    const tell = { held: () => held.push(passedMs(began)), over: () => {} };
    network.precedence.holdBack(1, 300, { hosts: ['c1'], goingOn: true }, tell);
    for (const atMs of [1, 2, 3]) timeline.at(began + atMs * 1e6, () => plug.send(Buffer.from('again')));
    timeline.at(began + 10e6, () => atServer!.send(Buffer.from('answer')));
    settle();
    expect(seen).toEqual(['r1 received again', 'r1 received again', 'r1 received again', 'r1 received next']);
    expect(held).toHaveLength(1);
    expect(held[0]).toBeGreaterThan(10);
    expect(passedMs(began)).toBeGreaterThan(310);
  });

  test('what is held back comes at once when that is over, and nothing is held back any more', () => {
    const [first] = two();
    const tell = { held: () => {}, over: () => {} };
    const cancel = network.precedence.holdBack(1, 300, { hosts: ['c1'], goingOn: false }, tell);
    const began = timeline.nowNs;
    first.send(Buffer.from('a'));
    timeline.at(began + 10e6, cancel);
    settle();
    expect(heard()).toEqual(['c1 a']);
    expect(passedMs(began)).toBeLessThan(301);
    const never = network.precedence.holdBack(1, 300, { hosts: ['c2'], goingOn: false }, tell);
    first.send(Buffer.from('b'));
    settle();
    never();
    expect(heard()).toEqual(['c1 b']);
    expect(passedMs(began)).toBeLessThan(301);
  });
});
