/** What can be asked of `run`, each flag with the text that `--help` shows; and of `replay`. */
import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { OTHER_SERVICES } from '../../harness/record/schemas/other-services.js';
import { CLASSES } from '../../harness/record/schemas/violation-class.js';
import { LONGEST_START_MS } from '../../harness/run/client-process.js';
import { WARM_UP_MS } from '../../harness/run/run.js';
import { topologies, topologiesOfService } from '../../harness/topologies/index.js';
import { services } from '../../harness/topologies/services.js';
import type { Persistence, ServiceName, TopologyOptions } from '../../harness/vocabulary/topology.js';
import type { FailOn } from '../../harness/vocabulary/verdict.js';
import type { HoldTimes, ResourceMode } from '../../harness/vocabulary/workload.js';
import { MIXED_HOLDS } from '../../workloads/hold-times.js';
import {
  durationMs,
  failOn,
  holdRange,
  keyValue,
  nameAmong,
  positiveDurationMs,
  RESOURCE_MODES,
  type WorkShard,
  wholeNumberIn,
} from '../common/values.js';
import { type LeastFlags, leastOptions } from './least-flags.js';
import { imageOptions, type MachineFlags, machineOptions, serverOptions } from './machine-flags.js';
import type { AskedSeries } from './series.js';
import {
  type ConfigFlags,
  configOptions,
  knownOkOptions,
  type OutputFlags,
  openOption,
  outputOptions,
  repetition,
  shardOption,
  switchOptions,
  value,
} from './shared-flags.js';

/** Shortest torture phase that a fault fits into. */
export const LEAST_TIME_LIMIT_MS = WARM_UP_MS + 500;
/**
 * Not whole seconds: one who takes seconds for milliseconds, or lets a division lose what is left of them, would get away
 * with it at 5 s.
 */
export const DEFAULT_LEASE_MS = 4_700;
/** Of a topology whose locks ask a majority of them. */
export const DEFAULT_NODES = 5;
/** Seeds are below this. */
export const SEEDS = 2 ** 31;

/** Flags about how often to run. */
export interface SeriesFlags extends OutputFlags {
  times?: number;
  untilViolation: boolean;
  shard?: WorkShard;
  /** Whether the report is opened at the end. */
  open: boolean;
}

/** The flags of `run`, parsed. */
export interface RunFlags extends SeriesFlags, MachineFlags, ConfigFlags, LeastFlags {
  service: ServiceName;
  topology: string;
  lock?: string;
  workload: string;
  clients: number;
  callers: number;
  keys: number;
  lease: number;
  startsWithin?: number;
  wait: number;
  hold: HoldTimes;
  careless: boolean;
  resource?: ResourceMode;
  timeLimit: number;
  nemesis: string;
  nemesisInterval?: number;
  plan?: string;
  seed?: number;
  nodes: number;
  persistence: TopologyOptions['persistence'];
  minReplicasToWrite: number;
  maxmemoryPolicy?: string;
  auth: boolean;
  tls: boolean;
  redisConf: [string, string][];
  failOn: FailOn[];
  known?: string;
  knownOk: boolean;
  stopAtFirst: boolean;
  watch: boolean;
}

/** The flags of `replay`, parsed. */
export type ReplayFlags = SeriesFlags & Omit<MachineFlags, 'runtime'>;

const PERSISTENCE: Persistence[] = ['none', 'rdb', 'aof-everysec', 'aof-always'];
export const persistenceOption = () =>
  value('--persistence <mode>', PERSISTENCE.join(' | '), nameAmong(PERSISTENCE), 'rdb');
const EVICTION = [
  'noeviction',
  'allkeys-lru',
  'allkeys-lfu',
  'allkeys-random',
  'volatile-lru',
  'volatile-lfu',
  'volatile-random',
  'volatile-ttl',
];

/** As long as a client may ask for itself. */
function startDurationMs(text: string): number {
  const ms = positiveDurationMs(text);
  if (ms > LONGEST_START_MS) throw new InvalidArgumentError(`"${text}" is more than ${LONGEST_START_MS / 1e3}s.`);
  return ms;
}

const TOPOLOGY_NAMES = [
  ...new Set([
    ...Object.keys(topologies),
    ...Object.values(services).flatMap((service) => Object.keys(service.topologies)),
  ]),
];

/** The groups in which `--help` shows the flags of `run`. */
const GROUP = {
  what: 'What:',
  hardness: 'How hard:',
  faults: 'Faults:',
  verdict: 'Verdict:',
  repeat: 'Repeat:',
  where: 'Where:',
} as const;

/** Adds every flag of `run`. */
export function addRunFlags(command: Command): Command {
  for (const [group, options] of Object.entries(runOptions()))
    for (const option of options) command.addOption(option.helpGroup(GROUP[group as keyof typeof GROUP]));
  return command;
}

