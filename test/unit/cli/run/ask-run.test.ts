/** From flags to what a run is to do, and from an earlier run to the same. */
import { describe, expect, test } from 'vitest';
import { askRun, askRunOn } from '../../../../cli/run/ask-run.js';
import { decideRun } from '../../../../cli/run/decide-run.js';
import { askSeries, parseRunFlags } from '../../../../cli/run/flags.js';
import { askMachine } from '../../../../cli/run/machine-flags.js';
import { requestOf } from '../../../../cli/run/prepare-run.js';
import { services } from '../../../../harness/topologies/services.js';
import type { Plan } from '../../../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../../../harness/vocabulary/run.js';
import { isMixed, MIXED_HOLDS } from '../../../../workloads/hold-times.js';
import { openingMs } from '../../../../workloads/opening.js';

const CWD = '/home/someone';

function asked(...argv: string[]) {
  const { flags, given } = parseRunFlags(argv);
  return askRun(flags, { argv, cwd: CWD, given });
}

describe('in virtual time', () => {
  const askedIn = (runtime: string, ...argv: string[]) => {
    const { flags, given } = parseRunFlags(argv);
    return askRunOn({ runtime }, flags, { argv, cwd: CWD, given });
  };

  test('a default run that would take minutes is shortened, and says so; one that was told how long it is to be is not', () => {
    const { settings } = askedIn('sim', '--topology', 'redlock');
    expect(settings.timeLimitMs).toBe(12_000);
    expect(settings.cut).toBe(
      '12 s of virtual time in place of 20 s, for its verdict to come within a minute; --time-limit 20s plays all',
    );
    const obeyed = askedIn('sim', '--topology', 'redlock', '--time-limit', '20s').settings;
    expect([obeyed.timeLimitMs, obeyed.cut]).toEqual([20_000, undefined]);
    const short = askedIn('sim', '--topology', 'single').settings;
    expect([short.timeLimitMs, short.cut]).toEqual([20_000, undefined]);
    expect(askedIn('netns', '--topology', 'redlock')).toEqual(asked('--topology', 'redlock'));
  });

  test('what repeats it names the runtime, for another machine may have real time', () => {
    const reproduce = (...argv: string[]) => decideRun(askedIn('sim', ...argv), {}, 7).request.reproduce;
    expect(reproduce('--clients', '3')).toMatch(/ --clients 3 --runtime sim --seed 7$/);
    expect(reproduce('--runtime', 'sim')).toMatch(/-- --runtime sim --seed 7$/);
  });
});

