/**
 * Runs inside the run's own namespaces: starts a deployment with clients at work, strikes each fault of a list, and
 * looks at what is really so while it is in force and after it was healed, by means that no fault shares: connections
 * and datagrams between the hosts, /proc, and the servers' own answers over the network.
 *
 * Reads one JSON line (`Job`) on standard input, prints one JSON line (`Seen`) per case.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Ledger } from '../../../harness/record/facts/ledger.js';
import { Recorder } from '../../../harness/record/recorder.js';
import { Scheduler } from '../../../harness/run/scheduler.js';
import { netnsRuntime } from '../../../harness/runtimes/netns.js';
import { createRandom } from '../../../harness/runtimes/random.js';
import { monotonicNs, realClock } from '../../../harness/runtimes/real-clock.js';
import { topologies } from '../../../harness/topologies/index.js';
import type { PlanStep } from '../../../harness/vocabulary/faults.js';
import type { FaultRecord } from '../../../harness/vocabulary/history.js';
import type { Host } from '../../../harness/vocabulary/host.js';
import type { RedisBinary, ServerNode, Topology } from '../../../harness/vocabulary/topology.js';
import type { WorkloadOptions } from '../../../harness/vocabulary/workload.js';
import { runNemesis } from '../../../nemesis/index.js';
import { workloads } from '../../../workloads/index.js';

export interface Job {
  topology: string;
  lock: string;
  folder: string;
  redis: RedisBinary;
  clockShim?: string;
  durableShim?: string;
  linkShaper?: string;
  clientArgv: string[];
  leaseMs: number;
  /** `whole`: looked at when the step has been healed by itself, not while it is in force. */
  cases: { name: string; step: PlanStep; probes: Probe[]; whole?: boolean }[];
}

/**
 * `reach`: PING over TCP from one host to a server; `hear`: a datagram from one host to another; `state`: what /proc says
 * of a server's or client's process; `skew`: TIME over TCP against the machine's clock, in whole seconds; `marker`: whether
 * a key that was set before the fault is still there; `master`: whom the first Sentinel names; `gains`: seconds that a
 * server's clock gains in one; `ends`: every time, in whole seconds against the machine's, that it told within a second;
 * `clients`: how many of the clients reach a server; `come`: how many datagrams of a hundred arrive, in steps of 20, whether
 * late and overtaken; `late`: whether answers over TCP that took half a second took a third of three; `run`: the run id of its
 * process.
 */
export type Probe =
  | ['reach', from: string, to: string]
  | ['clients', to: string]
  | ['hear' | 'come', from: string, to: string]
  | ['state' | 'skew' | 'marker' | 'gains' | 'ends' | 'late' | 'run', who: string]
  | ['master'];

export interface Seen {
  name: string;
  notes: FaultRecord[];
  before: unknown[];
  during: unknown[];
  after: unknown[];
  unhealed: string[];
  missing: string[];
}

const HEALED_WITHIN_MS = 8_000;
const PROMPT_MS = 300;
/** For programs that look: on a busy machine one is seconds late to begin. */
const LONG = { timeoutMs: 60_000 };

