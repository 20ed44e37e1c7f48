/** What plain runs must say, by area: the cases of `npm run bench -- accept <area>`. */
import { argvOfPlace } from '../cli/batches/matrix-cells.js';
import { isCaught } from '../cli/batches/selftest-jobs.js';
import { blamedOn } from '../harness/record/facts/blame.js';
import type { LockDefinition } from '../harness/vocabulary/lock.js';
import type { LockModel } from '../harness/vocabulary/protocol.js';
import type { Results } from '../harness/vocabulary/verdict.js';
import { externalLocks } from '../lock-impl/external/index.js';
import { builtinLock } from '../lock-impl/index.js';
import { trials } from '../selftest/index.js';
import type { Trial } from '../selftest/trial.js';
import { workloads } from '../workloads/index.js';
import { servicesClaims } from './claims-services.js';

/** Runs, and what is claimed of them. */
export interface ClaimedRuns {
  /** Flags of `run` for each case, and what they are called. */
  cases: readonly { name: string; argv: readonly string[] }[];
  /** Each case is run once with each. */
  seeds: readonly number[];
  claims: readonly Claim[];
}

export interface Claim {
  /** To follow "42 of 53 canaries: ". */
  what: string;
  /** Whether each run has to say it, or of each case one. */
  of: 'runs' | 'cases';
  /** How many of them must say it. */
  least: number;
  says(results: Results, name: string): boolean;
}

/** Locks with one mistake each, in the workload of their model. */
const KNOWN_BAD: Record<string, string> = {
  'lease-in-seconds': 'mutex',
  'shared-owner': 'mutex',
  'negative-expiry': 'mutex',
  'refusal-ignored': 'mutex',
  'granted-from-memory': 'mutex',
  'swapped-arguments': 'mutex',
  'abandoned-ticket': 'mutex',
  'fence-per-client': 'fenced-resource',
  'token-before-wait': 'fenced-resource',
  'queue-jumper': 'fair',
};

/** Locks whose mistakes need no fault to show. */
const WRONG_BY_THEMSELVES = [
  'refusal-ignored',
  'token-before-wait',
  'overstayed-try',
  'wall-clock-stamps',
  'abandoned-ticket',
];

const TEN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const TWENTY = [...TEN, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20];

const onSingle = (lock: string) => ['--lock', lock, '--topology', 'single'];

const FIVE = [1, 2, 3, 4, 5];

/** Long holds, so that whoever is granted a lock that was lost finds its holder at work. */
const HELD_LONG = ['--hold', '0.4x..0.8x', '--wait', '3s'];
/**
 * RedissonRedLock asks one node after the other, and tries some ten seconds at each that is out of reach: of three nodes one is
 * cut off, and leases are long enough to be granted meanwhile.
 */
const PATIENT_REDLOCK = [
  ...['--topology', 'redlock', '--nodes', '3', '--persistence', 'none', '--clients', '2', '--keys', '1'],
  ...['--lease', '40s', '--wait', '15s', '--hold', '0.6x..0.75x', '--time-limit', '75s'],
  ...['--plan', 'bench/plans/a-grantor-forgets.json'],
];

/** Breaks by itself where a holder is late, which some always are: it has a claim of its own. */
const SHEDLOCK = 'spring/shedlock';

/** Locks of other languages, and where each is tried while nothing fails. */
const OF_OTHER_LANGUAGES = Object.entries(externalLocks)
  .filter(([name]) => name !== SHEDLOCK)
  .map(([name, { topologies }]) => ({
    name,
    argv: [
      // A lease that leaves time: clients of a busy machine are late by themselves.
      ...['--lock', name, ...argvOfPlace(topologies[0]!), '--nemesis', 'none', '--time-limit', '8s', '--lease', '9.7s'],
      ...(/semaphore|permit/.test(name) ? ['--workload', 'semaphore'] : []),
    ],
  }));

const stopped = (lock: string) => ({
  name: lock,
  argv: [...onSingle(lock), '--nemesis', 'pause:client', '--lease', '2s', '--hold', '0.4x..0.7x'],
});

