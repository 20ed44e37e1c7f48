/**
 * Every fault once against a real deployment, its proof and its heal checked from outside the fault's own code.
 *
 * @module-tag namespaces
 */
// biome-ignore-all lint/suspicious/noThenProperty: a word in a plan, never a function
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientProgram } from '../../harness/client/program.js';
import { buildClockShim } from '../../harness/machine/clock-shim.js';
import { buildDurableShim } from '../../harness/machine/durable-shim.js';
import { buildLinkShaper } from '../../harness/machine/link-shaper.js';
import { cacheFolder, findRedis } from '../../harness/machine/redis-binary.js';
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import { faults } from '../../nemesis/index.js';
import { BUNDLED, jobInside } from '../support/job-inside.js';
import { namedServerHere } from '../support/named-server.js';
import type { Job, Probe, Seen } from '../support/nemesis/inside.js';
import { freshFolder, historyOf, start } from '../support/torture.js';

const support = fileURLToPath(new URL('../support', import.meta.url));
const root = join(support, '../..');
const LONG_MS = 60_000;
const say = (line: string) => process.stderr.write(`${line}\n`);

interface Case {
  name: string;
  step: Omit<PlanStep, 'atMs'>;
  /** Each probe with what it must answer while the fault is in force; healed, it answers as before, or as said here. */
  expected: [Probe, during: unknown, after?: unknown][];
  targets: string[];
  proof: string;
  /** What the record of the heal must say. */
  healed?: string;
}

/** Faults that are looked at when they have done all that they do. */
const ENDS_BY_ITSELF = new Set(['reload', 'failover-to', 'sentinel-failover', 'cluster-failover']);
const PONG = '+PONG';
const CUT = 'unreachable';
const names = (...who: string[]) => ({ names: who });

const onSentinel: Case[] = [
  {
    name: 'kill a replica',
    step: { fault: 'kill', target: names('r2'), forMs: LONG_MS },
    expected: [
      [['state', 'r2'], 'dead'],
      [['reach', 'c1', 'r2'], CUT],
      [['reach', 'c1', 'r1'], PONG],
    ],
    targets: ['r2'],
    proof: 'is dead',
  },
  {
    name: 'pause a Sentinel',
    step: { fault: 'pause', target: names('s3'), forMs: LONG_MS },
    expected: [
      [['state', 's3'], 'stopped'],
      [['reach', 'c1', 's3'], CUT],
    ],
    targets: ['s3'],
    proof: 'is stopped',
  },
  {
    name: 'pause a client',
    step: { fault: 'pause', target: names('c2'), forMs: LONG_MS },
    expected: [
      [['state', 'c2'], 'stopped'],
      [['state', 'c3'], 'running'],
    ],
    targets: ['c2'],
    proof: 'is stopped',
  },
  {
    name: 'partition a client both ways',
    step: { fault: 'partition', target: names('c1'), forMs: LONG_MS, args: { mode: 'both' } },
    expected: [
      [['hear', 'c1', 'r1'], false],
      [['hear', 'r1', 'c1'], false],
      [['reach', 'c1', 's1'], CUT],
      [['reach', 'c2', 'r1'], PONG],
    ],
    targets: ['c1'],
    proof: 'blackhole routes',
  },
  {
    name: 'partition out',
    step: { fault: 'partition', target: names('r3'), forMs: LONG_MS, args: { mode: 'out' } },
    expected: [
      [['hear', 'r3', 'r1'], false],
      [['hear', 'c1', 'r3'], true],
    ],
    targets: ['r3'],
    proof: 'blackhole routes',
  },
  {
    name: 'partition in',
    step: { fault: 'partition', target: names('r3'), forMs: LONG_MS, args: { mode: 'in' } },
    expected: [
      [['hear', 'r3', 'r1'], true],
      [['hear', 'c1', 'r3'], false],
    ],
    targets: ['r3'],
    proof: 'blackhole routes',
  },
  {
    name: 'partition one link',
    step: { fault: 'partition', target: names('r2', 'c1'), forMs: LONG_MS, args: { mode: 'link' } },
    expected: [
      [['hear', 'r2', 'c1'], false],
      [['hear', 'c1', 'r2'], false],
      [['reach', 'c1', 'r3'], PONG],
      [['reach', 'c2', 'r2'], PONG],
    ],
    targets: ['r2', 'c1'],
    proof: 'blackhole routes',
  },
  {
    name: 'a host off the network',
    step: { fault: 'partition', target: names('r2'), forMs: LONG_MS, args: { mode: 'off' } },
    expected: [
      [['hear', 'r2', 'c1'], false],
      [['hear', 'c1', 'r2'], false],
      [['reach', 'c1', 'r1'], PONG],
    ],
    targets: ['r2'],
    proof: "r2's eth0 is down",
  },
  {
    name: 'lag',
    step: { fault: 'lag', target: 'replica', forMs: LONG_MS },
    expected: [
      [['hear', 'r1', 'r2'], false],
      [['hear', 'r3', 'r1'], false],
      [['reach', 'c1', 'r2'], PONG],
      [['reach', 's1', 'r1'], PONG],
    ],
    targets: ['r2', 'r3'],
    proof: 'blackhole routes',
  },
  {
    name: 'kill a client',
    step: { fault: 'kill', target: names('c4'), forMs: LONG_MS },
    expected: [[['state', 'c4'], 'dead']],
    targets: ['c4'],
    proof: 'is dead',
  },
  {
    name: 'failover, isolated',
    step: { fault: 'failover', target: 'primary', forMs: LONG_MS, args: { then: 'isolate' } },
    expected: [
      [['hear', 'r1', 'r2'], false],
      [['hear', 's1', 'r1'], false],
      // Of four.
      [['clients', 'r1'], 2],
      [['state', 'r1'], 'running'],
    ],
    targets: ['r1'],
    proof: 'was read back as primary',
  },
];