function runOptions(): Record<keyof typeof GROUP, Option[]> {
  return {
    what: [
      new Option(
        '--lock <lock>',
        "a name from `list locks`, with NAME@VERSION:FORM where it has them, a file (./my-lock.ts), or 'cmd:./program args' (default: the topology's own)",
      ),
      value(
        '--topology <name>',
        `the servers to start: ${topologiesOfService('redis').join(' | ')}`,
        nameAmong(TOPOLOGY_NAMES, topologiesOfService('redis')),
        'single',
        'single; of another service its first',
      ),
      value(
        '--service <name>',
        `what the lock is on: redis (Valkey, too) | ${OTHER_SERVICES.map((name) => `${name} (${Object.keys(services[name].topologies).join(', ')})`).join(' | ')}`,
        nameAmong(Object.keys(services)),
        'redis',
      ),
      value('--nodes <n>', 'nodes of the redlock topology', wholeNumberIn(1, 25), DEFAULT_NODES),
      persistenceOption(),
      value('--min-replicas-to-write <n>', 'replicas that a primary must see to take a write', wholeNumberIn(0, 5), 0),
      value('--maxmemory-policy <policy>', 'what a full server removes (for --nemesis evict)', nameAmong(EVICTION)),
      ...switchOptions('auth', 'every server asks for a password', 'no password'),
      ...switchOptions(
        'tls',
        "every server speaks TLS only (rediss://), by certificates of the run's own",
        'plain text',
      ),
      value('--redis-conf <key=value>', 'a directive for every Redis server (repeatable)', keyValue, [], 'none'),
    ],
    hardness: [
      value('--time-limit <duration>', 'how long to torture, warm-up included', positiveDurationMs, 20_000, '20s'),
      new Option(
        '--workload <name>',
        'what the clients do (see `list workloads`); each workload has its own defaults for other flags',
      ).default('mutex'),
      value('--clients <n>', 'lock clients, one process each', wholeNumberIn(1, 200), 6, '6; 8 without --hold'),
      value(
        '--callers <n>',
        'callers (threads, tasks) in each client process, each an owner of its own; for locks with the feature callers',
        wholeNumberIn(1, 26),
        1,
      ),
      value('--keys <n>', 'locks that the clients contend for', wholeNumberIn(1, 1000), 3, '3; 8 without --hold'),
      value(
        '--lease <duration>',
        'lease of every lock',
        positiveDurationMs,
        DEFAULT_LEASE_MS,
        '4.7s, on single 2.3s without --hold: not whole seconds',
      ),
      value(
        '--wait <duration>',
        'how long an acquire waits for a lock that is held',
        durationMs,
        1_000,
        '1s; without --hold 1 to 50 ms before brief work',
      ),
      value(
        '--hold <range>',
        'how long a client works under the lock, in parts of the lease (0.1x..0.9x)',
        holdRange,
        MIXED_HOLDS,
        'nearly always 1 to 30 ms; now and then a third of the lease to 0.9x of it',
      ),
      ...switchOptions('careless', 'clients ignore how long the lock says it is valid, and `lost`', 'careful'),
      value(
        '--resource <mode>',
        'whether the resource that the lock protects checks fencing tokens: trusting | checking',
        nameAmong(RESOURCE_MODES),
      ),
      value(
        '--starts-within <duration>',
        'how long a client program may take to start, at most 120s (default: 15s, or what it says itself)',
        startDurationMs,
      ),
    ],
    faults: [
      new Option(
        '--nemesis <list>',
        'faults (see `list faults`), as in kill,pause:client; or default, all, none',
      ).default('default'),
      value('--nemesis-interval <duration>', 'mean time between the starts of two faults', positiveDurationMs),
      new Option('--plan <file>', "a plan of faults instead of --nemesis: another run's plan.json, for example"),
    ],
    verdict: [
      value(
        '--fail-on <list>',
        `findings that fail a run, by class: ${CLASSES.join(',')}; or lock: the lock's own mistakes, and "cannot tell" if a finding is unexplained; or none`,
        failOn,
        [...CLASSES],
        'all of them',
      ),
      new Option('--known <folder>', "findings that are known (a campaign's known/): the report marks them"),
      ...knownOkOptions(),
      ...leastOptions(
        'with fewer holds the verdict is "cannot tell"',
        'the same for strikes: faults, from injection to healing, that met a held lock; 59 bound a pass to 5 %, and take some ten minutes',
      ),
    ],
    repeat: [
      value(
        '--seed <n>',
        'repeats the plan and the choices of another run (default: drawn)',
        wholeNumberIn(0, SEEDS - 1),
      ),
      ...repetition(
        'so many runs, with the seeds --seed, +1, +2, ...; then a table of all',
        'end after the first run that is violated',
      ),
      ...switchOptions('stop-at-first', 'end a run as soon as something that fails it is found'),
      new Option('--watch', 'run again when a file of the lock changes, first with the seed that failed').default(
        false,
        'no',
      ),
      shardOption('of --times runs'),
    ],
    where: [...machineOptions(), ...configOptions(), ...outputOptions(), openOption()],
  };
}

/** Flags of `run` as typed, and which of them were. Throws what commander throws for bad ones. */
export function parseRunFlags(argv: readonly string[]): { flags: RunFlags; given(flag: keyof RunFlags): boolean } {
  return parseFlags(addRunFlags, argv);
}

/** Flags of a command that `add` gives its options, and which of them were typed. Throws what commander throws for bad ones. */
export function parseFlags<Flags extends object>(
  add: (command: Command) => Command,
  argv: readonly string[],
): { flags: Flags; given(flag: string): boolean } {
  // What it throws says what is wrong: printed by whoever catches it.
  const command = add(new Command())
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  command.parse([...argv], { from: 'user' });
  return { flags: command.opts<Flags>(), given: (flag) => command.getOptionValueSource(flag) === 'cli' };
}

/** Adds every flag of `replay`. */
export function addReplayFlags(command: Command): Command {
  const options = [
    ...repetition('replays; k of n is counted', 'end after the first replay that finds it again'),
    ...serverOptions("another server than the original's"),
    ...imageOptions("the original's"),
    ...outputOptions(),
    openOption(),
  ];
  for (const option of options) command.addOption(option);
  return command;
}

/** How often the flags ask to run, and where to. */
export function askSeries({ times, untilViolation, shard, out, json, open }: SeriesFlags, cwd: string): AskedSeries {
  return { times, untilViolation, base: resolve(cwd, out), json, open, ...(shard && { shard }) };
}
