/** The fault `evict`, on servers whose memory is full at their limit; and what parsing says of it. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanStep, Target } from '../../../harness/vocabulary/faults.js';
import { evict } from '../../../nemesis/faults/evict.js';
import { allFaults, parseNemesis } from '../../../nemesis/requests.js';
import type { ActiveNemesis } from '../../../nemesis/striking/context.js';
import { findUnhealed } from '../../../nemesis/unhealed.js';
import { type FakeNode, type World, world } from './fakes.js';
import { readPlan } from './read-plan.js';

const USED = 1_000_000;
const VALUE = 65_536;

/** Gives a node a memory: what is written to it counts, and above the limit keys go, the locks first (if `evictsLocks`). */
class Memory {
  role = 'master';
  settings: Record<string, string> = {
    maxmemory: '0',
    'maxmemory-policy': 'volatile-ttl',
    'notify-keyspace-events': 'eE',
  };
  evictsLocks = true;
  /** `CONFIG SET` is accepted and does nothing. */
  deaf = false;
  readonly fillers = new Map<string, { ttlMs?: number }>();
  readonly reads = new Map<string, number>();
  evicted = 0;
  most = 0;
  rewritten = 0;
  private readonly listeners = new Set<(key: string) => void>();

  constructor(private readonly node: FakeNode) {
    const others = node.command.bind(node);
    node.command = async (...argv) => {
      const reply = this.reply(argv.map(String));
      if (reply === undefined) return others(...argv);
      if ((await node.process.state()) !== 'running') throw new Error(`${node.name} does not answer`);
      return reply;
    };
    const listening = async (_channel: string, listener: (key: string) => void) => {
      this.listeners.add(listener);
      return { closed: new Promise<string>(() => {}), close: () => this.listeners.delete(listener) };
    };
    Object.assign(node, { subscribe: listening });
  }

  get heard() {
    return this.listeners.size;
  }

  private get used() {
    return USED + this.fillers.size * VALUE;
  }

  private reply([name, ...args]: string[]): unknown {
    switch (`${name} ${args[0]}`) {
      case 'CONFIG GET':
        return [args[1], this.settings[args[1]!]];
      case 'CONFIG SET':
        if (!this.deaf) this.settings[args[1]!] = args[2]!;
        return 'OK';
      case 'CONFIG REWRITE':
        this.rewritten++;
        return 'OK';
      case 'INFO memory':
        return `# Memory\r\nused_memory:${this.used}\r\nused_memory_rss:1\r\n`;
      case 'INFO stats':
        return `# Stats\r\nevicted_keys:${this.evicted}\r\n`;
    }
    switch (name) {
      case 'ROLE':
        return [this.role];
      case 'SETRANGE':
        this.fillers.set(args[0]!, {});
        this.makeRoom();
        return VALUE;
      case 'PEXPIRE':
        if (this.fillers.has(args[0]!)) this.fillers.set(args[0]!, { ttlMs: Number(args[1]) });
        return 1;
      case 'TOUCH':
        for (const key of args) this.reads.set(key, (this.reads.get(key) ?? 0) + 1);
        return args.length;
      case 'SCAN':
        return ['0', [...this.fillers.keys()].filter((key) => key.startsWith(args[2]!.replace('*', '')))];
      case 'UNLINK':
        return args.filter((key) => this.fillers.delete(key)).length;
    }
    return undefined;
  }

  private makeRoom(): void {
    this.most = Math.max(this.most, this.used);
    while (this.used > (Number(this.settings.maxmemory) || Number.POSITIVE_INFINITY)) {
      const [lock] = this.evictsLocks ? this.node.keys : [];
      const [filler] = this.fillers.keys();
      const key = lock ?? filler!;
      if (lock) this.node.keys.delete(lock);
      this.fillers.delete(key);
      this.evicted++;
      for (const listener of this.listeners) listener(key);
    }
  }
}

let w: World;
let memory: Memory[];

function deployed(name: 'single' | 'sentinel' | 'redlock', options = {}) {
  w = world(name, options);
  memory = w.nodes.map((node) => new Memory(node));
  if (name === 'sentinel') for (const replica of memory.slice(1)) replica.role = 'slave';
}

function strike(target: Target, forMs = 3_000): Promise<ActiveNemesis> {
  const step: PlanStep = { atMs: 0, fault: 'evict', target, forMs };
  return w.clock.run(evict.strike(step, w.nemesis));
}

const heal = (active: ActiveNemesis) => w.clock.run(active.heal());

/** From `atMs` on c1 holds the key, which these nodes have. */
function holds(key: string, atMs: number, nodes: readonly FakeNode[], held = true) {
  void w.clock.sleep(atMs).then(() => {
    w.grant('c1', atMs, key);
    for (const node of nodes) node.keys.add(key);
    if (held) w.clients[0]!.holding = [key];
  });
}