/** On its own: it does not find the primary where the others left it. */
const failoverThenKill: Case = {
  name: 'failover, killed',
  step: { fault: 'failover', target: 'primary', forMs: 30_000, args: { then: 'kill' } },
  expected: [
    [['state', 'r1'], 'dead'],
    [['hear', 'r1', 'r2'], false],
    [['hear', 'c1', 'r1'], true],
  ],
  targets: ['r1'],
  proof: 'was read back as primary',
};

const onRedlock: Case[] = [
  {
    name: 'amnesia',
    step: { fault: 'amnesia', target: names('r2'), forMs: LONG_MS },
    expected: [
      [['state', 'r2'], 'dead'],
      [['marker', 'r2'], CUT, ':0'],
      [['marker', 'r1'], ':1'],
    ],
    targets: ['r2'],
    proof: 'nothing is left on its disk',
  },
  {
    name: 'a power cut, after which a server that syncs every write has them all',
    step: { fault: 'power-cut', target: names('r4'), forMs: LONG_MS },
    expected: [
      [['state', 'r4'], 'dead'],
      [['reach', 'c1', 'r4'], CUT],
      [['marker', 'r4'], CUT],
      [['marker', 'r1'], ':1'],
    ],
    targets: ['r4'],
    proof: 'its files are rebuilt: appendonlydir/',
    healed: 'r4 runs again',
  },
  {
    name: 'clock of a node',
    step: { fault: 'clock', target: names('r3'), forMs: LONG_MS, args: { offsetMs: 90_000 } },
    expected: [
      [['skew', 'r3'], 90],
      [['skew', 'r1'], 0],
    ],
    targets: ['r3'],
    proof: "r3's program says it is +",
  },
  {
    name: 'clock of a client, back',
    step: { fault: 'clock', target: names('c1'), forMs: LONG_MS, args: { offsetMs: -90_000 } },
    expected: [[['skew', 'r1'], 0]],
    targets: ['c1'],
    proof: 'program says it is -',
  },
  {
    name: 'drift of a node',
    step: { fault: 'drift', target: names('r3'), forMs: LONG_MS, args: { ratePpm: 1_000_000 } },
    expected: [
      [['gains', 'r3'], 1],
      [['gains', 'r1'], 0],
      [['skew', 'r1'], 0],
    ],
    targets: ['r3'],
    proof: 'of drift',
  },
  {
    name: 'drift of a client',
    step: { fault: 'drift', target: names('c2'), forMs: LONG_MS, args: { ratePpm: -500_000 } },
    expected: [[['skew', 'r3'], 0]],
    targets: ['c2'],
    proof: 'of drift',
  },
  {
    name: 'strobe of a node',
    step: { fault: 'strobe', target: names('r4'), forMs: LONG_MS, args: { offsetMs: 90_000, everyMs: 40 } },
    expected: [
      [['ends', 'r4'], [0, 90], [0]],
      [['ends', 'r5'], [0]],
    ],
    targets: ['r4'],
    proof: "and back: r4's program says it is",
    healed: 'seen where it should be after',
  },
  {
    name: 'a slow node',
    step: { fault: 'slow', target: names('r5'), forMs: LONG_MS, args: { pauseMs: 700, everyMs: 900 } },
    expected: [[['late', 'r5'], true]],
    targets: ['r5'],
    proof: 'its PING took',
    healed: 'was seen stopped',
  },
  {
    name: 'a slow client',
    step: { fault: 'slow', target: names('c3'), forMs: LONG_MS, args: { pauseMs: 50, everyMs: 100 } },
    expected: [[['state', 'r5'], 'running']],
    targets: ['c3'],
    proof: 'is stopped',
    healed: 'was seen stopped',
  },
  {
    name: 'lost replies',
    step: { fault: 'lost-reply', target: names('r2'), forMs: LONG_MS },
    expected: [
      [['hear', 'r2', 'c1'], false],
      [['hear', 'c1', 'r2'], true],
      [['reach', 'r1', 'r2'], PONG],
    ],
    targets: ['r2'],
    proof: 'lie unacknowledged in its kernel',
    healed: 'unanswered',
  },
];

