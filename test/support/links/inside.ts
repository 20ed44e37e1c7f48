/**
 * Runs inside namespaces of its own: two hosts, and what packets between them go through when one sends through a link
 * shaper. Prints what was measured as one JSON object; nothing here knows how a fault uses the shaper.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { netnsRuntime } from '../../../harness/runtimes/netns.js';
import { createRandom } from '../../../harness/runtimes/random.js';
import { monotonicNs, realClock } from '../../../harness/runtimes/real-clock.js';
import type { Host, LinkShape } from '../../../harness/vocabulary/host.js';
import { NEAR } from '../../../nemesis/levers/link-shaper.js';
import { LinkLever } from '../../../nemesis/levers/links.js';
import { NetworkLever } from '../../../nemesis/levers/network.js';

/** What came of datagrams: how many came back of so many, copies included, how late, and whether one overtook another. */
export interface Echoed {
  came: number;
  medianMs: number;
  leastMs: number;
  overtaken: boolean;
}

export interface Measured {
  /** What the grip says of it. */
  proof: string;
  /** Of the host's own device, which is not the usual one, and of that which leads to the shaper. */
  mtu: { own: number; near: number };
  plain: Echoed;
  through: Echoed;
  delayed: Echoed;
  jittered: Echoed;
  lossy: Echoed;
  again: Echoed;
  twice: Echoed;
  reordered: Echoed;
  /** How long 20 kB took at 100 kB/s, ms. */
  slowMs: number;
  /** Lines that were echoed on one connection over all of it. */
  echoes: string[];
  cutWhileWaiting: { dropped: number; waiting: number; came: number };
  /** Each time. */
  kills: { healed: string; echoed: string; trouble: string[]; ended: boolean }[];
  reset: { own: string; peer: string; idle: boolean };
  lostReply: { ran: string[]; own: string[] };
  troubleAfter: string[];
}

const PACKETS = 400;
const KILLS = 20;

const { folder, linkShaper, withoutTun } = JSON.parse(readFileSync(0, 'utf8')) as {
  folder: string;
  linkShaper: string;
  withoutTun: boolean;
};
// In this mount namespace alone. It can be opened, and is no TUN: the later of the two things that a machine may refuse.
if (withoutTun) execFileSync('mount', ['--bind', '/dev/null', '/dev/net/tun']);
const clock = realClock(monotonicNs());
await using runtime = await netnsRuntime({ folder, clock, linkShaper, unavailable: {} });
const [a, b] = (await runtime.createHosts(['a', 'b'])) as [Host, Host];
const links = new LinkLever(clock, createRandom(7));
const network = new NetworkLever(clock, [], (pairs) => links.drop(pairs));

/** On b: echoes datagrams and lines, and says which lines it got and how its connections ended. */
const server = b.spawn([
  process.execPath,
  '-e',
  `const udp = require('node:dgram').createSocket('udp4');
   udp.on('message', (m, from) => udp.send(m, from.port, from.address));
   udp.bind(7);
   require('node:net').createServer((c) => {
     c.setNoDelay();
     c.on('error', (e) => console.log('ended ' + e.code));
     require('node:readline').createInterface(c).on('error', () => {}).on('line', (line) => { console.log('got ' + line); c.write(line + '\\n'); });
   }).listen(7, () => console.log('up'));`,
]);
const heard = linesOf(server.stdout);
await until(() => heard.includes('up'));

