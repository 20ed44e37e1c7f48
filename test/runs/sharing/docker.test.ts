/** Whole runs in containers, as a user makes them, and what is left of them however they end. */
import { existsSync, writeFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findEngine, removeLeftovers } from '../../../docker/index.js';
import { labelsOf } from '../../../docker/owner.js';
import { FIRST_RUN_MS, inFullSwing, leftOf } from '../../support/containers.js';
import { allInForce } from '../../support/killed.js';
import { containers, inContainers } from '../../support/needs-docker.js';
import {
  endAll,
  freshFolder,
  historyOf,
  namedCauses,
  processesOf,
  start,
  type Torture,
  torture,
  until,
} from '../../support/torture.js';

const OWNER_LABEL = 'lock-torture.owner';
const SOCKET = '/var/run/docker.sock';

describe('a run in containers', containers, () => {
  let run: Torture | undefined;
  afterEach(() => {
    if (run) endAll(run);
    run = undefined;
  });

  it(
    'finds on sentinel what a failover loses, with the clocks of a node and of a client moved and read back',
    async () => {
      const plan = {
        version: 1,
        seed: 1,
        steps: [
          { atMs: 300, fault: 'clock', target: { names: ['r3'] }, forMs: 800, args: { offsetMs: 90_000 } },
          { atMs: 300, fault: 'clock', target: { names: ['c6'] }, forMs: 800, args: { offsetMs: -90_000 } },
          // Whether a failover loses a held lock is a matter of chance: it has several.
          ...[1_800, 13_000, 25_000, 37_000].map((atMs) => ({
            atMs,
            fault: 'failover',
            target: 'primary',
            forMs: 6_000,
          })),
        ],
      };
      const file = join(freshFolder(), 'plan.json');
      writeFileSync(file, JSON.stringify(plan));
      // Where an engine answers, it is taken.
      const { status, output, errors, results, folder } = await torture([
        ...inContainers.map((word) => (word === 'docker' ? 'auto' : word)),
        ...['--topology', 'sentinel', '--plan', file, '--hold', '0.5x..0.9x'],
        ...['--time-limit', '50s', '--fail-on', 'exclusion', '--stop-at-first'],
      ]);
      const told = `${output}\n${errors}`;
      expect(output.split('\n')[0], told).toMatch(/^(runtime docker: |pulling |building )/);
      expect(output).toMatch(/sentinel ready after \d/);
      const struck = output.split('\n').filter((line) => / struck {3}/.test(line));
      const names = struck.map((line) => /struck {3}(\w+)/.exec(line)![1]);
      expect(
        names.filter((name) => name === 'clock'),
        told,
      ).toHaveLength(2);
      expect(names).toContain('failover');
      expect(output).not.toMatch(/ failed /);
      expect(status, told).toBe(1);
      expect(results.violations.length, told).toBeGreaterThan(0);
      expect(['failover-lost-write'], told).toEqual(expect.arrayContaining(namedCauses(results)));
      expect(existsSync(join(folder, 'logs', 'r1.log'))).toBe(true);
      expect(await leftOf(output)).toEqual([]);
    },
    FIRST_RUN_MS,
  );

  const names = (...who: string[]) => ({ names: who });
  /** By topology: each while others are in force. What changes as planned waits until all servers are whole. */
  const OVERLAPPING = {
    single: [
      { atMs: 300, fault: 'delay', target: names('r1'), forMs: 16_000, args: { delayMs: 5 } },
      { atMs: 350, fault: 'loss', target: names('c1'), forMs: 6_000, args: { lossPpm: 20_000 } },
      { atMs: 400, fault: 'rate', target: names('c3'), forMs: 5_000, args: { rateKbps: 500 } },
      { atMs: 450, fault: 'duplicate', target: names('c2'), forMs: 6_000 },
      { atMs: 500, fault: 'reorder', target: names('c3'), forMs: 5_000 },
      { atMs: 1_500, fault: 'pause', target: names('c1'), forMs: 5_000 },
      { atMs: 2_500, fault: 'partition', target: names('c2'), forMs: 5_000 },
      { atMs: 4_000, fault: 'power-cut', target: names('r1'), forMs: 1_000 },
      { atMs: 6_500, fault: 'reset', target: names('c3'), forMs: 4_000 },
      { atMs: 8_000, fault: 'kill', target: names('c1'), forMs: 4_000 },
      { atMs: 9_000, fault: 'reset-on-reply', target: names('c2'), forMs: 7_000 },
    ],
    cluster: [
      { atMs: 300, fault: 'delay', target: names('c1'), forMs: 15_000, args: { delayMs: 5 } },
      { atMs: 600, fault: 'pause', target: names('c2'), forMs: 6_000 },
      { atMs: 900, fault: 'move-slot', target: names('r1'), forMs: 6_000 },
      { atMs: 1_000, fault: 'move-slot', target: names('r1'), forMs: 6_000, args: { until: 'migrating' } },
      { atMs: 3_000, fault: 'partition', target: names('c3'), forMs: 3_000 },
      { atMs: 9_500, fault: 'kill', target: names('c2'), forMs: 6_000 },
      { atMs: 10_000, fault: 'cluster-failover', target: 'primary', forMs: 4_000 },
    ],
    replica: [
      { atMs: 300, fault: 'delay', target: names('c1'), forMs: 7_000, args: { delayMs: 5 } },
      { atMs: 500, fault: 'pause', target: names('c2'), forMs: 6_000 },
      { atMs: 800, fault: 'failover-to', target: 'primary', forMs: 4_000 },
      { atMs: 1_500, fault: 'partition', target: names('c3'), forMs: 3_000 },
    ],
    sentinel: [
      { atMs: 300, fault: 'delay', target: names('c1'), forMs: 17_000, args: { delayMs: 5 } },
      { atMs: 500, fault: 'kill', target: names('c2'), forMs: 15_000 },
      { atMs: 800, fault: 'sentinel-failover', target: 'primary', forMs: 16_000 },
      { atMs: 3_000, fault: 'partition', target: names('c3'), forMs: 5_000 },
    ],
  };

  const BESIDE = 'on %s has faults of links, disks and plans beside cuts, stops and kills, and heals each';
  it.each(['single', 'cluster'] as const)(BESIDE, beside, FIRST_RUN_MS);
  it.each(['replica', 'sentinel'] as const)(BESIDE, { tags: ['night'], timeout: FIRST_RUN_MS }, beside);

  async function beside(topology: keyof typeof OVERLAPPING): Promise<void> {
    const steps = OVERLAPPING[topology];
    const file = join(freshFolder(), 'plan.json');
    writeFileSync(file, JSON.stringify({ version: 1, seed: 1, steps }));
    const flags = ['--topology', topology, '--lock', 'set-nx-px', '--clients', '3', '--keys', '2', '--plan', file];
    const limit = `${Math.max(...steps.map(({ atMs, forMs }) => atMs + forMs)) + 1_000}ms`;
    const whole = start([...inContainers, ...flags, '--persistence', 'aof-always', '--time-limit', limit]);
    await whole.ended;
    const told = `${whole.output()}\n${whole.errors()}`;
    const records = historyOf(whole).filter((event) => event.type === 'fault');
    const of = (wanted: string) =>
      records
        .filter(({ state }) => state === wanted)
        .map(({ fault }) => fault)
        .sort();
    expect([...of('failed'), ...of('refused')], told).toEqual([]);
    const all = steps.map(({ fault }) => fault).sort();
    expect(of('strike'), told).toEqual(all);
    expect(of('heal'), told).toEqual(all);
    let inForce = 0;
    const most = records.map(({ state }) => {
      if (state === 'strike') inForce++;
      if (state === 'heal') inForce--;
      return inForce;
    });
    expect(Math.max(...most), told).toBeGreaterThanOrEqual(3);
    expect(await leftOf(whole.output())).toEqual([]);
  }

  /** What a server is told by commands that not every image's server has, and what is said where it has not. */
  const NO_MIGRATESLOTS = 'this server has no CLUSTER MIGRATESLOTS (Valkey 9)';
  const NOT_COORDINATED = 'does not know SENTINEL FAILOVER COORDINATED';
  const OF_NEWER_SERVERS = {
    'moves a slot at once': [
      'cluster',
      [
        { atMs: 300, fault: 'delay', target: names('c1'), forMs: 7_000, args: { delayMs: 5 } },
        { atMs: 800, fault: 'migrate-slots', target: names('r1'), forMs: 5_000 },
        { atMs: 3_000, fault: 'pause', target: names('c2'), forMs: 4_000 },
      ],
      NO_MIGRATESLOTS,
    ],
    'has Sentinel coordinate a failover': [
      'sentinel',
      [
        { atMs: 300, fault: 'delay', target: names('c1'), forMs: 9_000, args: { delayMs: 5 } },
        { atMs: 800, fault: 'sentinel-failover', target: 'primary', forMs: 8_000, args: { how: 'coordinated' } },
        { atMs: 3_000, fault: 'pause', target: names('c2'), forMs: 4_000 },
      ],
      NOT_COORDINATED,
    ],
  } as const;

  it.each(Object.entries(OF_NEWER_SERVERS))(
    '%s where the image has a server that can, and is refused in one line where it has not',
    async (_, [topology, steps, refusal]) => {
      const file = join(freshFolder(), 'plan.json');
      writeFileSync(file, JSON.stringify({ version: 1, seed: 1, steps }));
      const flags = ['--topology', topology, '--clients', '3', '--plan', file, '--time-limit', '11s'];
      const whole = start([...inContainers, ...flags]);
      const { code } = await whole.ended;
      const told = `${whole.output()}\n${whole.errors()}`;
      const refused = refusalOf(whole, code);
      if (refused !== undefined) {
        expect(refused, told).toContain(refusal);
        return;
      }
      const records = historyOf(whole).filter((event) => event.type === 'fault');
      const of = (wanted: string) => records.filter(({ state }) => state === wanted).map(({ fault }) => fault);
      expect(of('failed'), told).toEqual([]);
      const all = steps.map(({ fault }) => fault).sort();
      expect([of('strike').sort(), of('heal').sort()], told).toEqual([all, all]);
      expect(await leftOf(whole.output())).toEqual([]);
    },
    FIRST_RUN_MS,
  );

  it(
    'of three etcd members keeps a lock exclusive while their leader is killed',
    async () => {
      const step = (atMs: number) => ({ atMs, fault: 'kill', target: 'primary', forMs: 2_000 });
      const file = join(freshFolder(), 'plan.json');
      writeFileSync(file, JSON.stringify({ version: 1, seed: 1, steps: [step(1_000), step(5_000)] }));
      const { output, errors, results } = await torture([
        ...[...inContainers, '--service', 'etcd', '--plan', file, '--time-limit', '8s'],
      ]);
      const told = `${output}\n${errors}`;
      expect(output, told).toMatch(/etcd ready after \d.*: 3 etcd nodes, etcd 3\./);
      expect(output.match(/ struck {3}kill e\d: SIGKILL/g), told).toHaveLength(2);
      expect(
        results.violations.filter((one) => one.class === 'exclusion' || one.class === 'harm'),
        told,
      ).toEqual([]);
      expect(await leftOf(output)).toEqual([]);
    },
    FIRST_RUN_MS,
  );

  it(
    'of one etcd member catches a lock that reads and then puts, and says why',
    async () => {
      const { output, errors, status, results } = await torture([
        ...[...inContainers, '--service', 'etcd', '--topology', 'single', '--lock', 'etcd-read-then-put'],
        ...['--nemesis', 'none', '--time-limit', '60s', '--stop-at-first'],
      ]);
      expect(status, `${output}\n${errors}`).toBe(1);
      expect(results.violations[0]).toMatchObject({ class: 'exclusion', cause: { name: 'overwritten' } });
    },
    FIRST_RUN_MS,
  );

  /** By the command's one line, or by the record of a step. */
  function refusalOf(of: Torture, code: number | null): string | undefined {
    if (code === 3)
      return (
        of
          .errors()
          .match(/^lock-torture: .*/gm)
          ?.at(-1) ?? of.errors()
      );
    const faults = historyOf(of).filter((event) => event.type === 'fault');
    return faults.find(({ state }) => state === 'refused')?.proof;
  }

  const LONG_MS = 60_000;
  /** Of what is in force; the rest is played at night. */
  const EVERY_DAY: ReadonlySet<string> = new Set([
    'a link is degraded and a server without power',
    'a slot is on its way',
  ]);
  const DELAYED = { atMs: 200, fault: 'delay', target: names('r1'), args: { delayMs: 20 } };
  /** What is in force when every process of the run is killed: a handover has only just been asked for. Some take a newer server. */
  const IN_FORCE: Record<string, readonly [topology: string, steps: readonly object[], refusal?: string]> = {
    'a link is degraded and a server without power': [
      'single',
      [
        DELAYED,
        { atMs: 250, fault: 'loss', target: names('r1'), args: { lossPpm: 20_000 } },
        { atMs: 300, fault: 'rate', target: names('r1'), args: { rateKbps: 500 } },
        { atMs: 350, fault: 'duplicate', target: names('r1') },
        { atMs: 400, fault: 'reorder', target: names('r1') },
        { atMs: 450, fault: 'reset', target: names('r1') },
        { atMs: 500, fault: 'reset-on-reply', target: 'client' },
        { atMs: 8_000, fault: 'power-cut', target: names('r1') },
      ],
    ],
    'a slot is on its way': [
      'cluster',
      [
        { atMs: 300, fault: 'move-slot', target: names('r1'), args: { until: 'migrating' } },
        { ...DELAYED, atMs: 2_500 },
      ],
    ],
    'a replica takes over in a Cluster': [
      'cluster',
      [DELAYED, { atMs: 2_500, fault: 'cluster-failover', target: names('r1') }],
    ],
    'a primary hands over': ['replica', [DELAYED, { atMs: 2_500, fault: 'failover-to', target: 'primary' }]],
    'Sentinel fails over': ['sentinel', [DELAYED, { atMs: 2_500, fault: 'sentinel-failover', target: 'primary' }]],
    'a slot has moved at once': [
      'cluster',
      [DELAYED, { atMs: 2_500, fault: 'migrate-slots', target: names('r1') }],
      NO_MIGRATESLOTS,
    ],
    'Sentinel coordinates a failover': [
      'sentinel',
      [DELAYED, { atMs: 2_500, fault: 'sentinel-failover', target: 'primary', args: { how: 'coordinated' } }],
      NOT_COORDINATED,
    ],
  };

  const isAtNight = ([when]: readonly [string, unknown]) => !EVERY_DAY.has(when);
  const LEAVES_NOTHING = 'leaves nothing when every process of it is killed while %s';
  const inForce = Object.entries(IN_FORCE);
  it.each(inForce.filter((one) => !isAtNight(one)))(LEAVES_NOTHING, leavesNothing, FIRST_RUN_MS);
  it.each(inForce.filter(isAtNight))(LEAVES_NOTHING, { tags: ['night'], timeout: FIRST_RUN_MS }, leavesNothing);

  async function leavesNothing(_: string, [topology, steps, refusal]: (typeof IN_FORCE)[string]): Promise<void> {
    const file = join(freshFolder(), 'plan.json');
    const all = steps.map((one) => ({ forMs: LONG_MS, ...one }));
    writeFileSync(file, JSON.stringify({ version: 1, seed: 1, steps: all }));
    const flags = ['--topology', topology, '--lock', 'set-nx-px', '--clients', '3', '--plan', file];
    const struck = start([...inContainers, ...flags, '--time-limit', `${LONG_MS}ms`]);
    run = struck;
    const isInForce = await allInForce(struck, steps.length, FIRST_RUN_MS).then(
      () => true,
      (error) => {
        if (refusal === undefined || !refusalOf(struck, struck.child.exitCode)?.includes(refusal)) throw error;
        return false;
      },
    );
    if (!isInForce) return;
    expect((await leftOf(struck.output())).filter((what) => what.includes('-r1-links-'))).toHaveLength(1);
    endAll(struck);
    await eventually(async () => (await leftOf(struck.output())).every((what) => what.startsWith('network ')));
  }

  it(
    'tortures a lock of the user, packages and all, through an engine that is reached over TCP',
    async () => {
      const folder = freshFolder();
      writeFileSync(join(folder, 'lock.ts'), LOCK);
      const server = createServer((from) => {
        const to = createConnection(SOCKET);
        for (const socket of [from, to]) socket.on('error', () => {});
        from.pipe(to).pipe(from);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as { port: number };
      try {
        run = start([...inContainers, '--lock', './lock.ts', '--nemesis', 'kill:client', ...SHORT], {
          cwd: folder,
          env: { DOCKER_HOST: `tcp://127.0.0.1:${port}` },
        });
        const { code } = await run.ended;
        expect([0, 1, 2], `${run.output()}${run.errors()}`).toContain(code);
        expect(run.output()).toContain('clients of lock "of-mine"');
        expect(historyOf(run).filter((event) => event.type === 'ok' && event.op === 'acquire').length).toBeGreaterThan(
          3,
        );
        expect(await leftOf(run.output())).toEqual([]);
      } finally {
        server.close();
      }
    },
    FIRST_RUN_MS,
  );

  it(
    'leaves no container when every process of it is killed, and nothing after the next start',
    async () => {
      run = await inFullSwing(['--topology', 'single']);
      const { docker } = await findEngine();
      expect((await leftOf(run.output())).length).toBeGreaterThan(6);
      endAll(run);
      await until('no process of the run', () => processesOf(run!.mark).length === 0);
      await eventually(async () => (await leftOf(run!.output())).every((what) => what.startsWith('network ')));
      await removeLeftovers(docker);
      expect(await leftOf(run.output())).toEqual([]);
    },
    FIRST_RUN_MS,
  );

  it('removes what dead runs have left when a run starts, and nothing else', async () => {
    const { docker } = await findEngine();
    const dead = JSON.stringify({ ...ownerLike(), pid: 1, started: 'never' });
    const alive = JSON.stringify(ownerLike());
    const names = {
      dead: `lt-dead-${process.pid}`,
      alive: `lt-alive-${process.pid}`,
      theirs: `lt-theirs-${process.pid}`,
    };
    const labels = { dead: { [OWNER_LABEL]: dead }, alive: { [OWNER_LABEL]: alive }, theirs: {} };
    const Image = inContainers[inContainers.indexOf('--image') + 1]!;
    const made = await Promise.all(
      (['dead', 'alive', 'theirs'] as const).map(async (whose) => {
        const Labels: Record<string, string> = labels[whose];
        const network = await docker.createNetwork({ Name: names[whose], Internal: true, Labels });
        const HostConfig = { NetworkMode: network.id };
        const options = { name: names[whose], Image, Cmd: ['true'], Labels, HostConfig };
        return { whose, network, container: await docker.createContainer(options) };
      }),
    );
    try {
      await removeLeftovers(docker);
      const left = await Promise.all(
        made.map(async ({ whose, network, container }) => {
          const there = await Promise.all([isThere(network.inspect()), isThere(container.inspect())]);
          return [whose, ...there];
        }),
      );
      expect(left).toEqual([
        ['dead', false, false],
        ['alive', true, true],
        ['theirs', true, true],
      ]);
    } finally {
      for (const { network, container } of made) {
        await container.remove({ force: true, v: true }).catch(() => {});
        await network.remove().catch(() => {});
      }
    }
  });

  it('says in one line that an image is not available', async () => {
    const { status, errors } = await torture(['--runtime', 'docker', '--image', 'localhost:1/no-such-image:none']);
    expect(status).toBe(3);
    expect(errors.trim().split('\n')).toHaveLength(1);
    expect(errors).toMatch(/the image localhost:1\/no-such-image:none is not there and/);
  });
});

describe('without an engine', () => {
  const nowhere = { DOCKER_HOST: 'unix:///nowhere/docker.sock' };

  it('docker is refused in one line that says what to do', async () => {
    const { status, errors } = await torture(['--runtime', 'docker'], { env: nowhere });
    expect(status).toBe(3);
    expect(errors).toMatch(
      /^lock-torture: the docker runtime is not available: no container engine was found .*install Docker.*\n$/,
    );
  });

  it('auto takes netns, and its first line says so', async () => {
    const { output, errors } = await torture(['--runtime', 'auto', '--time-limit', '2s', '--nemesis', 'none'], {
      env: nowhere,
    });
    expect(output.split('\n')[0], errors).toBe('runtime netns');
  });

  it('auto with an image is refused, not run on something else', async () => {
    const { status, errors } = await torture(['--runtime', 'auto', '--image', 'redis:8'], { env: nowhere });
    expect(status).toBe(3);
    expect(errors).toContain('no container engine was found');
  });

  it('one that is too old is refused by its version', async () => {
    const { createServer: createHttp } = await import('node:http');
    const old = createHttp((request, response) => {
      const version = { Version: '18.09.1', ApiVersion: '1.39', Os: 'linux' };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(request.url?.endsWith('/version') ? version : { OperatingSystem: 'x', Labels: [] }));
    });
    await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve));
    const { port } = old.address() as { port: number };
    try {
      const env = { DOCKER_HOST: `tcp://127.0.0.1:${port}` };
      const { status, errors } = await torture(['--runtime', 'docker'], { env });
      expect(status).toBe(3);
      expect(errors).toMatch(/the container engine is 18\.09\.1 \(API 1\.39\), and API 1\.41 is needed: upgrade/);
    } finally {
      old.close();
    }
  });

  it.each([
    [['--runtime', 'netns', '--image', 'redis:8'], /--image .*for the docker runtime/],
    [['--runtime', 'docker', '--redis', '/bin/true'], /--server is for the netns runtime/],
  ])('%j contradict each other', async (flags, said) => {
    const { status, errors } = await torture(flags);
    expect(status).toBe(3);
    expect(errors).toMatch(said);
  });
});