/** On its own: it is over before it can be looked at. */
const rollingRestart: Case = {
  name: 'a rolling restart',
  step: { fault: 'reload', target: 'all', forMs: LONG_MS },
  expected: ['r1', 'r2', 'r3', 'r4', 'r5'].map((node) => [['run', node], undefined]),
  targets: ['r1'],
  proof: 'became pid',
};

/** What one link is put through; the way back and all other links are as they were. */
const onLinks: Case[] = (
  [
    ['delay', { delayMs: 100 }, '100 %, late'],
    ['loss', { lossPpm: 400_000 }, '60 %'],
    // A datagram takes 3 ms, headers included, and one is sent each ms: the fortieth waits for 80.
    ['rate', { rateKbps: 13 }, '100 %, late'],
    ['duplicate', { duplicatePpm: 400_000 }, '140 %'],
    ['reorder', { reorderPpm: 200_000, gapMs: 20 }, '100 %, overtaken'],
  ] as const
).map(([fault, args, out]) => ({
  name: fault,
  step: { fault, target: names('c1'), forMs: LONG_MS, args: { ...args, direction: 'out' } },
  expected: [
    [['come', 'c1', 'r1'], out],
    [['come', 'r1', 'c1'], '100 %'],
    [['come', 'c2', 'r1'], '100 %'],
  ],
  targets: ['c1'],
  proof: 'c1 to r1, r2, r3, r4, r5',
  healed: 'c1 sent',
}));

const onConnections: Case[] = [
  {
    name: 'connections reset',
    step: { fault: 'reset', target: names('r2'), forMs: LONG_MS },
    expected: [
      [['reach', 'c1', 'r2'], PONG],
      [['come', 'r2', 'c1'], '100 %'],
    ],
    targets: ['r2'],
    proof: 'listed by the kernels of both ends before, by neither after',
  },
  {
    name: 'answers lost with their connections',
    step: { fault: 'reset-on-reply', target: names('c2'), forMs: LONG_MS },
    // What c2 is answered meanwhile may be what is swallowed.
    expected: [[['reach', 'c1', 'r1'], PONG]],
    targets: ['c2'],
    proof: 'the answer was swallowed on its way',
  },
];

/** A failover is over when the old primary follows; nothing is undone. The marker is there still. */
const plannedOn = (fault: string, before: string, after: string): Case => ({
  name: `${fault} of ${before}`,
  step: { fault, target: names(before), forMs: LONG_MS },
  expected: [
    [['marker', after], ':1', ':1'],
    [['reach', 'c1', after], PONG],
  ],
  targets: [before],
  proof: 'was read back as primary',
  healed: `${before} follows `,
});