/** On a: sends datagrams when it is asked for so many, and lines on one connection. */
const client = a.spawn([
  process.execPath,
  '-e',
  `const udp = require('node:dgram').createSocket('udp4');
   let c;
   const connect = () => { c = require('node:net').connect(7, '${b.address}'); c.setNoDelay();
     c.on('connect', () => console.log('connected ' + c.localPort));
     c.on('error', (e) => console.log('ended ' + e.code));
     require('node:readline').createInterface(c).on('error', () => {}).on('line', (line) => console.log('echo ' + line)); };
   connect();
   const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
   async function burst(count, settleMs) {
     const sentMs = [], tookMs = []; let last = -1, overtaken = false;
     const take = (m) => { const n = m.readUInt32LE(); tookMs.push(nowMs() - sentMs[n]); if (n < last) overtaken = true; last = n; };
     udp.on('message', take);
     for (let n = 0; n < count; n++) {
       const m = Buffer.alloc(8); m.writeUInt32LE(n); sentMs.push(nowMs()); udp.send(m, 7, '${b.address}');
       await new Promise((go) => setTimeout(go, 1));
     }
     // In steps, so that one that stood meanwhile still reads what came.
     for (let left = settleMs; left > 0; left -= 20) await new Promise((go) => setTimeout(go, 20));
     udp.off('message', take);
     tookMs.sort((x, y) => x - y);
     console.log('burst ' + JSON.stringify({ came: tookMs.length / count, medianMs: tookMs[tookMs.length >> 1] ?? 0, leastMs: tookMs[0] ?? 0, overtaken }));
   }
   require('node:readline').createInterface(process.stdin).on('line', (line) => {
     const [word, count, settleMs] = line.split(' ');
     if (word === 'burst') burst(Number(count), Number(settleMs));
     else if (word === 'big') { const atMs = nowMs(); let left = Number(count); const more = (d) => { left -= d.length; if (left <= 0) { c.off('data', more); console.log('took ' + (nowMs() - atMs)); } }; c.on('data', more); c.write('x'.repeat(left - 1) + '\\n'); }
     else if (word === 'connect') connect();
     else c.write(line + '\\n');
   });`,
]);
const said = linesOf(client.stdout);
await until(() => said.some((line) => line.startsWith('connected')));

const measured = {} as Measured;
const OWN = 'eth0';
await a.exec(['ip', 'link', 'set', OWN, 'mtu', '1400']);
measured.plain = await burst();
measured.through = await shaped({});
measured.delayed = await shaped({ delayMs: 50 });
measured.jittered = await shaped({ delayMs: 50, jitterMs: 30 });
measured.lossy = await shaped({ lossPpm: 300_000 });
measured.again = await shaped({ lossPpm: 300_000 });
measured.twice = await shaped({ duplicatePpm: 300_000 });
measured.reordered = await shaped({ reorderPpm: 300_000, gapMs: 20 });
measured.slowMs = await slow();
measured.echoes = await cutWhileWaiting();
measured.kills = [];
for (let nth = 1; nth <= KILLS; nth++) measured.kills.push(await kill(nth));
measured.reset = await reset();
measured.lostReply = await lostReply();
measured.troubleAfter = await links.trouble(a);
process.stdout.write(`${JSON.stringify(measured)}\n`);
client.signal('SIGKILL');
server.signal('SIGKILL');

async function shaped(shape: Partial<LinkShape>): Promise<Echoed> {
  const grip = await links.shape([[a, b]], shape);
  measured.proof = grip.proof;
  measured.mtu = await mtu();
  await echo(`under ${JSON.stringify(shape)}`);
  const seen = await burst();
  await grip.heal();
  return seen;
}

async function mtu(): Promise<Measured['mtu']> {
  const { stdout } = await a.exec(['ip', '-json', 'link', 'show']);
  const devices = JSON.parse(stdout) as { ifname: string; mtu: number }[];
  const of = (start: string) => devices.find(({ ifname }) => ifname.startsWith(start))!.mtu;
  return { own: of(OWN), near: of(NEAR) };
}

async function burst(count = PACKETS, settleMs = 1_000): Promise<Echoed> {
  const before = said.length;
  client.stdin.write(`burst ${count} ${settleMs}\n`);
  return JSON.parse((await next(before, 'burst ')).slice('burst '.length)) as Echoed;
}

/** Sends a line and waits for its echo. */
async function echo(line: string): Promise<void> {
  client.stdin.write(`${line}\n`);
  await until(() => said.includes(`echo ${line}`));
}

async function slow(): Promise<number> {
  const grip = await links.shape([[a, b]], { rateKbps: 100 });
  const before = said.length;
  client.stdin.write('big 20000\n');
  const took = Number((await next(before, 'took ')).slice('took '.length));
  await grip.heal();
  return took;
}