// -------------------------------------------------------------------------------------------------------------- helpers

const SHORT = ['--time-limit', '4s', '--lease', '1s'];

/** Its own package goes into the bundle with it: in a container there is no folder of the user's. */
const LOCK = `
import { defineLock } from 'lock-torture';
import { Redis } from 'ioredis';

export default defineLock({
  name: Redis ? 'of-mine' : 'without-its-package',
  async connect(topology) {
    const redis = await topology.redis();
    return {
      async acquire(key, { leaseMs }) {
        const owner = topology.randomValue();
        if ((await redis.set(key, owner, 'PX', leaseMs, 'NX')) === null) return null;
        return { release: async () => { if ((await redis.get(key)) === owner) await redis.del(key); } };
      },
    };
  },
});
`;

async function eventually(condition: () => Promise<boolean>): Promise<void> {
  const giveUpMs = Date.now() + 30_000;
  while (!(await condition())) {
    if (Date.now() > giveUpMs) throw new Error('not within 30 s');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** What this process writes on what it makes. */
function ownerLike(): Record<string, unknown> {
  return JSON.parse(labelsOf('test')[OWNER_LABEL]!);
}

async function isThere(inspection: Promise<unknown>): Promise<boolean> {
  return inspection.then(
    () => true,
    () => false,
  );
}