/** In this order: each finds the Cluster as the one before left it, whole, but with another primary for r1's slots. */
const onCluster: Case[] = [
  {
    name: 'failover, isolated',
    step: { fault: 'failover', target: 'primary', forMs: 30_000, args: { then: 'isolate' } },
    expected: [
      [['hear', 'r1', 'r2'], false],
      [['hear', 'r4', 'r1'], false],
      [['reach', 'c1', 'r1'], PONG],
      [['state', 'r1'], 'running'],
    ],
    targets: ['r1'],
    proof: 'r4 was read back as primary',
  },
  {
    name: 'failover, killed',
    step: { fault: 'failover', target: 'primary', forMs: 30_000, args: { then: 'kill' } },
    expected: [
      [['state', 'r4'], 'dead'],
      [['hear', 'r4', 'r1'], false],
      [['hear', 'r4', 'r2'], true],
    ],
    targets: ['r4'],
    proof: 'r1 was read back as primary',
  },
  {
    name: 'a primary forgets everything but the Cluster',
    step: { fault: 'amnesia', target: names('r2'), forMs: LONG_MS },
    expected: [
      [['state', 'r2'], 'dead'],
      [['reach', 'c1', 'r3'], PONG],
    ],
    targets: ['r2'],
    proof: 'nothing is left on its disk',
  },
];

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lock-torture-nemesis-'));
  await build({
    ...BUNDLED,
    outdir: folder,
    entryPoints: [
      join(support, 'nemesis/inside.ts'),
      ...['harness/client/main.ts', 'lock-impl/set-nx-px.ts', 'lock-impl/redlock.ts'].map((path) => join(root, path)),
    ],
    outbase: root,
    outExtension: { '.js': '.mjs' },
  });
  // A program of its own, which `replica` starts from beside itself.
  await build({
    ...BUNDLED,
    entryPoints: [join(root, 'harness/topologies/failover-manager/main.ts')],
    outdir: join(folder, 'test/support/nemesis'),
  });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function strikeAll(topology: string, lock: string, cases: readonly Case[], leaseMs: number): Promise<Seen[]> {
  const shim = await buildClockShim({ cacheFolder: cacheFolder(), say });
  const durable = await buildDurableShim({ cacheFolder: cacheFolder(), say });
  const shaper = await buildLinkShaper({ cacheFolder: cacheFolder(), say });
  const job: Job = {
    topology,
    lock,
    folder: mkdtempSync(join(folder, 'run-')),
    redis: await findRedis({ cacheFolder: cacheFolder(), say }),
    ...('path' in shim && { clockShim: shim.path }),
    ...('path' in durable && { durableShim: durable.path }),
    ...('path' in shaper && { linkShaper: shaper.path }),
    clientArgv: clientProgram([
      process.execPath,
      join(folder, 'harness/client/main.mjs'),
      join(folder, `lock-impl/${lock}.mjs`),
    ]),
    leaseMs,
    cases: cases.map(({ name, step, expected }) => ({
      name,
      step: { atMs: 0, ...step },
      ...(ENDS_BY_ITSELF.has(step.fault) && { whole: true }),
      probes: expected.map(([probe]) => probe),
    })),
  };
  return jobInside<Seen>(join(folder, 'test/support/nemesis/inside.mjs'), job);
}

function check(one: Case, seen: Seen): void {
  const strike = seen.notes.find((note) => note.state !== 'phase');
  expect(strike, JSON.stringify(seen)).toMatchObject({ state: 'strike' });
  // A client that lost its connection to an earlier fault has come back under another name.
  expect(strike!.targets.map((name) => name.replace(/\.\d+$/, ''))).toEqual(one.targets);
  expect(strike!.proof).toContain(one.proof);
  const told = seen.notes.flatMap(({ effects }) => effects.map(({ kind }) => kind));
  expect(told.length, seen.name).toBeGreaterThan(0);
  expect(told.filter((kind) => !faults[one.step.fault]!.effects.includes(kind))).toEqual([]);
  expect(seen.during, seen.name).toEqual(one.expected.map(([, value]) => value));
  expect(seen.notes.at(-1)!.state).toBe('heal');
  if (one.healed) expect(seen.notes.at(-1)!.proof).toContain(one.healed);
  expect(seen.after).toEqual(one.expected.map(([, , after], at) => after ?? seen.before[at]));
  expect(seen.unhealed).toEqual([]);
  expect(seen.missing).toEqual([]);
}

