/** The flags of `hunt`: those of `run` that mean the same in virtual time, with values that suit it, and its own. */
import { Command, Option } from 'commander';
import { insteadOf } from '../../harness/record/schemas/names.js';
import { topologies, topologiesOfService } from '../../harness/topologies/index.js';
import type { MixedHolds } from '../../harness/vocabulary/workload.js';
import {
  type PlanTopology,
  SEARCHED,
  SEARCHED_BY_DEFAULT,
  searchedByDefault,
  unsearchable,
} from '../../nemesis/index.js';
import { longHolds, MIXED_HOLDS } from '../../workloads/hold-times.js';
import { UsageError } from '../common/errors.js';
import { HUNTS_FOLDER, OF_WHAT } from '../common/standing.js';
import {
  durationMs,
  nameAmong,
  positiveDurationMs,
  type WorkShard,
  wholeNumberIn,
  workShard,
} from '../common/values.js';
import { type AskedRun, askRun } from '../run/ask-run.js';
import type { Configurable } from '../run/config-file.js';
import { planTopology } from '../run/deployment.js';
import { addRunFlags, LEAST_TIME_LIMIT_MS, parseRunFlags, type RunFlags } from '../run/flags.js';
import { serverOptions } from '../run/machine-flags.js';
import { configOptions } from '../run/shared-flags.js';
import { EXHAUSTED_FAULTS } from './exhaustive/actions.js';
import { EXHAUSTED_WORKLOADS, type OrderBound } from './exhaustive/bound.js';
import { CLEAN_START_MS } from './schedule.js';

type Shared =
  | 'lock'
  | 'workload'
  | 'clients'
  | 'keys'
  | 'lease'
  | 'wait'
  | 'hold'
  | 'careless'
  | 'nodes'
  | 'persistence'
  | 'resource'
  | 'maxmemoryPolicy'
  | 'seed'
  | 'failOn';

/** As typed. */
export interface HuntFlags
  extends Pick<RunFlags, Shared | 'topology' | 'timeLimit' | 'server' | 'redis' | 'out' | 'config'> {
  for?: number;
  runs?: number;
  workers?: number;
  shard: WorkShard;
  confirm?: number;
  faults: string;
  exhaustive?: true;
  ops?: number;
  reduction: boolean;
}

/** What is asked for. */
export interface AskedHunt {
  run: AskedRun;
  topology: PlanTopology;
  /** Names of faults. */
  faults: string[];
  /** How long clients hold in schedules that have a run's habits; absent: none has. */
  habits?: MixedHolds;
  forMs?: number;
  runs?: number;
  shard: WorkShard;
  /** Processes that play schedules; absent: one for each core. */
  workers?: number;
  /** How often what is found is played on real servers; absent: not. */
  confirm?: number;
  /** Every order of events within this bound, in place of schedules by chance. */
  bound?: OrderBound;
}

const SHARED: readonly string[] = [
  'lock',
  'workload',
  'clients',
  'keys',
  'lease',
  'wait',
  'hold',
  'careless',
  'nodes',
  'persistence',
  'resource',
  'maxmemoryPolicy',
  'seed',
  'failOn',
] satisfies Shared[];
/**
 * A run's mixture, but that no hold is as brief: what costs real time is what happens. Half of the key's time is for long holds, for
 * a schedule has time for few.
 */
const HABITS: MixedHolds = {
  ...MIXED_HOLDS,
  briefMs: { min: 10, max: 75 },
  longShare: 0.5,
  pauseMs: { min: 1, max: 40 },
};
/** Much happens in little time: what costs real time is what happens, and not how long it takes. */
const HERE = {
  clients: 4,
  keys: 1,
  lease: 470,
  wait: 300,
  hold: { min: 0.02, max: 0.7 },
  timeLimit: 3_500,
  persistence: 'none',
} as const;
/** A hold that ends before a failover does hides what the failover lost. */
const FAILOVERS_OF_A_LEASE = 3;
/** A log that is synced every second loses up to one: of holds that have ended before the server is back that shows nothing. */
const LEASE_OF_A_LOG_MS = 2_000;
/** A lease, and a hold that is longer, should end in a schedule, whenever in its first half it began. */
const LEASES_OF_A_SCHEDULE = 2;
const BESIDE_LEASES_MS = 1_500;
const SHOWN: Readonly<Record<string, string>> = {
  lease: '470ms, or three failovers where there are any, and 2s at least with aof-everysec',
  wait: '300ms',
  hold: '0.02x..0.7x',
};
const DEFAULT_FOR_MS = 60_000;

/** `3.5s` */
function seconds(ms: number): string {
  return `${ms / 1e3}s`;
}