const job = JSON.parse(readFileSync(0, 'utf8')) as Job;
const epochNs = monotonicNs();
const clock = realClock(epochNs);
const random = createRandom(1);
const kind = topologies[job.topology]!;
const options = { nodes: 5, persistence: 'aof-always' as const, minReplicasToWrite: 0, redisConf: [] };
const unavailable = job.clockShim ? {} : { clock: 'no shim' };
await using runtime = await netnsRuntime({
  folder: job.folder,
  clock,
  clockShim: job.clockShim,
  durableShim: job.durableShim,
  linkShaper: job.linkShaper,
  unavailable,
});
const names = kind.hosts(options);
const servers = await runtime.createHosts(Object.values(names).flat());
const say = (line: string) => process.stderr.write(`${line}\n`);
await using topology = await kind.start(servers, options, {
  clock,
  redis: job.redis,
  spareAddress: runtime.spareAddress,
  readyTimeoutMs: 20_000,
  say,
});
const places = await runtime.createHosts(['c1', 'c2', 'c3', 'c4']);
const hosts = [...servers, ...places];
const recorder = new Recorder(job.folder, clock);
const ledger = new Ledger();
recorder.subscribe((event) => ledger.event(event));
const keys = ['lock:0', 'lock:1'];
const work: WorkloadOptions = {
  clients: places.length,
  keys,
  leaseMs: job.leaseMs,
  waitMs: 300,
  hold: { min: 0.02, max: 0.7 },
  careless: false,
  nowMs: () => clock.nowNs() / 1e6,
};
await using scheduler = new Scheduler(places, {
  clock,
  recorder,
  ledger,
  random,
  epochNs,
  clientArgv: job.clientArgv,
  topology: topology.describe(),
  topologyName: topology.name,
  model: { kind: 'mutex' },
  leaseMs: job.leaseMs,
  commandTimeoutMs: 300,
  operationGraceMs: 4_000,
  script: (fork, lock) => workloads.mutex!.script(work, fork, lock),
  say,
});
await scheduler.start();
scheduler.runScripts();

for (const { name, step, probes, whole } of job.cases) {
  const notes: FaultRecord[] = [];
  let struck = () => {};
  const over = new Promise<void>((resolve) => {
    struck = resolve;
  });
  await setMarkers(topology);
  const look = () => Promise.all(probes.map((probe) => answer(probe)));
  const before = await look();
  const run = runNemesis(
    { version: 1, seed: 1, steps: [step] },
    {
      clock,
      random,
      runtime,
      topology,
      hosts,
      clientHosts: places,
      keys,
      keyName: (key) => key,
      needsAllNodes: false,
      leaseMs: job.leaseMs,
      persistence: options.persistence,
      clients: () => scheduler.targets(),
      holds: ledger,
      stopAtStep: (stop, slot) => scheduler.stops.ask(stop, slot),
      subscribe: (listener) => recorder.subscribe(listener),
      note: (record) => {
        notes.push(record);
        if (record.state !== 'phase') struck();
      },
      signal: new AbortController().signal,
    },
  );
  await (whole ? run.done : over);
  const during = await look();
  await run.stop();
  const unhealed = await run.unhealed();
  const missing = await settled(topology);
  const after = await look();
  process.stdout.write(`${JSON.stringify({ name, notes, before, during, after, unhealed, missing } satisfies Seen)}\n`);
}
await scheduler.finish();

async function settled(deployment: Topology): Promise<string[]> {
  const giveUpNs = clock.nowNs() + HEALED_WITHIN_MS * 1e6;
  for (;;) {
    const missing = await deployment.missing();
    if (missing.length === 0 || clock.nowNs() > giveUpNs) return missing;
    await clock.sleep(50);
  }
}

async function setMarkers(deployment: Topology): Promise<void> {
  const primary = (await deployment.shards()).find((shard) => shard.serves('marker'))?.primary;
  for (const node of primary ? [primary] : deployment.nodes) await node.command('SET', 'marker', 'here');
}

function answer(probe: Probe): Promise<unknown> {
  switch (probe[0]) {
    case 'reach':
      return ask(host(probe[1]), server(probe[2]), ['PING']);
    case 'clients':
      return clientsThatReach(server(probe[1]));
    case 'hear':
      return hears(host(probe[1]), host(probe[2]));
    case 'come':
      return come(host(probe[1]), host(probe[2]));
    case 'state':
      return stateOf(probe[1]);
    case 'skew':
      return skewOf(server(probe[1]));
    case 'marker':
      return ask(server(probe[1]).host, server(probe[1]), ['EXISTS', 'marker']);
    case 'gains':
      return gainOf(server(probe[1]));
    case 'ends':
      return told(server(probe[1]), 1_000).then((all) =>
        [...new Set(promptly(all).map(({ aheadMs }) => Math.round(aheadMs / 1e3)))].sort(),
      );
    case 'late':
      return told(server(probe[1]), 3_000).then(isLate);
    case 'run':
      return ask(server(probe[1]).host, server(probe[1]), ['INFO', 'server']).then(
        (info) => /run_id:(\w+)/.exec(info)?.[1],
      );
    case 'master':
      return ask(host('s1'), server('s1'), ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'mymaster']).then(
        (address) => hosts.find((one) => address.includes(`${one.address}\r`))?.name,
      );
  }
}

