/** The benchmarks themselves, inside namespaces of their own: `inside.js <scratch folder>`. */
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type {
  ClientScript,
  HistoryBody,
  HistoryEvent,
  Host,
  RedisBinary,
  Runtime,
  TopologyOptions,
} from '../harness/api.js';
import { createRandom } from '../harness/random.js';
import { Recorder } from '../harness/recorder.js';
import { netnsRuntime } from '../harness/runtimes/netns.js';
import { monotonicNs, realClock } from '../harness/runtimes/real-clock.js';
import { Scheduler } from '../harness/scheduler.js';
import { topologies } from '../harness/topologies/index.js';
import { builtinLock } from '../lock-impl/index.js';

const ROUNDS = 5;
const CLIENTS = 6;
const THROUGHPUT_MS = 4_000;
const EVENTS = 200_000;

const folder = process.argv[2]!;
const redis = JSON.parse(readFileSync(join(folder, 'redis.json'), 'utf8')) as RedisBinary;
const epochNs = monotonicNs();
const clock = realClock(epochNs);
const options: TopologyOptions = { nodes: 5, persistence: 'rdb', redisConf: [] };
let hostNumber = 0;

await using runtime = await netnsRuntime({ folder, clock, unavailable: {} });
await timeToReady();
await throughput();
costOfAnEvent();
process.exit(0);

/** From nothing to observed ready, hosts included; fastest and median of some rounds. */
async function timeToReady(): Promise<void> {
  print(`time to ready (${ROUNDS} rounds)`);
  const medians = new Map<string, number>();
  for (const kind of Object.values(topologies)) {
    const rounds: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // Hosts keep their fixed names; each round gets a runtime folder of its own below the scratch folder.
      const beganNs = clock.nowNs();
      const names = kind.hosts(options);
      const hosts = await freshHosts([...names.nodes, ...names.sentinels]);
      const topology = await kind.start(hosts, options, { clock, redis, readyTimeoutMs: 20_000 });
      rounds.push((clock.nowNs() - beganNs) / 1e6);
      await topology[Symbol.asyncDispose]();
    }
    rounds.sort((a, b) => a - b);
    const median = rounds[Math.floor(ROUNDS / 2)]!;
    medians.set(kind.name, median);
    const ratio = (median / medians.get('single')!).toFixed(1);
    print(`  ${kind.name.padEnd(10)} median ${ms(median)}, fastest ${ms(rounds[0]!)}   ${ratio} x single`);
  }
}

/** Operations a second of the same client processes, with every event recorded and with none. */
async function throughput(): Promise<void> {
  print(
    `operations a second: ${CLIENTS} clients, a key each, acquire and release back to back, ${THROUGHPUT_MS} ms each way`,
  );
  const kind = topologies.single!;
  const topology = await kind.start(await freshHosts(kind.hosts(options).nodes), options, {
    clock,
    redis,
    readyTimeoutMs: 20_000,
  });
  const recordedFolder = join(folder, 'recorded');
  mkdirSync(recordedFolder);
  const recorder = new Recorder(recordedFolder, clock);
  let next = 0;
  const nowhere = { record: (body: HistoryBody): HistoryEvent => ({ i: next++, atNs: clock.nowNs(), ...body }) };
  const unrecorded = await operationsPerSecond(nowhere);
  const recorded = await operationsPerSecond(recorder);
  recorder.close();
  print(
    `  unrecorded ${Math.round(unrecorded)}/s, recorded ${Math.round(recorded)}/s   recorded/unrecorded ${(recorded / unrecorded).toFixed(2)}`,
  );
  await topology[Symbol.asyncDispose]();

  async function operationsPerSecond(sink: Pick<Recorder, 'record'>): Promise<number> {
    let operations = 0;
    const counting = {
      record: (body: HistoryBody, atNs?: number) => {
        if (body.type === 'ok') operations++;
        return sink.record(body, atNs);
      },
    };
    await using scheduler = new Scheduler(await freshHosts(Array.from({ length: CLIENTS }, (_, n) => `c${n + 1}`)), {
      clock,
      recorder: counting,
      random: createRandom(1),
      epochNs,
      clientArgv: [
        process.execPath,
        fileURLToPath(new URL('../harness/client/main.js', import.meta.url)),
        builtinLock('set-nx-px')!.modulePath,
      ],
      topology: topology.describe(),
      topologyName: 'single',
      leaseMs: 5_000,
      commandTimeoutMs: 500,
      operationGraceMs: 4_000,
      script: (random) => backToBack(`bench:${random.int(0, 2 ** 31 - 1)}`),
      say: print,
    });
    await scheduler.start();
    scheduler.runScripts();
    const beganNs = clock.nowNs();
    await clock.sleep(THROUGHPUT_MS);
    const rate = operations / ((clock.nowNs() - beganNs) / 1e9);
    await scheduler.finish();
    return rate;
  }
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
  print(`a recorded event (${EVENTS} of them, ${length > 0 ? 'an acquire that was granted' : ''})`);
  print(
    `  ${bytes.toFixed(0)} bytes, ${(recordNs / EVENTS / 1e3).toFixed(2)} microseconds   ${(recordNs / stringifyNs).toFixed(1)} x turning it into JSON alone`,
  );
}

/** Hosts on a network of their own: a namespace inside ours would do, but names are per run, so each batch is a run. */
async function freshHosts(names: readonly string[]): Promise<Host[]> {
  const batch = join(folder, `batch-${hostNumber++}`);
  const inBatch: Runtime = runtime;
  mkdirSync(batch, { recursive: true });
  return inBatch.createHosts(names);
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`.padStart(7);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