describe('what is asked for', () => {
  test('a workload fills in what was not typed', () => {
    const { settings } = asked('--workload', 'fenced-resource', '--clients', '4');
    expect(settings).toMatchObject({ lock: 'fenced', clients: 4, resource: 'checking' });
  });

  test('a lease that is not asked for is not whole seconds, so that one in the wrong unit shows', () => {
    expect(asked().settings.leaseMs % 1_000).not.toBe(0);
    expect(asked('--hold', '0.4x..0.8x').settings.leaseMs % 1_000).not.toBe(0);
    expect(asked('--lease', '5s').settings.leaseMs).toBe(5_000);
  });

  test('is half as long where holds are mixed and nothing has to outlast a failover', () => {
    const lease = (...argv: string[]) => asked(...argv).settings.leaseMs;
    expect(lease()).toBe(2_300);
    expect(lease('--workload', 'fair')).toBe(2_300);
    expect(lease('--lease', '3s')).toBe(3_000);
    expect(lease('--lease', '4700ms')).toBe(4_700);
    for (const topology of ['replica', 'sentinel', 'cluster', 'redlock'])
      expect(lease('--topology', topology)).toBe(4_700);
    expect(lease('--service', 'etcd', '--topology', 'single')).toBe(4_700);
    expect(lease('--workload', 'try')).toBe(4_700);
    expect(lease('--workload', 'renewal')).toBe(2_000);
    expect(lease('--hold', '0.4x..0.8x')).toBe(4_700);
  });

  test('a default does not warn of itself; a lease that hides what failovers lose is warned of', () => {
    const warnings = (...argv: string[]) => decideRun(asked(...argv), {}, 1).warnings;
    for (const { name, topologies } of Object.values(services))
      for (const topology of Object.keys(topologies))
        expect(warnings('--service', name, '--topology', topology), `${name}, ${topology}`).toEqual([]);
    expect(warnings('--topology', 'sentinel', '--lease', '3s')).toEqual([
      'a lease of 3000 ms is below two and a half failovers (4000 ms): many holds end before the lock can be granted again, so little can be found',
    ]);
  });

  test('without --hold holds are mixed, with more clients and keys beside the long ones', () => {
    const { hold, clients, keys } = asked().settings;
    expect({ hold, clients, keys: keys.length }).toEqual({ hold: MIXED_HOLDS, clients: 8, keys: 8 });
    expect(asked('--clients', '3', '--keys', '2').settings).toMatchObject({ clients: 3, keys: ['lock:0', 'lock:1'] });
  });

  test('--hold means what it says, and so does what a workload says itself', () => {
    const { hold, clients, keys, waitMs } = asked('--hold', '0.02x..0.7x').settings;
    expect({ hold, clients, keys: keys.length, waitMs }).toEqual({
      hold: { min: 0.02, max: 0.7 },
      clients: 6,
      keys: 3,
      waitMs: 1_000,
    });
    for (const workload of ['renewal', 'singleton-job', 'late-release', 'try', 'multi'])
      expect(asked('--workload', workload).settings.hold).toMatchObject({ min: expect.any(Number) });
    const { hold: fairHold, keys: fairKeys, waitMs: fairWaitMs } = asked('--workload', 'fair').settings;
    const { briefWaitMs: _wait, briefTries: _tries, ...waitsItsTurn } = MIXED_HOLDS;
    expect({ hold: fairHold, keys: fairKeys, waitMs: fairWaitMs }).toEqual({
      hold: waitsItsTurn,
      keys: ['lock:0'],
      waitMs: 10_000,
    });
    expect(asked('--workload', 'read-write').settings).toMatchObject({ hold: MIXED_HOLDS, keys: ['lock:0', 'lock:1'] });
  });

  describe('opens with a wait', () => {
    const decided = (...argv: string[]) => {
      const { request, plan } = decideRun(asked(...argv), {}, 7);
      return { opening: isMixed(request.hold) ? request.hold.opening : undefined, steps: plan.steps as At[], request };
    };
    type At = Extract<Plan['steps'][number], { atMs: number }>;
    const kills = ({ steps }: ReturnType<typeof decided>) =>
      steps.filter(({ fault, target }) => fault === 'kill' && typeof target === 'object');

    test('on single, for a holder that is killed, and nothing else strikes before it is over', () => {
      for (const argv of [[], ['--workload', 'reentrant'], ['--time-limit', '60s']]) {
        const { opening, steps } = decided(...argv);
        const [first, ...others] = steps;
        expect(first).toMatchObject({ atMs: 0, fault: 'kill', target: { names: ['c1'] } });
        for (const { atMs } of others) expect(1_500 + atMs).toBeGreaterThanOrEqual(openingMs(opening!));
      }
    });

    test('where nothing strikes, for one that lets go', () => {
      for (const topology of ['single', 'sentinel', 'cluster']) {
        const { opening, steps } = decided('--nemesis', 'none', '--topology', topology);
        expect(opening).toBeDefined();
        expect(steps).toEqual([]);
      }
    });

    test.each([
      [['--topology', 'sentinel']],
      [['--topology', 'redlock', '--nemesis', 'none']],
      [['--service', 'etcd', '--nemesis', 'none']],
      [['--time-limit', '8s']],
      [['--nemesis', 'kill:holder']],
      [['--hold', '0.1x..0.2x']],
      [['--callers', '2']],
      [['--clients', '3']],
      [['--workload', 'read-write']],
      [['--workload', 'crash']],
    ])('but not with %j', (argv) => {
      const run = decided(...argv);
      expect(run.opening).toBeUndefined();
      expect(kills(run)).toEqual([]);
    });

    test('and again where the run is repeated', () => {
      const { request } = decided();
      expect(requestOf(request as RunConfig).hold).toEqual(request.hold);
    });
  });

  test('--wait is what every acquire waits', () => {
    const { hold, waitMs } = asked('--wait', '50ms').settings;
    expect(waitMs).toBe(50);
    expect(hold).not.toHaveProperty('briefWaitMs');
    expect(hold).not.toHaveProperty('briefTries');
    expect(hold).toHaveProperty('briefMs');
  });

  test('paths are absolute, and a plan takes the place of a nemesis', () => {
    const { faults } = asked('--plan', 'plan.json');
    expect(faults).toEqual({ planFile: `${CWD}/plan.json`, named: 'plan.json' });
    const { flags } = parseRunFlags(['--redis', 'bin/redis-server', '--out', 'here']);
    expect(askMachine(flags, CWD).server).toBe(`${CWD}/bin/redis-server`);
    expect(askSeries(flags, CWD)).toMatchObject({ base: `${CWD}/here`, json: false, untilViolation: false });
  });

  test('a server is a name, or a path', () => {
    const server = (...argv: string[]) => askMachine(parseRunFlags(argv).flags, CWD).server;
    expect(server('--server', 'valkey@9')).toBe('valkey@9');
    expect(server('--server', './valkey@9')).toBe(`${CWD}/valkey@9`);
    expect(server()).toBeUndefined();
    expect(() => server('--server', 'valkey@9', '--redis', '/bin/redis-server')).toThrow('give one of them');
  });

  test.each([
    [['--workload', 'nothing'], 'no workload "nothing"'],
    [['--time-limit', '1s'], '--time-limit must be at least'],
    [['--plan', 'plan.json', '--nemesis', 'kill'], 'leave out --nemesis'],
    [['--nodes', '3'], '--nodes is for the redlock or redlock-sentinel topology'],
    [['--min-replicas-to-write', '1'], 'has no replicas'],
    [['--lock', 'redlock'], 'makes no sense on topology single'],
    [['--resource', 'checking'], '--resource is for workloads'],
    [['--workload', 'multi', '--keys', '1'], 'clients of multi take 2 locks at once'],
  ])('%j is refused', (argv, why) => {
    expect(() => asked(...argv)).toThrow(why);
  });
});

