/** Which configs can be replayed, and what is said of those that cannot. */
import { describe, expect, test } from 'vitest';
import { configProblem } from '../../../../cli/replay/original.js';
import { runConfigSchema } from '../../../../harness/record/schemas/config.js';
import { conformWhole } from '../../../../harness/record/schemas/conform.js';
import type { RunConfig } from '../../../../harness/vocabulary/run.js';
import { MIXED_HOLDS } from '../../../../workloads/hold-times.js';

const config: RunConfig = {
  version: 2,
  runId: 'a-run',
  startedAt: '2026-01-01T00:00:00.000Z',
  seed: 7,
  topology: 'sentinel',
  topologyOptions: { nodes: 5, persistence: 'rdb', minReplicasToWrite: 0, redisConf: [['maxmemory', '10mb']] },
  runtime: 'netns',
  lock: './my-lock.ts',
  cwd: '/home/user',
  workload: 'mutex',
  clients: 6,
  keys: ['lock:0'],
  leaseMs: 5_000,
  waitMs: 0,
  hold: { min: 0, max: 0.5 },
  careless: false,
  timeLimitMs: 20_000,
  nemesis: ['failover'],
  nemesisIntervalMs: 2_000,
  failOn: ['exclusion'],
  redis: { path: '/usr/bin/redis-server', env: {}, version: '7.0.15', origin: 'PATH' },
  clientArgv: ['node', 'main.js'],
  unavailable: {},
  reproduce: 'npm run torture -- --seed 7',
};

/** What `replay` says of a config. */
function problemWith(data: unknown): string | undefined {
  const { value, problem } = conformWhole(runConfigSchema, JSON.parse(JSON.stringify(data)));
  return problem ?? configProblem(value);
}

describe('a recorded config', () => {
  test('as it is written, with and without what may be missing', () => {
    const full = { ...config, replayOf: 'another', clockShim: '/cache/shim.so', unavailable: { clock: 'no compiler' } };
    const containers = { image: 'redis:8', clientImage: 'node:20', built: { server: 'a:1', client: 'b:2' } };
    const { briefWaitMs, ...patient } = MIXED_HOLDS;
    const opened = { ...MIXED_HOLDS, opening: { heldMs: 2_000, waitMs: 6_600, waiterLeaseMs: 300 } };
    for (const hold of [MIXED_HOLDS, patient, opened]) expect(problemWith({ ...config, hold })).toBeUndefined();
    for (const one of [config, full, { ...config, runtime: 'docker', containers }])
      expect(problemWith(one)).toBeUndefined();
  });

  test.each(Object.keys(config))('%s must be there', (name) => {
    const { [name as keyof RunConfig]: _, ...rest } = config;
    expect(problemWith(rest)).toMatch(new RegExp(`^${name}: missing, expected `));
  });

  test.each([
    ['clients', '6'],
    ['clients', 0],
    ['seed', -1],
    ['topology', 'ring'],
    ['workload', 'sleep'],
    ['keys', []],
    ['hold', { min: 0 }],
    ['hold', { ...MIXED_HOLDS, briefMs: { min: 0, max: 30 } }],
    ['hold', { ...MIXED_HOLDS, longShare: 2 }],
    ['hold', { ...MIXED_HOLDS, opening: { heldMs: 0, waitMs: 6_600, waiterLeaseMs: 300 } }],
    ['failOn', ['everything']],
    ['timeLimitMs', 10],
    ['runtime', 'cloud'],
    ['containers', { image: 'redis:8' }],
    ['topologyOptions', { ...config.topologyOptions, persistence: 'tape' }],
    ['topologyOptions', { ...config.topologyOptions, redisConf: [['maxmemory']] }],
  ])('%s cannot be %j', (name, value) => {
    expect(problemWith({ ...config, [name]: value })).toMatch(new RegExp(`^${name}\\S*: (missing, )?expected `));
  });

  test('an option that this version does not know is not dropped silently, however deep', () => {
    expect(problemWith({ ...config, quorum: 3 })).toBe('unknown field "quorum"');
    const topologyOptions = { ...config.topologyOptions, shards: 3 };
    expect(problemWith({ ...config, topologyOptions })).toBe('unknown field "shards"');
  });
});
