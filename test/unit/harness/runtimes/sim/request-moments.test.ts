/** Requests and answers that wait for somebody who waited for them. */
import { beforeEach, expect, test } from 'vitest';
import { drawsFor } from '../../../../../harness/runtimes/sim/draws.js';
import { SimNetwork } from '../../../../../harness/runtimes/sim/network.js';
import { Timeline } from '../../../../../harness/runtimes/sim/timeline.js';
import type { Plug } from '../../../../../harness/runtimes/sim/wire.js';
import type { HeldBack, RequestMoment } from '../../../../../harness/vocabulary/host.js';

const r1 = { host: 'r1', address: '10.77.0.2', port: 6379 };
const clients = ['c1', 'c2'].map((host, n) => ({ host, address: `10.77.0.${3 + n}`, port: 40_000 }));

let timeline: Timeline;
let network: SimNetwork;
let seen: string[];
let plugs: Plug[];

const settle = () => {
  while (timeline.next());
};
const say = (n: number, word: string) => plugs[n]!.send(Buffer.from(word));
const any = (side: RequestMoment['side'], more: Partial<RequestMoment> = {}): RequestMoment => ({
  ...{ side, event: 'request', counts: () => true },
  ...more,
});
const noted = ({ from, to }: HeldBack) => seen.push(`moment of ${from} to ${to}`);

/** Two clients, connected to a server that answers what it hears in that instant; who hears `ask` asks for `more`. */
beforeEach(() => {
  timeline = new Timeline();
  seen = [];
  network = new SimNetwork(
    timeline,
    (what) => drawsFor(1, what),
    () => {},
    (hear) => void timeline.at(timeline.nowNs, hear),
  );
  for (const { address, host } of [r1, ...clients]) network.hosts.set(address, host);
  const quiet = { opened() {}, refused() {} };
  network.listen(r1, ({ host }, plug) => ({
    ...quiet,
    finished: (how) => seen.push(`r1 ${how} by ${host}`),
    received(bytes) {
      seen.push(`r1 hears ${bytes} of ${host}`);
      plug.send(Buffer.from(`${bytes}!`));
    },
  }));
  plugs = clients.map((client, n) =>
    network.dial(client, r1, {
      ...quiet,
      finished: (how) => seen.push(`${client.host} ${how}`),
      received(bytes) {
        seen.push(`${client.host} hears ${bytes}`);
        if (String(bytes) === 'ask!') say(n, 'more');
      },
    }),
  );
  settle();
});

test('before the nth request: it waits, and what follows on its way; others do not', () => {
  const letGo = network.moments.wait(2, any('before'), noted);
  say(0, 'a');
  settle();
  for (const word of ['b', 'c']) say(0, word);
  settle();
  say(1, 'd');
  settle();
  const before = ['r1 hears a of c1', 'c1 hears a!', 'moment of c1 to r1', 'r1 hears d of c2', 'c2 hears d!'];
  expect(seen).toEqual(before);
  letGo();
  say(0, 'e');
  settle();
  expect(seen.filter((line) => line.startsWith('r1')).slice(2)).toEqual(
    ['b', 'c', 'e'].map((one) => `r1 hears ${one} of c1`),
  );
});

test('after it was carried out, in that instant: the answer waits, and not one that was sent before', () => {
  const cameNs: number[] = [];
  const letGo = network.moments.wait(2, any('after'), (request) => {
    cameNs.push(timeline.nowNs);
    noted(request);
  });
  say(0, 'a');
  say(0, 'b');
  let answeredNs = 0;
  while (timeline.next()) if (answeredNs === 0 && seen.includes('r1 hears b of c1')) answeredNs = timeline.nowNs;
  expect(cameNs).toEqual([answeredNs]);
  expect(seen).toContain('c1 hears a!');
  expect(seen).not.toContain('c1 hears b!');
  say(0, 'c');
  settle();
  expect(seen.at(-1)).toBe('r1 hears c of c1');
  letGo();
  settle();
  expect(seen.slice(-2)).toEqual(['c1 hears b!', 'c1 hears c!']);
});

test('of those that count, with which a client goes on', () => {
  const of = any('before', { event: 'going-on', counts: ({ from, to }) => from === 'c2' && to === 'r1' });
  const letGo = network.moments.wait(1, of, noted);
  for (const n of [0, 1]) say(n, 'x');
  settle();
  for (const n of [0, 1]) say(n, 'ask');
  settle();
  expect(seen.filter((line) => line.startsWith('moment'))).toEqual(['moment of c2 to r1']);
  expect(seen).toContain('r1 hears more of c1');
  expect(seen).not.toContain('r1 hears more of c2');
  letGo();
  settle();
  expect(seen).toContain('r1 hears more of c2');
});

test('after one that is answered otherwise than the one before it, whatever was said unasked meanwhile', () => {
  const letGo = network.moments.wait(2, any('after', { event: 'change' }), noted);
  for (const word of ['a', 'a', 'b', 'b']) {
    say(0, word);
    settle();
  }
  // The first of all differs from nothing, and what one client hears not from what another did.
  say(1, 'c');
  settle();
  say(1, 'c');
  settle();
  expect(seen.some((line) => line.startsWith('moment'))).toBe(false);
  say(0, 'a');
  settle();
  expect(seen.slice(-2)).toEqual(['r1 hears a of c1', 'moment of c1 to r1']);
  letGo();
  settle();
  expect(seen.at(-1)).toBe('c1 hears a!');
});

test('where the connection is gone before the answer, the next request takes its place', () => {
  network.moments.wait(1, any('after'), noted);
  network.loseReplies('r1', 'c1', r1.port, 1, 'any');
  say(0, 'a');
  settle();
  expect(seen).toContain('r1 hears a of c1');
  expect(seen.some((line) => line.startsWith('moment'))).toBe(false);
  say(1, 'b');
  settle();
  expect(seen.at(-1)).toBe('moment of c2 to r1');
});

test('two that wait for one request have it wait until both let it go; who has asked for nothing any more is told nothing', () => {
  const letGo = [1, 1].map((nth) => network.moments.wait(nth, any('before'), noted));
  network.moments.wait(1, any('before'), noted)();
  say(0, 'a');
  settle();
  expect(seen).toEqual(['moment of c1 to r1', 'moment of c1 to r1']);
  letGo[0]!();
  settle();
  expect(seen).toHaveLength(2);
  letGo[1]!();
  letGo[1]!();
  settle();
  expect(seen.slice(2)).toEqual(['r1 hears a of c1', 'c1 hears a!']);
});

test('a partition that strikes before a request is there when it comes', () => {
  const letGo = network.moments.wait(1, any('before'), () => {
    network.cut('c1', 'r1');
    letGo();
  });
  say(0, 'a');
  settle();
  expect(seen).toEqual([]);
  network.heal('c1', 'r1');
  settle();
  expect(seen).toEqual(['r1 hears a of c1', 'c1 hears a!']);
});