test('a request holds the seed, the faults and the command that repeats it', () => {
  const { request, plan } = decideRun(asked('--nemesis', 'pause:client', '--times', '3'), {}, 7);
  expect(request).toMatchObject({ seed: 7, nemesis: ['pause:client'] });
  expect(request.reproduce).toBe('npm run torture -- --nemesis pause:client --seed 7');
  expect(plan.seed).toBe(7);
});

describe('--tls', () => {
  test('is in what the servers are set up by, and a default run leaves nothing out', () => {
    const { request, warnings } = decideRun(asked('--topology', 'sentinel', '--tls'), {}, 7);
    expect(request.topologyOptions.tls).toBe(true);
    expect(warnings).toEqual([]);
    expect(decideRun(asked('--topology', 'sentinel'), {}, 7).request.topologyOptions).not.toHaveProperty('tls');
  });

  test.each([
    [['--runtime', 'sim'], '--tls needs real time'],
    [['--service', 'etcd'], '--tls is for Redis, not for etcd'],
    [['--lock', 'rust/rslock'], 'lock rust/rslock cannot be run with --tls: its Rust adapters connect in plain text'],
  ])('%j is refused', (argv, why) => {
    expect(() => asked('--tls', ...argv)).toThrow(why);
  });

  test('is refused where this machine has virtual time only', () => {
    const { flags, given } = parseRunFlags(['--tls']);
    const where = { argv: ['--tls'], cwd: CWD, given };
    expect(() => askRunOn({ runtime: 'sim' }, flags, where)).toThrow('--tls needs real time');
    expect(askRunOn({ runtime: 'netns' }, flags, where)).toEqual(asked('--tls'));
  });

  test('a fault that reads answers on their way is refused, or left out of all', () => {
    const unreadable = 'nobody can read on its way which answer a server gives';
    expect(() => decideRun(asked('--tls', '--nemesis', 'reset-on-reply'), {}, 7)).toThrow(unreadable);
    const { request, warnings } = decideRun(asked('--tls', '--nemesis', 'all'), {}, 7);
    expect(request.nemesis).not.toContain('reset-on-reply');
    expect(warnings).toContainEqual(expect.stringContaining(`left out reset-on-reply: with --tls ${unreadable}`));
    expect(decideRun(asked('--nemesis', 'reset-on-reply'), {}, 7).request.nemesis).toEqual(['reset-on-reply']);
  });
});

test('every run draws a password of its own', () => {
  const passwords = [1, 2].map((seed) => decideRun(asked('--auth'), {}, seed).request.topologyOptions.password);
  expect(new Set(passwords).size).toBe(2);
});

test('a replay does all that its original did, on the machine as it is now', () => {
  const argv = ['--workload', 'fenced-resource', '--resource', 'checking', '--stop-at-first'];
  const { request } = decideRun(asked(...argv), {}, 7);
  const config: RunConfig = {
    version: 2,
    runId: 'r',
    startedAt: 'then',
    clientArgv: ['node'],
    runtime: 'netns',
    redis: { path: '/bin/redis-server', env: {}, version: '8', origin: 'PATH' },
    unavailable: {},
    ...request,
  };
  expect(requestOf(config)).toEqual(request);
});
