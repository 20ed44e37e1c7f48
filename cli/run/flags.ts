/**
 * What can be asked of `run`, each flag with the text that `--help` shows; and the flags that other commands share with it,
 * with what they ask for.
 */
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
import { OF_WHAT, RUNS_FOLDER } from '../common/standing.js';
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
  workShard,
} from '../common/values.js';
import { type LeastFlags, leastOptions } from './least-flags.js';
import { imageOptions, type MachineFlags, machineOptions, serverOptions } from './machine-flags.js';
import type { AskedSeries } from './series.js';

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

/** Flags about what is printed, and where folders go. */
export interface OutputFlags {
  out: string;
  json: boolean;
}

/** Which config file to begin with; false: none. */
export interface ConfigFlags {
  config?: string | false;
}

/** Flags about how often to run. */
export interface SeriesFlags extends OutputFlags {
  times?: number;
  untilViolation: boolean;
  shard?: WorkShard;
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

/** Adds every flag of `run`. */
export function addRunFlags(command: Command): Command {
  const options = [
    value(
      '--service <name>',
      `redis (Valkey too) | ${OTHER_SERVICES.join(' | ')}`,
      nameAmong(Object.keys(services)),
      'redis',
    ),
    value(
      '--topology <name>',
      `what to start; ${OTHER_SERVICES.map((name) => `of ${name}: ${Object.keys(services[name].topologies).join(' | ')}`).join('; ')}`,
      nameAmong(TOPOLOGY_NAMES, topologiesOfService('redis')),
      'single',
      'single; of another service its first',
    ),
    new Option(
      '--lock <lock>',
      "a name from `list locks`, a file (./my-lock.ts), or 'cmd:./program args' (default: the topology's own)",
    ),
    new Option(
      '--workload <name>',
      'what the clients do (see `list workloads`); each has its own defaults for other flags',
    ).default('mutex'),
    ...machineOptions(),
    value('--clients <n>', 'lock clients, one process each', wholeNumberIn(1, 200), 6, '6; 8 without --hold'),
    value(
      '--callers <n>',
      'callers in each client process (threads, tasks), each an owner of its own; for locks with the feature callers',
      wholeNumberIn(1, 26),
      1,
    ),
    value('--keys <n>', 'locks they contend for', wholeNumberIn(1, 1000), 3, '3; 8 without --hold'),
    value(
      '--starts-within <duration>',
      'how long a client program may take to start, at most 120s (default: 15s, or what it says itself)',
      startDurationMs,
    ),
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
      'work under the lock, in parts of the lease',
      holdRange,
      MIXED_HOLDS,
      'nearly always 1 to 30 ms; now and then a third of the lease to 0.9x of it',
    ),
    ...switchOptions('careless', 'clients ignore how long the lock says it is valid, and `lost`', 'careful'),
    value(
      '--resource <mode>',
      'what the lock protects, in workloads that write to it: trusting | checking (of fencing tokens)',
      nameAmong(RESOURCE_MODES),
    ),
    value('--time-limit <duration>', 'how long to torture, warm-up included', positiveDurationMs, 20_000, '20s'),
    new Option('--nemesis <list>', 'faults, as in kill,pause:client; or default, all, none').default('default'),
    value('--nemesis-interval <duration>', 'mean time between the starts of two faults', positiveDurationMs),
    new Option('--plan <file>', 'a nemesis plan (plan.json of another run, say) instead of --nemesis'),
    value(
      '--seed <n>',
      'repeats the plan and the choices of another run (default: drawn)',
      wholeNumberIn(0, SEEDS - 1),
    ),
    value('--nodes <n>', 'nodes of the redlock topology', wholeNumberIn(1, 25), DEFAULT_NODES),
    persistenceOption(),
    value('--min-replicas-to-write <n>', 'replicas that a primary must see to take a write', wholeNumberIn(0, 5), 0),
    value('--maxmemory-policy <policy>', 'what a full server throws away (see --nemesis evict)', nameAmong(EVICTION)),
    ...switchOptions('auth', 'every node and Sentinel asks for a password', 'no password'),
    value('--redis-conf <key=value>', 'a directive for every Redis node (repeatable)', keyValue, [], 'none'),
    value(
      '--fail-on <list>',
      `findings that fail a run, by class: ${CLASSES.join(',')}; lock: those that are the lock's own mistake, and an unexplained one is "cannot tell"; or none`,
      failOn,
      [...CLASSES],
      'all of them',
    ),
    new Option('--known <folder>', "findings that are known (a campaign's known/): the report marks them"),
    ...knownOkOptions(),
    ...leastOptions(
      'fewer holds than this cannot tell that it held',
      'fewer strikes: faults, from injection to healing, that met a held lock; 59 bound a pass to 5 %, and take some ten minutes',
    ),
    ...switchOptions('stop-at-first', 'end the run as soon as something that fails it is found'),
    ...repetition(
      'runs, with the seeds --seed, +1, +2, ...; then a table of all',
      'end after the first run that is violated',
    ),
    shardOption('of --times runs'),
    new Option('--watch', 'run again when a file of the lock changes, first with the seed that failed').default(
      false,
      'no',
    ),
    ...configOptions(),
    ...outputOptions(),
  ];
  for (const option of options) command.addOption(option);
  return command;
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
  ];
  for (const option of options) command.addOption(option);
  return command;
}

/** How often the flags ask to run, and where to. */
export function askSeries({ times, untilViolation, shard, out, json }: SeriesFlags, cwd: string): AskedSeries {
  return { times, untilViolation, base: resolve(cwd, out), json, ...(shard && { shard }) };
}

function repetition(times: string, until: string): Option[] {
  return [
    value('--times <n>', times, wholeNumberIn(1, 100_000)),
    new Option('--until-violation', `${until}: within --times, else on and on until Ctrl-C`).default(false, 'no'),
  ];
}

/** `of`: what there are parts of; absent: of all that the command does. */
export function shardOption(of = 'of it'): Option {
  return new Option(
    '--shard <i/n>',
    `only the ith of n parts ${of}, for several machines; \`merge\` makes one of them`,
  ).argParser(workShard);
}

/**
 * A switch that a config file or a workload may have on, with what takes it back: `--no-` and its name, which --help tells
 * once, of all of them. `off`: what --help says of it where it is not given.
 */
function switchOptions(name: string, description: string, off = 'no'): Option[] {
  return [new Option(`--${name}`, description).default(false, off), new Option(`--no-${name}`).hideHelp()];
}

/** For whoever takes it. */
export function knownOkOptions(): Option[] {
  return switchOptions('known-ok', 'findings that were known before fail nothing (the report shows them)');
}

/** Which settings a command begins with. */
export function configOptions(): Option[] {
  return [
    new Option('--config <file>', 'settings to begin with (default: lock-torture.config.ts of your project)'),
    new Option(
      '--no-config',
      'without it and LOCK_TORTURE_… of the environment; --no-auth and the like take back one switch',
    ),
  ];
}

/** Where run folders go, and what is printed. */
export function outputOptions(): Option[] {
  return [
    new Option('--out <folder>', 'where run folders go').default(RUNS_FOLDER, `runs/ ${OF_WHAT}`),
    new Option('--json', 'progress, verdict and summary as JSON lines').default(false, 'text'),
  ];
}

function value<T>(
  flags: string,
  text: string,
  parse: (text: string, before: T) => T,
  fallback?: T,
  shown?: string,
): Option {
  const option = new Option(flags, text).argParser(parse);
  return fallback === undefined ? option : option.default(fallback, shown);
}