/** Adds every flag of `hunt`. */
export function addHuntFlags(command: Command): Command {
  command.addOption(
    new Option('--topology <name>', 'what to start')
      .argParser(nameAmong(topologiesOfService('redis')))
      .default('single'),
  );
  for (const option of addRunFlags(new Command()).options) {
    const name = option.attributeName();
    if (!SHARED.includes(name)) continue;
    const here = (HERE as Record<string, unknown>)[name];
    if (name === 'lock') option.description = "a name from `list locks`, or a file (default: the topology's own)";
    if (name === 'seed') option.description = 'the same schedules again (default: drawn)';
    command.addOption(here === undefined ? option : option.default(here, SHOWN[name]));
  }
  const own = [
    new Option(
      '--for <duration>',
      'how long to hunt, in real time, shrinking and replays included (default: 60s, where no --runs is given)',
    ).argParser(positiveDurationMs),
    new Option(
      '--runs <n>',
      'how many schedules to play; without --for what they find is shrunk and replayed however long it takes',
    ).argParser(wholeNumberIn(1, 10_000_000)),
    new Option(
      '--workers <n>',
      'how many processes play them; what is found is the same (default: one a core)',
    ).argParser(wholeNumberIn(1, 256)),
    new Option('--shard <i/n>', 'of the schedules of a seed only every nth, from the ith on: for several machines')
      .argParser(workShard)
      .default({ index: 1, of: 1 }, '1/1'),
    new Option('--confirm <n>', 'play what is found on real servers, too, so many times').argParser(
      wholeNumberIn(1, 1_000),
    ),
    new Option(
      '--time-limit <duration>',
      `virtual time of a schedule, at least ${seconds(LEAST_TIME_LIMIT_MS)}, ${seconds(CLEAN_START_MS)} of warm-up included`,
    )
      .argParser(durationMs)
      .default(
        HERE.timeLimit,
        `${seconds(HERE.timeLimit)}, or ${seconds(BESIDE_LEASES_MS)} and two leases (or two of the longest holds) if that is more`,
      ),
    new Option('--faults <list>', `what schedules are made of: ${SEARCHED.join(', ')}; or none`).default(
      SEARCHED_BY_DEFAULT.join(','),
      `${SEARCHED_BY_DEFAULT.join(',')}, and power-cut and slow-disk where --persistence is aof-...: a server's clock that is moved breaks nearly every lock`,
    ),
    new Option(
      '--exhaustive',
      'every order of events within a bound, each once: --clients (default: 2), --ops, and --faults as a number; on single',
    ),
    new Option(
      '--ops <n>',
      'with --exhaustive: what each client does; it acquires, releases, acquires, ... (default: 2)',
    ).argParser(wholeNumberIn(1, 8)),
    new Option(
      '--no-reduction',
      'with --exhaustive: orders of what is independent, too, to see that they show nothing new',
    ),
    ...serverOptions('the server to simulate (default: redis-server from PATH, else downloaded)', []),
    ...configOptions(),
    new Option('--out <folder>', 'where hunts go').default(HUNTS_FOLDER, `hunts/ ${OF_WHAT}`),
  ];
  for (const option of own) command.addOption(option);
  return command;
}

/** Of a config file it takes what the lock is and is to do: how long leases and holds last in virtual time is its own. */
export const HUNT: Configurable = {
  name: 'hunt',
  add: addHuntFlags,
  takes: [
    'lock',
    'topology',
    'workload',
    'careless',
    'nodes',
    'persistence',
    'resource',
    'maxmemoryPolicy',
    'server',
    'failOn',
  ],
};

/** Of an exhausted schedule: nobody waits, for every order of tries is played anyway; and a lease is shorter than a command may take. */
const EXHAUSTED = { clients: 2, lease: 300, wait: 0 } as const;
const EXHAUSTED_OPS = 2;
const MOST_EXHAUSTED_FAULTS = 3;