async function expectHealed() {
  expect(memory.map(({ settings }) => settings.maxmemory)).toEqual(memory.map(() => '0'));
  expect(memory.map(({ fillers }) => fillers.size)).toEqual(memory.map(() => 0));
  expect(memory.map(({ heard }) => heard)).toEqual(memory.map(() => 0));
  expect(await w.clock.run(findUnhealed(w.context, w.levers))).toEqual([]);
}

describe('evict', () => {
  beforeEach(() => deployed('single'));

  it('fills the memory when a lock is held, until it is evicted; and restores everything', async () => {
    holds('lock:0', 200, w.nodes);
    const active = await strike('primary');
    expect(w.notes[0]).toMatchObject({ state: 'phase', targets: ['r1'], did: 'limited the memory of r1' });
    expect(w.notes[0]!.proof).toContain('evicts by volatile-ttl');
    expect(active.record.targets).toEqual(['r1']);
    expect(active.record.did).toBe("filled r1 with somebody else's data: r1 evicted lock:0 of c1");
    expect(active.record.proof).toMatch(/^evicted_keys of r1 rose by [1-9]\d*, 1 of them keys of the run$/);
    // Not before the lock had been held for a while.
    expect(w.clock.nowNs() / 1e6).toBeGreaterThan(600);
    const [server] = memory;
    expect([...server!.fillers.values()].every(({ ttlMs }) => ttlMs === 3_600_000)).toBe(true);
    expect(server!.most).toBeLessThanOrEqual(USED + 5 * 1024 * 1024);
    expect(await w.clock.run(findUnhealed(w.context, w.levers))).toEqual([
      `r1 has maxmemory ${USED + 4 * 1024 * 1024}, which was 0`,
    ]);
    expect(await heal(active)).toMatch(/^r1 has maxmemory 0 again; \d+ of somebody else's keys deleted, none is left$/);
    await expectHealed();
    // Only Sentinel writes settings to files.
    expect(server!.rewritten).toBe(0);
  });

  it('evicts a lock that was granted before the strike, if there is no better one', async () => {
    w.nodes[0]!.keys.add('lock:1');
    w.clients[2]!.holding = ['lock:1'];
    const active = await strike('primary');
    expect(active.record.did).toContain('r1 evicted lock:1 of c3');
    await heal(active);
    await expectHealed();
  });

  it('evicts again while the step lasts, each time as a phase, and stops when healed', async () => {
    for (const at of [200, 3_000, 6_000]) holds(`lock:${at % 2}`, at, w.nodes);
    const active = await strike('primary', 9_000);
    await w.clock.run(w.clock.sleep(8_000));
    await heal(active);
    const again = w.notes.filter(({ did }) => did.startsWith('filled r1'));
    expect(again).toHaveLength(2);
    await expectHealed();
  });

  it.each([
    ['no client holds a lock', () => {}, 'no lock was held on r1 that could be evicted'],
    [
      'locks are not evicted',
      () => {
        memory[0]!.evictsLocks = false;
        holds('lock:0', 200, w.nodes);
      },
      /^no lock was evicted while it was held: evicted_keys of r1 rose by [1-9]\d*, 0 of them keys of the run/,
    ],
    [
      'only a key that is no longer held is evicted',
      () => holds('lock:0', 200, w.nodes, false),
      /rose by [1-9]\d*, 1 of them keys of the run/,
    ],
  ])('fails with the counts where %s, and leaves nothing in force', async (_what, prepare, message) => {
    prepare();
    const failed = await strike('primary').catch((error: Error) => error);
    expect(failed).toBeInstanceOf(Error);
    expect(failed).not.toHaveProperty('refused');
    expect((failed as Error).message).toMatch(message);
    await expectHealed();
  });

  it.each<[what: string, prepare: (server: Memory) => void, message: string]>([
    [
      'evicts nothing',
      ({ settings }) => {
        settings['maxmemory-policy'] = 'noeviction';
      },
      'r1 evicts nothing (maxmemory-policy noeviction); give --maxmemory-policy volatile-ttl',
    ],
    [
      'does not tell what it evicts',
      ({ settings }) => {
        settings['notify-keyspace-events'] = 'Kx';
      },
      'r1 does not tell what it evicts (notify-keyspace-events "Kx", must include Ee)',
    ],
    [
      'is a replica',
      (server) => {
        server.role = 'slave';
      },
      'r1 is a replica now, and replicas ignore maxmemory',
    ],
  ])('is refused where the server %s', async (_what, prepare, message) => {
    prepare(memory[0]!);
    await expect(strike('primary')).rejects.toMatchObject({ refused: true, message });
    await expectHealed();
  });

  it('fails where the limit is not read back', async () => {
    memory[0]!.deaf = true;
    await expect(strike('primary')).rejects.toThrow('maxmemory was set to 5194304 but reads 0');
    await expectHealed();
  });

  it('never raises a limit that was there, and sets that again', async () => {
    memory[0]!.settings.maxmemory = '2000000';
    holds('lock:0', 200, w.nodes);
    const active = await strike('primary');
    expect(memory[0]!.settings.maxmemory).toBe('2000000');
    await heal(active);
    expect(memory[0]!.settings.maxmemory).toBe('2000000');
    expect(memory[0]!.fillers.size).toBe(0);
  });

  it('ends at once when the run ends, and leaves nothing in force', async () => {
    void w.clock.sleep(300).then(() => w.interrupt.abort());
    await expect(strike('primary', 5_000)).rejects.toMatchObject({ name: 'Interrupted' });
    expect(w.clock.nowNs() / 1e6).toBeLessThan(500);
    await expectHealed();
  });

  it('one at a time on a server', async () => {
    holds('lock:0', 200, w.nodes);
    const active = await strike('primary');
    await expect(strike('primary')).rejects.toMatchObject({ refused: true, message: 'r1 is short of memory already' });
    await heal(active);
    await expectHealed();
  });

  it.each([
    ['allkeys-lfu', true],
    ['volatile-lru', false],
  ])(
    'under %s the values are read often, or not: what is rarely read goes first by frequency',
    async (policy, read) => {
      const [server] = memory;
      server!.settings['maxmemory-policy'] = policy;
      holds('lock:0', 200, w.nodes);
      const active = await strike('primary');
      const values = [...server!.fillers.keys()];
      expect(values.every((key) => (server!.reads.get(key) ?? 0) >= 100)).toBe(read);
      await heal(active);
    },
  );
});

describe('evict on several nodes', () => {
  it('counts as forgetting on independent ones: never more than a minority within a lease', async () => {
    deployed('redlock');
    holds('lock:0', 200, w.nodes);
    const active = await strike({ names: ['r1', 'r2'] });
    expect(active.record.did).toContain('r1 evicted lock:0 of c1, r2 evicted lock:0 of c1');
    await heal(active);
    await expect(strike({ names: ['r3'] })).rejects.toMatchObject({
      refused: true,
      message: 'r3 would make 3 nodes forget within one lease; at most 2 may (r1, r2 forgot within the last lease)',
    });
    await expectHealed();
  });

  it('a strike that evicted something has made nodes forget, also if it failed; a refused one has not', async () => {
    deployed('redlock');
    holds('lock:0', 200, w.nodes, false);
    await expect(strike({ names: ['r1'] })).rejects.toThrow('no lock was evicted while it was held');
    memory[1]!.settings['maxmemory-policy'] = 'noeviction';
    await expect(strike({ names: ['r2'] })).rejects.toMatchObject({ refused: true });
    expect(w.levers.memory.forgetful()).toEqual(['r1']);
  });

  it('strikes the primary of any node given by role, in the hash slots that it serves', async () => {
    deployed('sentinel', { seed: 3 });
    const shards = await w.topology.shards();
    w.topology.shards = async () => shards.map((shard) => ({ ...shard, serves: (key) => key === '{any2}' }));
    holds('lock:0', 200, w.nodes);
    const active = await strike('one');
    expect(active.record.targets).toEqual(['r1']);
    expect([...memory[0]!.fillers.keys()].every((key) => key.includes('{any2}'))).toBe(true);
    // The one that replaced it has the values, too; the deposed one takes no more commands.
    memory[0]!.role = 'slave';
    memory[1]!.role = 'master';
    for (const [key, value] of memory[0]!.fillers) memory[1]!.fillers.set(key, value);
    memory[0]!.fillers.clear();
    await heal(active);
    expect(memory[0]!.rewritten).toBe(1);
    await expectHealed();
  });

  it('is refused for a named replica', async () => {
    deployed('sentinel');
    await expect(strike({ names: ['r2'] })).rejects.toMatchObject({
      refused: true,
      message: 'r2 is no primary now, and replicas ignore maxmemory',
    });
  });
});

describe('--nemesis evict', () => {
  const single = world('single').plan;

  it.each([
    [undefined, 'the servers evict nothing; give --maxmemory-policy volatile-ttl'],
    ['noeviction', 'the servers evict nothing (noeviction); give --maxmemory-policy volatile-ttl'],
  ])('with policy %s: one line with the remedy, and left out of groups', (maxmemoryPolicy, message) => {
    const topology = { ...single, ...(maxmemoryPolicy && { maxmemoryPolicy }) };
    expect(() => parseNemesis('evict', topology)).toThrow(`--nemesis: evict makes no sense here: ${message}`);
    const plan = { version: 1, seed: 1, steps: [{ atMs: 1, forMs: 1_000, fault: 'evict', target: 'primary' }] };
    expect(() => readPlan(JSON.stringify(plan), 'p.json', topology)).toThrow(message);
    expect(allFaults(topology)).not.toContainEqual({ fault: 'evict' });
    expect(parseNemesis('default', topology).requests).not.toContainEqual({ fault: 'evict' });
  });

  it('with a policy that evicts', () => {
    const topology = { ...single, maxmemoryPolicy: 'allkeys-lru' };
    expect(parseNemesis('evict', topology).requests).toEqual([{ fault: 'evict' }]);
    expect(allFaults(topology)).toContainEqual({ fault: 'evict' });
  });
});