function host(wanted: string): Host {
  return hosts.find((one) => one.name === wanted)!;
}

function server(wanted: string): ServerNode {
  return [...topology.nodes, ...topology.sentinels].find((node) => node.name === wanted)!;
}

/** The reply's text, or what went wrong. A server that is there answers within this time on a busy machine too. */
async function ask(from: Host, to: ServerNode, argv: string[]): Promise<string> {
  const script = `
    const s = require('net').connect(${to.port}, '${to.host.address}');
    const end = (text) => { console.log(text); process.exit(); };
    s.on('data', (d) => end(String(d))); s.on('error', () => end('unreachable')); setTimeout(end, 5_000, 'unreachable');
    s.write(${JSON.stringify(`${argv.join(' ')}\r\n`)});`;
  return (await from.exec([process.execPath, '-e', script], LONG)).stdout.trim();
}

async function clientsThatReach(to: ServerNode): Promise<number> {
  const answers = await Promise.all(places.map((place) => ask(place, to, ['PING'])));
  return answers.filter((answer) => answer === '+PONG').length;
}

/** The listener is there before the talker begins, however busy the machine is. */
async function hears(from: Host, to: Host): Promise<boolean> {
  const listen = `
    const s = require('dgram').createSocket('udp4');
    s.on('message', () => console.log('heard')); s.bind(7777, () => console.log('ready'));
    process.stdin.on('data', () => setTimeout(() => console.log('end'), 50));`;
  const talk = `
    const s = require('dgram').createSocket('udp4'); s.on('error', () => {});
    let left = 10; const say = () => s.send('x', 7777, '${to.address}', () => setTimeout(--left ? say : process.exit, 50)); say();`;
  const listener = to.spawn([process.execPath, '-e', listen]);
  let said = '';
  await new Promise<void>((ready) => {
    listener.stdout.on('data', (text) => {
      said += text;
      ready();
    });
  });
  await from.exec([process.execPath, '-e', talk], LONG);
  // By then it has read what came, however long it stood.
  listener.stdin.write('end\n');
  while (!said.includes('end')) await clock.sleep(20);
  listener.signal('SIGKILL');
  await listener.exited;
  return said.includes('heard');
}

/**
 * 400 datagrams, one for each millisecond, however late a timer comes: 30 % lost of them are 30 %, give or take 7, three standard
 * deviations. They are late if nine in ten are: a machine that has other things to do keeps many waiting now and then.
 */
async function come(from: Host, to: Host): Promise<string> {
  const listen = `
    const s = require('dgram').createSocket('udp4'); let last = -1, overtaken = false; const took = [];
    s.on('message', (m) => {
      const n = m.readUInt32LE(); took.push(Number(process.hrtime.bigint() - m.readBigUInt64LE(4)) / 1e6);
      if (n < last) overtaken = true; last = Math.max(n, last);
    });
    const tell = () => { took.sort((a, b) => a - b); console.log(JSON.stringify({ came: took.length, overtaken, ms: took[Math.floor(took.length / 10)] })); };
    process.stdin.on('data', tell); s.bind(0, () => console.log(s.address().port));`;
  const listener = to.spawn([process.execPath, '-e', listen]);
  const lines = createInterface(listener.stdout)[Symbol.asyncIterator]();
  const port = Number((await lines.next()).value);
  const talk = `
    const s = require('dgram').createSocket('udp4'); let n = 0;
    const say = () => {
      const m = Buffer.alloc(12); m.writeUInt32LE(n++); m.writeBigUInt64LE(process.hrtime.bigint(), 4);
      s.send(m, ${port}, '${to.address}', () => {});
    };
    const beganMs = performance.now();
    const tick = () => {
      while (n < 400 && n <= performance.now() - beganMs) say();
      if (n < 400) setTimeout(tick, 1); else setTimeout(() => process.exit(), 1500);
    };
    tick();`;
  await from.exec([process.execPath, '-e', talk], LONG);
  listener.stdin.write('tell\n');
  const { came, overtaken, ms } = JSON.parse((await lines.next()).value) as Record<'came' | 'ms', number> & {
    overtaken: boolean;
  };
  listener.signal('SIGKILL');
  await listener.exited;
  return [`${20 * Math.round(came / 80)} %`, ...(ms > 50 ? ['late'] : []), ...(overtaken ? ['overtaken'] : [])].join(
    ', ',
  );
}

