/** The benchmarks themselves, inside namespaces of their own: `inside.js <scratch folder>`. */
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ledger } from '../harness/record/facts/ledger.js';
import { Recorder } from '../harness/record/recorder.js';
import { Scheduler } from '../harness/run/scheduler.js';
import { netnsRuntime } from '../harness/runtimes/netns.js';
import { createRandom } from '../harness/runtimes/random.js';
import { monotonicNs, realClock } from '../harness/runtimes/real-clock.js';
import { topologies } from '../harness/topologies/index.js';
import type { HistoryBody, HistoryEvent } from '../harness/vocabulary/history.js';
import type { Runtime } from '../harness/vocabulary/host.js';
import type { RedisBinary, TopologyContext, TopologyOptions } from '../harness/vocabulary/topology.js';
import type { ClientScript } from '../harness/vocabulary/workload.js';
import { builtinLock } from '../lock-impl/index.js';
import { print } from './print.js';

const ROUNDS = 5;
const CLIENTS = 6;
const TURNS = 4;
const TURN_MS = 1_000;
const EVENTS = 200_000;

const folder = process.argv[2]!;
const redis = JSON.parse(readFileSync(join(folder, 'redis.json'), 'utf8')) as RedisBinary;
const epochNs = monotonicNs();
const clock = realClock(epochNs);
const options: TopologyOptions = { nodes: 5, persistence: 'rdb', minReplicasToWrite: 0, redisConf: [] };
let round = 0;

await timeToReady();
await throughput();
costOfAnEvent();
process.exit(0);

const startContext = ({ spareAddress }: Runtime): TopologyContext => ({
  clock,
  redis,
  spareAddress,
  readyTimeoutMs: 20_000,
  say: print,
});

/** From nothing to observed ready, hosts included; fastest and median of some rounds. */
async function timeToReady(): Promise<void> {
  print(`time to ready (${ROUNDS} rounds)`);
  const medians = new Map<string, number>();
  for (const kind of Object.values(topologies)) {
    const rounds: number[] = [];
    while (rounds.length < ROUNDS) {
      await using runtime = await freshRuntime();
      const beganNs = clock.nowNs();
      const names = kind.hosts(options);
      const hosts = await runtime.createHosts(Object.values(names).flat());
      await using _topology = await kind.start(hosts, options, startContext(runtime));
      rounds.push((clock.nowNs() - beganNs) / 1e6);
    }
    rounds.sort((a, b) => a - b);
    const median = rounds[Math.floor(ROUNDS / 2)]!;
    medians.set(kind.name, median);
    const ratio = (median / medians.get('single')!).toFixed(1);
    print(`  ${kind.name.padEnd(10)} median ${ms(median)}, fastest ${ms(rounds[0]!)}   ${ratio} x single`);
  }
}

/** Operations a second of the same client processes, with every event recorded and with none, in turns. */
async function throughput(): Promise<void> {
  print(
    `operations a second: ${CLIENTS} clients, a key each, acquire and release back to back, ${TURNS} turns of ${TURN_MS} ms each way`,
  );
  await using runtime = await freshRuntime();
  const kind = topologies.single!;
  const servers = await runtime.createHosts(kind.hosts(options).nodes);
  await using topology = await kind.start(servers, options, startContext(runtime));
  const recorder = new Recorder(folder, clock);
  let recording = false;
  let operations = 0;
  const ledger = new Ledger();
  const sink = {
    record(body: HistoryBody, atNs = clock.nowNs()): HistoryEvent {
      if (body.type === 'ok') operations++;
      const event = recording ? recorder.record(body, atNs) : { i: operations, atNs, ...body };
      ledger.event(event);
      return event;
    },
  };
  await using scheduler = new Scheduler(
    await runtime.createHosts(Array.from({ length: CLIENTS }, (_, n) => `c${n + 1}`)),
    {
      clock,
      recorder: sink,
      ledger,
      random: createRandom(1),
      epochNs,
      clientArgv: [
        process.execPath,
        fileURLToPath(new URL('../harness/client/main.js', import.meta.url)),
        builtinLock('set-nx-px')!.modulePath,
      ],
      topology: topology.describe(),
      model: { kind: 'mutex' },
      topologyName: 'single',
      leaseMs: 5_000,
      commandTimeoutMs: 500,
      operationGraceMs: 4_000,
      script: (random) => backToBack(`bench:${random.int(0, 2 ** 31 - 1)}`),
      say: print,
    },
  );
  await scheduler.start();
  scheduler.runScripts();
  const turn = async () => {
    const [beganNs, before] = [clock.nowNs(), operations];
    await clock.sleep(TURN_MS);
    return (operations - before) / ((clock.nowNs() - beganNs) / 1e9);
  };
  await turn(); // warm-up
  const rates = { unrecorded: 0, recorded: 0 };
  for (let n = 0; n < TURNS; n++) {
    recording = false;
    rates.unrecorded += (await turn()) / TURNS;
    recording = true;
    rates.recorded += (await turn()) / TURNS;
  }
  await scheduler.finish();
  recorder.close();
  const ratio = (rates.recorded / rates.unrecorded).toFixed(2);
  print(
    `  unrecorded ${rates.unrecorded.toFixed(0)}/s, recorded ${rates.recorded.toFixed(0)}/s   recorded/unrecorded ${ratio}`,
  );
}

function* backToBack(key: string): ClientScript {
  for (;;) {
    const granted = yield { do: 'acquire', key, leaseMs: 5_000, waitMs: 0 };
    if (granted.type === 'ok') yield { do: 'release', hold: granted.id };
  }
}

/** Bytes and time that one recorded event costs, against a memory copy of the same line as the unit. */
function costOfAnEvent(): void {
  const eventFolder = join(folder, 'events');
  mkdirSync(eventFolder);
  const recorder = new Recorder(eventFolder, clock);
  const event: HistoryBody = {
    type: 'ok',
    client: 'c1',
    id: 4711,
    op: 'acquire',
    key: 'lock:0',
    beganNs: 12_345_678_901,
    endedNs: 12_345_978_901,
    validForMs: 4_947,
    grantSentNs: 12_345_688_901,
  };
  const beganNs = clock.nowNs();
  for (let n = 0; n < EVENTS; n++) recorder.record(event);
  const recordNs = clock.nowNs() - beganNs;
  recorder.close();
  const stringifyBeganNs = clock.nowNs();
  let length = 0;
  for (let n = 0; n < EVENTS; n++) length += JSON.stringify({ i: n, atNs: n, ...event }).length;
  const stringifyNs = clock.nowNs() - stringifyBeganNs;
  const bytes = statSync(join(eventFolder, 'history.jsonl')).size / EVENTS;
  print(`a recorded event (${EVENTS} grants, ${length} characters of JSON)`);
  print(
    `  ${bytes.toFixed(0)} bytes, ${(recordNs / EVENTS / 1e3).toFixed(2)} microseconds   ${(recordNs / stringifyNs).toFixed(1)} x turning it into JSON alone`,
  );
}

/** A runtime with a folder of its own, so that no round finds what another left behind. */
async function freshRuntime(): Promise<Runtime> {
  const scratch = join(folder, `round-${round++}`);
  mkdirSync(scratch);
  return netnsRuntime({ folder: scratch, clock, unavailable: {} });
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`.padStart(7);
}