/** What waits for a peer that is cut off never comes, though the shaper's socket takes no notice of the cut. */
async function cutWhileWaiting(): Promise<string[]> {
  const grip = await links.shape([[a, b]], { delayMs: 60_000 });
  const before = said.length;
  client.stdin.write('burst 50 1200\n');
  let shown = await links.shown([a, b]);
  for (; shown.waiting < 50; shown = await links.shown([a, b])) await clock.sleep(2);
  const cut = await network.cut([[a, b]]);
  shown = await links.shown([a, b]);
  await cut.heal();
  // What still waited would go now.
  await grip.heal();
  const { came } = JSON.parse((await next(before, 'burst ')).slice('burst '.length)) as Echoed;
  measured.cutWhileWaiting = { dropped: shown.dropped, waiting: shown.waiting, came };
  await echo('after the cut');
  // Of the long line only that it came.
  return said.filter((line) => line.startsWith('echo ') && line.length < 100);
}

async function kill(nth: number): Promise<Measured['kills'][number]> {
  const grip = await links.shape([[a, b]], { delayMs: 20 });
  await echo(`before kill ${nth}`);
  const { stdout } = await a.exec([
    'sh',
    '-c',
    'for p in /proc/[0-9]*; do [ "$(cat $p/comm 2>/dev/null)" = "$1" ] && basename $p; done',
    'sh',
    comm(),
  ]);
  for (const pid of stdout.trim().split('\n')) process.kill(Number(pid), 'SIGKILL');
  await until(() => grip.meanwhile().length > 0);
  await echo(`after kill ${nth}`);
  const healed = await grip.heal();
  const ended = [...heard, ...said].some((line) => line.startsWith('ended'));
  return { healed, echoed: said.at(-1)!, trouble: await links.trouble(a), ended };
}

/** As the kernel cuts it off. */
function comm(): string {
  return linkShaper.slice(linkShaper.lastIndexOf('/') + 1).slice(0, 15);
}

async function reset(): Promise<Measured['reset']> {
  const grip = await links.shape([[a, b]], {});
  // Nothing is sent on it: it is asked for its numbers.
  await links.reset([a, b], a.address, portOfClient(), 7);
  await until(() => said.some((line) => line.startsWith('ended')) && heard.some((line) => line.startsWith('ended')));
  const seen = { own: ended(said), peer: ended(heard), idle: true };
  await grip.heal();
  return seen;
}

/** On b the answer is lost with its connection, when the line was taken; where only numbers are asked for, others come. */
async function lostReply(): Promise<Measured['lostReply']> {
  const grip = await links.shape([[b, a]], {});
  const lose = async (line: string) => {
    const before = said.length;
    client.stdin.write(`${line}\n`);
    const own = (await next(before, 'ended')).slice('ended '.length);
    if (said.includes(`echo ${line}`)) throw new Error('it was answered');
    return own;
  };
  const connect = async () => {
    const before = said.length;
    client.stdin.write('connect\n');
    await next(before, 'connected');
  };
  await connect();
  await echo('answered');
  await links.loseReplies([b, a], 7, 1, 'numbers');
  await echo('no number');
  const number = await lose(':1');
  await connect();
  await links.loseReplies([b, a], 7, 1);
  const own = await lose('unanswered');
  const ran = heard.filter((line) => line.startsWith('got ')).slice(-4);
  await grip.heal();
  return { ran, own: [number, own] };
}

function portOfClient(): number {
  return Number(said.findLast((line) => line.startsWith('connected'))!.split(' ')[1]);
}

function ended(lines: readonly string[]): string {
  return lines.findLast((line) => line.startsWith('ended'))!.slice('ended '.length);
}

async function next(from: number, start: string): Promise<string> {
  const found = () => said.slice(from).find((line) => line.startsWith(start));
  await until(() => found() !== undefined);
  return found()!;
}

async function until(holds: () => boolean): Promise<void> {
  const giveUpNs = clock.nowNs() + 20e9;
  while (!holds()) {
    if (clock.nowNs() > giveUpNs) throw new Error(`waited too long; heard ${heard.slice(-3)}, said ${said.slice(-3)}`);
    await clock.sleep(2);
  }
}

function linesOf(stream: Readable): string[] {
  const lines: string[] = [];
  createInterface(stream).on('line', (line) => lines.push(line));
  return lines;
}