/** Locks that are held for long: one that is lost is asked for while it is still held. */
const AFTER_A_POWER_CUT = ['--topology', 'single', '--nemesis', 'power-cut', '--hold', '0.4x..0.7x'];
/** By one client at a time: of several that ask a server that has just come back its record does not tell who was granted. */
const TWO_CLIENTS = ['--keys', '1', '--clients', '2'];

export const areas: Record<string, () => Promise<readonly ClaimedRuns[]>> = {
  services: async () => servicesClaims,
  truth: async () => [
    {
      cases: await Promise.all(WRONG_BY_THEMSELVES.map((name) => withoutFaults(name))),
      seeds: [1, 2, 3],
      claims: [
        {
          what: 'a lock that is wrong without any fault is found by a plain run without faults, with the cause',
          of: 'runs',
          least: 3 * WRONG_BY_THEMSELVES.length,
          says: (results, name) => isCaught(results, trialOf(name).caught),
        },
      ],
    },
    {
      cases: await Promise.all(WRONG_BY_THEMSELVES.map((name) => withoutFaults(`${name}-mended`))),
      seeds: [1, 2, 3],
      claims: [
        {
          what: 'its mended twin holds',
          of: 'runs',
          least: 3 * WRONG_BY_THEMSELVES.length,
          says: ({ verdict }) => verdict === 'held',
        },
      ],
    },
  ],
  blame: async () => [
    {
      cases: Object.entries(KNOWN_BAD).map(([name, workload]) => canaryCase(name, 'single', workload)),
      seeds: [1, 2, 3],
      claims: [
        {
          what: "the first thing that a plain run of a known-bad lock on single says is the lock's own mistake",
          of: 'runs',
          least: 27,
          says: saysLockFirst,
        },
      ],
    },
  ],
  plain: async () => [
    {
      cases: await Promise.all(trials.map(({ canary }) => plainCase(canary))),
      seeds: [1, 2],
      claims: [
        {
          what: 'one of two plain runs of a canary finds its mistake',
          of: 'cases',
          least: Math.ceil(trials.length * 0.9),
          says: (results, name) => saysLockFirst(results) || isCaught(results, trialOf(name).caught),
        },
        {
          what: "the first thing that one of two plain runs of a canary says is the lock's own mistake",
          of: 'cases',
          least: Math.ceil(trials.length * 0.9),
          says: (results, name) => saysLockFirst(results) || saysUntoldFirst(results, trialOf(name).caught),
        },
      ],
    },
  ],
  languages: async () => [
    {
      cases: [
        {
          name: 'rlock-no-sync, failover',
          argv: [
            ...['--lock', 'redisson/rlock-no-sync', '--topology', 'sentinel', '--nemesis', 'failover'],
            // It moves to the new primary within two seconds: what is granted in these is lost, which takes many keys.
            ...[...HELD_LONG, '--time-limit', '25s', '--clients', '10', '--keys', '5'],
          ],
        },
      ],
      seeds: TEN,
      claims: [
        {
          what: 'a failover loses a grant of RLock that is not held against its replicas, with the cause',
          of: 'runs',
          least: 8,
          // It asks the replicas and looks at no answer: the record shows now and then that none had it.
          says: isBrokenBy('failover-lost-write', 'granted-unacknowledged'),
        },
      ],
    },
    {
      cases: [{ name: 'redlock, a grantor forgets', argv: ['--lock', 'redisson/redlock', ...PATIENT_REDLOCK] }],
      seeds: TEN,
      claims: [
        {
          what: 'a node that forgets what it granted breaks the exclusion of RedissonRedLock, with the cause',
          of: 'runs',
          least: 8,
          says: isBrokenBy('node-forgot'),
        },
      ],
    },
    {
      cases: [
        {
          name: 'rlock, failover',
          argv: [
            ...['--lock', 'redisson/rlock', '--topology', 'sentinel', '--nemesis', 'failover'],
            ...['--time-limit', '25s'],
          ],
        },
      ],
      seeds: FIVE,
      claims: [
        {
          what: 'RLock, with its defaults, keeps exclusion in a failover or refuses',
          of: 'runs',
          least: 5,
          says: ({ verdict, violations }) => verdict !== 'unknown' && brokenExclusions(violations).length === 0,
        },
      ],
    },
    {
      cases: [
        {
          name: 'watchdog, paused',
          argv: [
            ...[...onSingle('redisson/watchdog'), '--nemesis', 'pause:client', '--lease', '2s'],
            ...['--hold', '1.2x..2.5x', '--wait', '3s', '--clients', '4', '--keys', '2'],
          ],
        },
      ],
      seeds: FIVE,
      claims: [
        {
          what: 'a client that is stopped is not renewed by its watchdog: a stale holder, with the cause',
          of: 'runs',
          least: 5,
          says: ({ violations }) =>
            violations.some((one) => one.class === 'stale' && one.cause.name === 'client-paused') &&
            brokenExclusions(violations).length === 0,
        },
      ],
    },
    {
      cases: [
        {
          name: 'fenced, a server that forgets',
          argv: [
            ...[...onSingle('redisson/fenced'), '--workload', 'fenced-resource', '--nemesis', 'amnesia'],
            ...['--persistence', 'none', ...HELD_LONG, '--clients', '4', '--keys', '2'],
          ],
        },
      ],
      seeds: FIVE,
      claims: [
        {
          what: 'the tokens of RFencedLock fall back after a loss of data, and a resource could not tell two holders apart',
          of: 'runs',
          least: 5,
          says: ({ violations }) => violations.some((one) => one.class === 'harm'),
        },
      ],
    },
    {
      cases: OF_OTHER_LANGUAGES,
      seeds: [1],
      claims: [
        {
          what: 'a lock of another language holds while nothing fails',
          of: 'runs',
          least: OF_OTHER_LANGUAGES.length,
          says: ({ violations }) => violations.every((one) => one.class === 'liveness'),
        },
      ],
    },
    {
      cases: [
        {
          name: 'shedlock, late',
          argv: [
            ...[...onSingle(SHEDLOCK), '--nemesis', 'none', '--careless'],
            ...['--hold', '0.5x..1.5x', '--lease', '1s'],
          ],
        },
      ],
      seeds: FIVE,
      claims: [
        {
          what: 'a late unlock of ShedLock deletes the lock of the next holder, and is named',
          of: 'runs',
          least: 4,
          says: isReleasedByOther,
        },
      ],
    },
    {
      cases: [
        ...['spring/lock-registry', 'go/redsync', 'go/redislock'],
        ...['python/redis-py', 'python/python-redis-lock', 'rust/rslock'],
      ].map(stopped),
      seeds: [1, 2],
      claims: [
        {
          what: 'a client that is stopped past its lease is a stale holder in any language, with the cause',
          of: 'runs',
          least: 11,
          says: ({ violations }) =>
            violations.some((one) => one.class === 'stale' && one.cause.name === 'client-paused'),
        },
      ],
    },
  ],
  faults: async () => [
    {
      cases: [{ name: 'reset-on-reply', argv: [...onSingle('broken/resent-del'), '--nemesis', 'reset-on-reply'] }],
      seeds: TEN,
      claims: [
        {
          what: 'a DEL that the client sends again on a new connection deletes what was granted since, and is named',
          of: 'runs',
          least: 9,
          says: isBrokenBy('released-by-other', 'released-by-itself'),
        },
      ],
    },
    {
      cases: [
        {
          name: 'delay',
          argv: [
            ...onSingle('set-nx-px-get-del'),
            '--nemesis',
            'delay:client',
            '--lease',
            '1s',
            '--hold',
            '0.5x..0.9x',
          ],
        },
      ],
      seeds: TEN,
      claims: [
        {
          what: 'one slow link at a time shows that between GET and DEL a lock may expire and be taken, with the cause',
          of: 'runs',
          least: 8,
          says: isReleasedByOther,
        },
      ],
    },
    {
      // It shows when the old primary is made to follow, which takes Sentinel ten seconds: three times in a run.
      cases: [
        {
          name: 'sentinel-failover',
          argv: ['--topology', 'sentinel', '--nemesis', 'sentinel-failover', '--time-limit', '45s'],
        },
      ],
      seeds: TEN,
      claims: [
        {
          what: 'a failover that is planned by Sentinel breaks exclusion, with a cause',
          of: 'runs',
          least: 9,
          says: ({ violations }) => brokenExclusions(violations).some(({ cause }) => cause.name !== 'unexplained'),
        },
      ],
    },
    {
      cases: [{ name: 'failover-to', argv: ['--topology', 'replica', '--nemesis', 'failover-to'] }],
      seeds: TWENTY,
      claims: [
        {
          what: 'a handover by the primary breaks nothing',
          of: 'runs',
          least: 20,
          says: ({ verdict, violations }) => verdict !== 'unknown' && brokenExclusions(violations).length === 0,
        },
      ],
    },
    {
      cases: [
        { name: 'power-cut, everysec', argv: [...AFTER_A_POWER_CUT, ...TWO_CLIENTS, '--persistence', 'aof-everysec'] },
      ],
      seeds: TEN,
      claims: [
        {
          what: 'a power cut right after a grant makes a server forget it that syncs its log every second',
          of: 'runs',
          least: 9,
          says: ({ violations }) => brokenExclusions(violations).some(({ cause }) => cause.name === 'node-forgot'),
        },
      ],
    },
    {
      cases: [
        { name: 'power-cut, always', argv: [...AFTER_A_POWER_CUT, '--keys', '2', '--persistence', 'aof-always'] },
      ],
      seeds: TWENTY,
      claims: [
        {
          what: 'a power cut breaks nothing where the log is synced with every write',
          of: 'runs',
          least: 20,
          says: ({ verdict, violations }) => verdict !== 'unknown' && brokenExclusions(violations).length === 0,
        },
      ],
    },
  ],
};