describe('faults on real servers', () => {
  it('sentinel: each strikes as it says and is healed', { tags: ['native'] }, async () => {
    const seen = await strikeAll('sentinel', 'set-nx-px', onSentinel, 1_500);
    expect(seen.map(({ name }) => name)).toEqual(onSentinel.map(({ name }) => name));
    for (const [at, one] of onSentinel.entries()) check(one, seen[at]!);
  });

  it('redlock: links degrade in one direction, and connections are reset', { tags: ['native'] }, async () => {
    const cases = [...onLinks, ...onConnections];
    const seen = await strikeAll('redlock', 'redlock', cases, 1_500);
    for (const [at, one] of cases.entries()) check(one, seen[at]!);
  });

  it('sentinel: the primary is replaced, then killed while a lock is held that its successor does not know', async () => {
    const [seen] = await strikeAll('sentinel', 'set-nx-px', [failoverThenKill], 3_000);
    check(failoverThenKill, seen!);
    expect(seen!.notes.find((note) => note.state === 'strike')!.proof).toMatch(
      /c\d\S* holds lock:\d, granted after the cut and unknown to r[23]/,
    );
  });

  it('cluster: a primary is replaced by a replica that lags, and a node that was away rejoins', async () => {
    const seen = await strikeAll('cluster', 'set-nx-px', onCluster, 5_000);
    for (const [at, one] of onCluster.entries()) check(one, seen[at]!);
    for (const one of seen.slice(0, 2)) {
      const { proof } = one.notes.find((note) => note.state === 'strike')!;
      expect(proof).toMatch(/c\d\S* holds lock:\d, .*granted after the cut and unknown to r[14]/);
    }
  });

  it.each([
    ['replica', plannedOn('failover-to', 'r1', 'r2')],
    ['cluster', plannedOn('cluster-failover', 'r1', 'r4')],
    ['sentinel', plannedOn('sentinel-failover', 'r1', 'r2')],
  ] as const)('%s: a planned failover comes about, and the old primary follows', async (topology, one) => {
    const [seen] = await strikeAll(topology, 'set-nx-px', [one], 3_000);
    check(one, seen!);
    expect(seen!.notes.flatMap(({ effects }) => effects)).toContainEqual(
      expect.objectContaining({ kind: 'replaced', who: ['r1'] }),
    );
  });

  it('sentinel: a coordinated failover hands over, where the server knows it, beside a slow link', async ({ skip }) => {
    if (!(await namedServerHere('valkey@9'))) skip('Valkey 9 cannot be had here');
    const file = join(freshFolder(), 'plan.json');
    const args = { how: 'coordinated' };
    const steps = [
      { atMs: 100, fault: 'delay', target: names('c1'), forMs: 15_000, args: { delayMs: 5 } },
      { atMs: 300, fault: 'sentinel-failover', target: 'primary', forMs: 14_000, args },
    ];
    writeFileSync(file, JSON.stringify({ version: 1, seed: 1, steps }));
    const flags = ['--topology', 'sentinel', '--server', 'valkey@9', '--plan', file, '--time-limit', '16s'];
    const run = start([...flags, '--fail-on', 'exclusion']);
    expect((await run.ended).code, run.output()).not.toBe(1);
    const records = historyOf(run)
      .filter((event) => event.type === 'fault')
      .filter(({ step }) => step === 1);
    expect(records.at(-1)?.state, JSON.stringify(records)).toBe('heal');
    expect(records.find(({ state }) => state === 'strike')).toMatchObject({
      did: expect.stringMatching(/^SENTINEL FAILOVER COORDINATED by s\d: r\d replaced r1$/),
      effects: [{ kind: 'replaced', who: ['r1'] }],
    });
    expect(records.at(-1)!.proof).toMatch(/^r1 follows r\d, /);
  });

  it('cluster: a slot moves; one that is given away is moved to the end by the heal, one that is awaited is not any more', async () => {
    const moves = ['node', 'keys', 'migrating', 'importing'].map(
      (until): Case => ({
        name: `a slot moves until ${until}`,
        step: { fault: 'move-slot', target: 'primary', forMs: LONG_MS, args: { until } },
        expected: [[['reach', 'c1', 'r1'], PONG]],
        targets: [],
        proof: '',
      }),
    );
    const seen = await strikeAll('cluster', 'set-nx-px', moves, 3_000);
    for (const [at, one] of seen.entries()) {
      const strike = one.notes.find((note) => note.state !== 'phase')!;
      expect(strike, JSON.stringify(one)).toMatchObject({ state: 'strike', effects: [{ kind: 'slot-moves' }] });
      const [source, target] = strike.targets;
      const slot = /slot (\d+)/.exec(strike.did)![1];
      expect(strike.proof).toContain(`CLUSTER NODES of ${target}: [${slot}-<-${source}]`);
      const owner = at === 3 ? source : target;
      expect(one.notes.at(-1)).toMatchObject({ state: 'heal' });
      expect(one.notes.at(-1)!.proof).toContain(`all others: slot ${slot} belongs to ${owner}`);
      expect([...one.unhealed, ...one.missing]).toEqual([]);
    }
  });

  it('cluster: a slot that is on its way when its owner is replaced goes to the new owner all the same', async () => {
    const file = join(freshFolder(), 'plan.json');
    const owner = { names: ['r1'] };
    const steps = [
      // It strikes once all servers are whole, which on a busy machine takes some seconds.
      { atMs: 300, fault: 'move-slot', target: owner, forMs: 11_000, args: { until: 'keys' } },
      // Longer than the Cluster waits for it, unless the machine is very busy: then it goes on under its old owner.
      { atMs: 5_500, fault: 'pause', target: owner, forMs: 4_000 },
    ];
    writeFileSync(file, JSON.stringify({ version: 1, seed: 1, steps }));
    const run = start(['--topology', 'cluster', '--plan', file, '--time-limit', '13s']);
    await run.ended;
    const history = historyOf(run);
    const heals = history.filter((event) => event.type === 'fault' && event.state === 'heal');
    expect(
      heals.map((event) => event.type === 'fault' && event.fault),
      run.output(),
    ).toEqual(['pause', 'move-slot']);
    expect(heals[1]).toMatchObject({
      // Whether the one that awaited it still does depends on when its old owner came back.
      proof: expect.stringMatching(
        /^CLUSTER NODES of r\d(: \[\d+-<-r[14]\]; .*|, r\d and all others:) slot \d+ belongs to r\d$/,
      ),
    });
    expect(history.find((event) => event.type === 'recovered')).toMatchObject({ missing: [] });
  });

  const onNodes = 'redlock: nodes forget, clocks jump and drift, answers come late or never, and all are restarted';
  it(onNodes, { tags: ['native'] }, async () => {
    const seen = await strikeAll('redlock', 'redlock', [...onRedlock, rollingRestart], 1_500);
    for (const [at, one] of onRedlock.entries()) check(one, seen[at]!);
    const rolled = seen.at(-1)!;
    expect(rolled.notes.map(({ did }) => did)).toEqual([
      ...[1, 2, 3, 4, 5].map((n) => `restarted r${n}, ${n} of 5`),
      'healed reload',
    ]);
    for (const [at, runId] of rolled.after.entries()) expect(runId).not.toBe(rolled.before[at]);
    expect([...rolled.unhealed, ...rolled.missing]).toEqual([]);
  });

  it('redlock: one of a bare majority of grantors loses what it granted', { tags: ['native'] }, async () => {
    const composite = (fault: string): Case => ({
      name: fault,
      // Once: while it is looked at, a second cycle would make another node forget.
      step: { fault, target: 'minority', forMs: LONG_MS, args: { times: 1 } },
      expected: ['r1', 'r2', 'r3', 'r4', 'r5'].flatMap((node): [Probe, unknown][] => [
        [['marker', node], 0],
        [['skew', node], 0],
      ]),
      targets: [],
      proof: '',
    });
    const seen = await strikeAll('redlock', 'redlock', [composite('forget-granted'), composite('skew-granted')], 3_000);
    const [forget, skew] = seen.map((one) => {
      const strike = one.notes.find((note) => note.state !== 'phase')!;
      expect(strike, JSON.stringify(one)).toMatchObject({ state: 'strike' });
      const victim = Number(strike.targets[0]!.slice(1)) - 1;
      const away = one.notes[0]!.targets;
      expect(away).toHaveLength(2);
      expect(away).not.toContain(strike.targets[0]);
      expect(one.unhealed).toEqual([]);
      expect(one.missing).toEqual([]);
      return {
        one,
        victim,
        markers: one.during.filter((_, at) => at % 2 === 0),
        skews: one.during.filter((_, at) => at % 2 === 1),
      };
    });
    expect(forget!.markers).toEqual([0, 1, 2, 3, 4].map((at) => (at === forget!.victim ? ':0' : ':1')));
    expect(forget!.skews).toEqual([0, 0, 0, 0, 0]);
    expect(skew!.skews).toEqual([0, 1, 2, 3, 4].map((at) => (at === skew!.victim ? 4 : 0)));
    expect(skew!.one.after.filter((_, at) => at % 2 === 1)).toEqual([0, 0, 0, 0, 0]);
  });
});