/** Undefined where schedules are to be drawn. Throws where what is asked for cannot be exhausted. */
function boundOf(flags: HuntFlags, given: Given): OrderBound | undefined {
  if (!flags.exhaustive) {
    if (flags.ops !== undefined)
      throw new UsageError('--ops is for --exhaustive: other schedules have as many operations as fit');
    if (given('reduction')) throw new UsageError('--no-reduction is for --exhaustive: other schedules are drawn');
    return undefined;
  }
  const faults = given('faults') ? flags.faults : '1';
  if (!/^\d$/.test(faults) || Number(faults) > MOST_EXHAUSTED_FAULTS)
    throw new UsageError(
      `--faults ${flags.faults}: with --exhaustive say how many there may be, from 0 to ${MOST_EXHAUSTED_FAULTS}; they are ${EXHAUSTED_FAULTS.join(', ')}`,
    );
  if (flags.topology !== 'single')
    throw new UsageError(`--exhaustive: only single can be exhausted, not ${flags.topology}`);
  if (!EXHAUSTED_WORKLOADS.includes(flags.workload))
    throw new UsageError(
      `--exhaustive: clients of ${EXHAUSTED_WORKLOADS.join(' or ')} can be led through every order, not of ${flags.workload}`,
    );
  const unfit = (['shard', 'confirm', 'runs', 'keys', 'hold', 'timeLimit', 'wait'] as const).find((flag) =>
    given(flag),
  );
  if (unfit !== undefined)
    throw new UsageError(`--exhaustive has no use for --${unfit === 'timeLimit' ? 'time-limit' : unfit}`);
  return { operations: flags.ops ?? EXHAUSTED_OPS, faults: Number(faults) };
}

type Given = (flag: string) => boolean;

/** With the lease and the time that suit each other and the topology, where they were not typed. */
function suited(typed: HuntFlags, given: Given): HuntFlags {
  const failoverMs = topologies[typed.topology]!.expectedFailoverMs;
  const isOurs = typed.workload === 'mutex' && !given('lease');
  const lease = isOurs
    ? Math.max(
        typed.lease,
        FAILOVERS_OF_A_LEASE * (failoverMs ?? 0),
        typed.persistence === 'aof-everysec' ? LEASE_OF_A_LOG_MS : 0,
      )
    : typed.lease;
  if (given('timeLimit')) return { ...typed, lease };
  const longestMs = lease * Math.max(1, longHolds(typed.hold).max);
  return { ...typed, lease, timeLimit: Math.max(HERE.timeLimit, BESIDE_LEASES_MS + LEASES_OF_A_SCHEDULE * longestMs) };
}

/** Throws where flags make no sense. */
export function askHunt(typed: HuntFlags, where: { argv: readonly string[]; cwd: string; given: Given }): AskedHunt {
  const bound = boundOf(typed, where.given);
  const fitting = (flag: keyof typeof EXHAUSTED) => (where.given(flag) ? typed[flag] : EXHAUSTED[flag]);
  const exhausted = bound && {
    clients: fitting('clients'),
    lease: fitting('lease'),
    wait: EXHAUSTED.wait,
    faults: 'none',
  };
  const flags = suited(
    { ...typed, ...exhausted },
    (flag) => where.given(flag) || (bound !== undefined && flag === 'lease'),
  );
  if (flags.timeLimit < LEAST_TIME_LIMIT_MS)
    throw new UsageError(
      `--time-limit must be at least ${seconds(LEAST_TIME_LIMIT_MS)}: a fault and what comes of it take some time`,
    );
  const named = where.given('faults') || bound ? flags.faults : searchedByDefault(flags.persistence).join(',');
  const faults = named === 'none' ? [] : named.split(',').map((name) => name.trim());
  const unknown = faults.find((name) => !SEARCHED.includes(name));
  if (unknown !== undefined)
    throw new UsageError(
      `--faults: "${unknown}" is not simulated; ${insteadOf(unknown, [...SEARCHED, 'none'], { list: 'list faults' })}`,
    );
  const { flags: others } = parseRunFlags([]);
  const {
    for: asked,
    runs,
    workers,
    shard,
    confirm,
    faults: _,
    config: __,
    exhaustive,
    ops,
    reduction,
    ...shared
  } = flags;
  const run = askRun(
    { ...others, ...shared, nemesis: 'none' },
    // What suits a hunt counts as typed, but for a workload that has values of its own.
    {
      ...where,
      given: (flag) => where.given(flag) || ((flags.workload === 'mutex' || bound !== undefined) && flag in HERE),
    },
  );
  const topology = planTopology(run.kind, run.settings.topologyOptions, run.settings.clients);
  const unfit = faults.length > 0 ? unsearchable(faults, topology) : undefined;
  if (unfit !== undefined) throw new UsageError(`--faults ${named}: ${unfit}`);
  // What these show is what a lock does when somebody comes back late.
  const hasHabits = flags.workload === 'mutex' && faults.includes('pause') && !where.given('hold');
  const forMs = asked ?? (runs === undefined && !bound ? DEFAULT_FOR_MS : undefined);
  return {
    run,
    topology,
    faults,
    shard,
    ...(hasHabits && { habits: HABITS }),
    ...(forMs !== undefined && { forMs }),
    ...(runs !== undefined && { runs }),
    ...(workers !== undefined && { workers }),
    ...(confirm !== undefined && { confirm }),
    ...(bound && { bound }),
  };
}