function saysLockFirst({ verdict, violations: [first] }: Results): boolean {
  return verdict === 'violated' && first !== undefined && blamedOn(first) === 'lock';
}

/** Where a client's answers cannot be believed no lock can be accused: what its author has to mend is then what is said first. */
function saysUntoldFirst(results: Results, caught: Trial['caught']): boolean {
  return (
    'verdict' in caught && isCaught(results, caught) && /^Cannot tell: .*\bbroke the protocol\b/.test(results.headline)
  );
}

function isBrokenBy(...causes: string[]): (results: Results) => boolean {
  return ({ violations }) => brokenExclusions(violations).some(({ cause }) => causes.includes(cause.name));
}

const isReleasedByOther = isBrokenBy('released-by-other');

function brokenExclusions(violations: Results['violations']): Results['violations'] {
  return violations.filter((one) => one.class === 'exclusion');
}

function canaryCase(name: string, topology: string, workload: string): ClaimedRuns['cases'][number] {
  return { name, argv: ['--lock', `broken/${name}`, '--topology', topology, '--workload', workload] };
}

/** A canary as somebody would try it who knows nothing of its mistake: where it is for, with what it says it is. */
async function plainCase(name: string): Promise<ClaimedRuns['cases'][number]> {
  const { modulePath, topologies } = builtinLock(`broken/${name}`)!;
  const { default: lock } = (await import(modulePath)) as { default: LockDefinition };
  return canaryCase(name, topologies[0]!, workloadFor(lock.model?.kind ?? 'mutex'));
}

async function withoutFaults(name: string): Promise<ClaimedRuns['cases'][number]> {
  const plain = await plainCase(name);
  return { name, argv: [...plain.argv, '--nemesis', 'none'] };
}

/** The first workload that takes a lock for this. */
function workloadFor(kind: LockModel['kind']): string {
  const workload = Object.values(workloads).find(({ model }) => model.kind === kind);
  if (!workload) throw new Error(`no workload takes a lock for ${kind}`);
  return workload.name;
}

function trialOf(name: string) {
  return trials.find(({ canary }) => canary === name)!;
}