/**
 * A client whose operation could not be told is ended by the harness, and another process takes its place at once: dead is a
 * slot in which none does.
 */
async function stateOf(who: string): Promise<string> {
  const giveUpNs = clock.nowNs() + HEALED_WITHIN_MS * 1e6;
  for (;;) {
    const client = scheduler.targets().find((target) => target.slot === who);
    const isServer = !places.some(({ name }) => name === who);
    const pid = isServer ? server(who).process.pid : client?.process.pid;
    const state = pid === undefined ? 'dead' : kernelStateOf(pid);
    if (isServer || state !== 'dead' || clock.nowNs() > giveUpNs) return state;
    await clock.sleep(50);
  }
}

function kernelStateOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return { T: 'stopped', Z: 'dead' }[stat.slice(stat.lastIndexOf(')') + 2)[0]!] ?? 'running';
  } catch {
    return 'dead';
  }
}

async function skewOf(node: ServerNode): Promise<number> {
  const [best] = (await told(node, 100)).sort((one, other) => one.tookMs - other.tookMs);
  return Math.round(best!.aheadMs / 1_000);
}

/** What was answered so fast that waiting cannot be taken for a clock that is off. */
function promptly(all: readonly Told[]): Told[] {
  return all.filter(({ tookMs }) => tookMs <= PROMPT_MS);
}

/** Slow answers take a third of the time: one that a busy machine keeps waiting is none of a slow server's. */
function isLate(all: readonly Told[]): boolean {
  const slow = all.filter(({ tookMs }) => tookMs > 500);
  const slowMs = slow.reduce((sum, { tookMs }) => sum + tookMs, 0);
  return slow.length > 1 && slowMs > (all.at(-1)!.atMs - all[0]!.atMs + all[0]!.tookMs) / 3;
}

async function gainOf(node: ServerNode): Promise<number> {
  const all = promptly(await told(node, 1_500));
  const [first, last] = [all[0]!, all.at(-1)!];
  return Math.round((last.aheadMs - first.aheadMs) / (last.atMs - first.atMs));
}

interface Told {
  /** By the machine's clock. */
  atMs: number;
  aheadMs: number;
  tookMs: number;
}

/**
 * TIME over TCP, again and again, until answers that were prompt came so long apart; `exec` runs without the clock shim, so that the
 * asking program's clock is the machine's.
 */
async function told(node: ServerNode, forMs: number): Promise<Told[]> {
  const script = `
    const s = require('net').connect(${node.port}, '${node.host.address}'); s.setNoDelay();
    const seen = []; let sent = 0, first;
    const ask = () => { sent = Date.now(); s.write('TIME\\r\\n'); };
    const end = () => { console.log(JSON.stringify(seen)); process.exit(); };
    s.on('connect', ask); s.on('error', end); setTimeout(end, ${forMs + 10_000});
    s.on('data', (d) => {
      const [, , sec, , usec] = String(d).split('\\r\\n'); const at = Date.now();
      seen.push({ atMs: at, aheadMs: sec * 1000 + usec / 1000 - at, tookMs: at - sent });
      const prompt = at - sent <= ${PROMPT_MS}; if (prompt) first ??= at;
      if (prompt && at - first > ${forMs}) end(); else setTimeout(ask, 15);
    });`;
  const result = await node.host.exec([process.execPath, '-e', script], LONG);
  return JSON.parse(result.stdout) as Told[];
}
