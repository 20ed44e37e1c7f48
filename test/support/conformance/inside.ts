/**
 * Runs inside the run's own namespaces: starts one deployment and checks every property that its locks claim, on all of
 * them. Reads one JSON line (`Job`) on standard input, prints one JSON line (`Finding`) per check.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { netnsRuntime } from '../../../harness/runtimes/netns.js';
import { monotonicNs, realClock } from '../../../harness/runtimes/real-clock.js';
import { topologies } from '../../../harness/topologies/index.js';
import type { RedisBinary } from '../../../harness/vocabulary/topology.js';
import { Clients } from './clients.js';
import { type Bench, type Claims, properties, Untold } from './properties.js';

export interface Job {
  topology: string;
  folder: string;
  redis: RedisBinary;
  locks: (Claims & { name: string; clientArgv: string[] })[];
}

export interface Finding {
  lock: string;
  property: string;
  tookMs: number;
  /** What was wrong; absent: nothing. */
  problem?: string;
}

/** A check mostly waits. There are two deployments at once, too. */
const LOCKS_AT_ONCE = 2;
/** How often a check may end in an operation that was not answered in time. */
const UNTOLD_AT_MOST = 3;
/** In the run's own network, where no host is: the clients need no host each, as nothing is done to their network. */
const OWN_ADDRESS = '10.77.254.1/16';

const job = JSON.parse(readFileSync(0, 'utf8')) as Job;
const clock = realClock(monotonicNs());
const kind = topologies[job.topology]!;
const options = {
  nodes: 5,
  persistence: 'none' as const,
  minReplicasToWrite: 0,
  // Nothing is to fail over here: on a busy machine nodes of a Cluster would take each other for dead.
  redisConf: [['cluster-node-timeout', '10000']] as const,
  ...(topologies[job.topology]!.hasPassword && { password: 'of-these-tests' }),
};
await using runtime = await netnsRuntime({ folder: job.folder, clock, unavailable: { clock: 'not needed' } });
const servers = await runtime.createHosts(Object.values(kind.hosts(options)).flat());
const { stderr, status } = spawnSync('ip', ['addr', 'add', OWN_ADDRESS, 'dev', 'torture0'], { encoding: 'utf8' });
if (status !== 0) throw new Error(`ip addr add: ${stderr}`);
await using topology = await kind.start(servers, options, {
  clock,
  redis: job.redis,
  spareAddress: runtime.spareAddress,
  readyTimeoutMs: 20_000,
  say: (line) => process.stderr.write(`${line}\n`),
});

const waiting = [...job.locks];
await Promise.all(
  Array.from({ length: LOCKS_AT_ONCE }, async () => {
    for (let lock = waiting.shift(); lock; lock = waiting.shift()) await checkLock(lock);
  }),
);

/**
 * Who takes writes, once all agree on it. "While nothing fails" has to be true of the machine as well: where it stands
 * still for long enough, a deployment replaces its primary, and what a check saw then says nothing about the lock.
 */
async function primaries(): Promise<string> {
  if (!topology.replicated) return '';
  while ((await topology.missing()).length > 0) await clock.sleep(50);
  return (await topology.shards()).map(({ primary }) => primary.name).join();
}

async function checkLock(lock: Job['locks'][number]): Promise<void> {
  await using clients = new Clients(lock.clientArgv, topology.describe());
  let at = 0;
  let writable = await primaries();
  for (const [property, { claimedBy, check }] of Object.entries(properties)) {
    if (!claimedBy(lock)) continue;
    const beganNs = clock.nowNs();
    const { features, model, lacks } = lock;
    let untold = 0;
    for (;;) {
      const bench: Bench = {
        features,
        model,
        lacks,
        key: `${lock.name}:${at++}`,
        permits: model.kind === 'semaphore' ? model.permits : 1,
        client: (n) => clients.get(n),
        ownClient: () => clients.start(),
      };
      const error = await check(bench).then(
        () => undefined,
        (reason: Error) => reason,
      );
      const problem = error?.message.split('\n', 1)[0];
      // What a failed check left half done must not be held against the next.
      if (problem !== undefined) await clients[Symbol.asyncDispose]();
      const before = writable;
      if (problem !== undefined) writable = await primaries();
      if (writable !== before) {
        process.stderr.write(
          `${lock.name}: ${property}: asked again, ${writable} took the place of ${before} meanwhile\n`,
        );
        continue;
      }
      // No answer in time is none: what the lock would have said is not known. One that never answers has a problem.
      if (error instanceof Untold && ++untold < UNTOLD_AT_MOST) {
        process.stderr.write(`${lock.name}: ${property}: asked again: ${problem}\n`);
        continue;
      }
      const tookMs = Math.round((clock.nowNs() - beganNs) / 1e6);
      tell({ lock: lock.name, property, tookMs, ...(problem !== undefined && { problem }) });
      break;
    }
  }
}

function tell(finding: Finding): void {
  process.stdout.write(`${JSON.stringify(finding)}\n`);
}
