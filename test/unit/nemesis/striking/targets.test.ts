import { describe, expect, it } from 'vitest';
import type { Target } from '../../../../harness/vocabulary/faults.js';
import {
  namesOf,
  peersOf,
  resolveTarget,
  struckClient,
  struckNode,
  unfitRole,
} from '../../../../nemesis/striking/targets.js';
import { range, type World, world } from '../fakes.js';

/** What is drawn first from small seeds is much the same. */
const spread = (seed: number) => Math.imul(seed, 0x9e3779b1);

const resolve = async (w: World, target: Target) => namesOf(await w.clock.run(resolveTarget({ target }, w.nemesis)));

describe('resolving a target', () => {
  it('asks the servers for the primary, each time', async () => {
    const w = world('sentinel');
    expect(await resolve(w, 'primary')).toEqual(['r1']);
    w.primary = w.node('r3');
    expect(await resolve(w, 'primary')).toEqual(['r3']);
    for (const _ of range(20)) expect(['r1', 'r2']).toContain((await resolve(w, 'replica'))[0]);
  });

  it('waits while no node is primary, and refuses in the end', async () => {
    const w = world('sentinel');
    w.primary = undefined;
    void w.clock.sleep(500).then(() => {
      w.primary = w.node('r2');
    });
    expect(await resolve(w, 'primary')).toEqual(['r2']);
    w.primary = undefined;
    await expect(resolve(w, 'primary')).rejects.toMatchObject({
      refused: true,
      message: 'the servers named no primary for 3000 ms',
    });
  });

  it.each([
    ['single', 1, { one: 1, all: 1, majority: 1 }],
    ['redlock', 5, { one: 1, minority: 2, majority: 3, all: 5 }],
    ['redlock', 4, { minority: 1, majority: 3 }],
    ['sentinel', 3, { one: 1, minority: 1, majority: 2, all: 3, sentinel: 1 }],
  ] as const)('on %s with %i nodes takes as many as the role says', async (name, nodes, counts) => {
    for (const [role, count] of Object.entries(counts)) {
      for (const seed of range(10)) {
        const names = await resolve(world(name, { nodes, seed }), role as Target);
        expect(new Set(names).size).toBe(count);
      }
    }
  });

  it('takes different nodes with different seeds, the same with the same', async () => {
    const pick = (seed: number) => resolve(world('redlock', { seed }), 'minority').then(String);
    const picks = await Promise.all(range(20).map(pick));
    expect(new Set(picks).size).toBeGreaterThan(3);
    expect(await pick(7)).toBe(picks[6]);
  });

  it('leaves out nodes that another fault keeps down', async () => {
    const w = world('redlock', { nodes: 3 });
    await w.levers.kill.kill(w.node('r1'));
    await w.levers.kill.kill(w.node('r3'));
    for (const _ of range(10)) expect(await resolve(w, 'one')).toEqual(['r2']);
    await expect(resolve(w, 'majority')).rejects.toMatchObject({ refused: true });
  });

  it('finds the holder, waits for one, and skips one that is already paused', async () => {
    const w = world('single');
    w.clients[2]!.holding = ['lock:0'];
    expect(await resolve(w, 'holder')).toEqual(['c3']);
    await w.levers.pause.pause('c3', w.clients[2]!.process);
    void w.clock.sleep(700).then(() => {
      w.clients[4]!.holding = ['lock:1'];
    });
    expect(await resolve(w, 'holder')).toEqual(['c5']);
  });

  it('of several holders strikes one that has held for a while, and of those any; else any that holds', async () => {
    const struck = async (seed: number, ...aWhile: string[]) => {
      const w = world('single', { seed: spread(seed) });
      for (const client of w.clients) client.holding = ['lock:0'];
      for (const client of aWhile) w.grant(client, 1, `lock:${client}`);
      await w.clock.run(w.clock.sleep(0.1 * w.nemesis.leaseMs));
      for (const { name } of w.clients) if (!aWhile.includes(name)) w.grant(name, 1, `lock:${name}`);
      return (await resolve(w, 'holder'))[0]!;
    };
    const picks = async (...aWhile: string[]) =>
      new Set(await Promise.all(range(30).map((seed) => struck(seed, ...aWhile))));
    expect(await picks('c3')).toEqual(new Set(['c3']));
    expect(await picks('c2', 'c5')).toEqual(new Set(['c2', 'c5']));
    expect((await picks()).size).toBeGreaterThan(3);
  });

  it('rather strikes the one that has held for longest, up to a lease', async () => {
    const struck = async (seed: number, longerParts: number) => {
      const w = world('single', { seed: spread(seed) });
      const after = (parts: number) => w.clock.run(w.clock.sleep(parts * w.nemesis.leaseMs));
      for (const n of [0, 1]) {
        w.clients[n]!.holding = [`lock:${n}`];
        w.grant(w.clients[n]!.name, 1, `lock:${n}`);
        await after(n === 0 ? longerParts : 0.2);
      }
      return (await resolve(w, 'holder'))[0]!;
    };
    const share = async (longerParts: number) => {
      const all = await Promise.all(range(200).map((seed) => struck(seed, longerParts)));
      return all.filter((name) => name === 'c1').length / all.length;
    };
    expect(await share(0)).toBeCloseTo(0.5, 1);
    // Held for 0.8 of a lease, beside 0.2; for 5.2 leases, which count as one.
    expect(await share(0.6)).toBeGreaterThan(0.7);
    expect(await share(0.6)).toBeLessThan(0.9);
    expect(await share(5)).toBeGreaterThan(0.75);
    expect(await share(5)).toBeLessThan(0.93);
  });

  it('strikes no holder that gives back what it holds, if it is not to be struck at just that', async () => {
    const w = world('single');
    for (const n of [0, 1]) {
      w.clients[n]!.holding = ['lock:0'];
      w.grant(w.clients[n]!.name, 1, 'lock:0');
    }
    await w.clock.run(w.clock.sleep(w.nemesis.leaseMs));
    w.emit({ type: 'invoke', client: 'c1', id: 2, op: 'release', hold: 1, key: 'lock:0' });
    for (const _ of range(10)) expect(await resolve(w, 'holder')).toEqual(['c2']);
    w.clients[1]!.holding = [];
    await expect(resolve(w, 'holder')).rejects.toThrow('no client held a lock within 5000 ms');
    const at = { client: w.clients[0]!, step: 'before-del' } as unknown as NonNullable<World['nemesis']['at']>;
    expect(await w.clock.run(resolveTarget({ target: 'holder' }, { ...w.nemesis, at }))).toMatchObject([
      { name: 'c1' },
    ]);
  });

  it('refuses when no client holds for a whole lease', async () => {
    const w = world('single');
    await expect(resolve(w, 'holder')).rejects.toMatchObject({
      refused: true,
      message: 'no client held a lock within 5000 ms',
    });
  });

  it('resolves names of nodes, Sentinels and client slots, and refuses others', async () => {
    const w = world('sentinel');
    w.clients[0]!.name = 'c1.3';
    expect(await resolve(w, { names: ['r2', 's1', 'c1'] })).toEqual(['r2', 's1', 'c1.3']);
    await expect(resolve(w, { names: ['r9'] })).rejects.toThrow('there is no "r9"; there are r1, r2, r3, s1');
  });

  it('waits for another process where a client died, and refuses in the end', async () => {
    const w = world('single', { clients: 1 });
    w.clients[0]!.process.signal('SIGKILL');
    void w.clock.sleep(400).then(() => w.clients[0]!.resume());
    expect(await resolve(w, { names: ['c1'] })).toEqual(['c1.2']);
    w.clients[0]!.process.signal('SIGKILL');
    await expect(resolve(w, { names: ['c1'] })).rejects.toMatchObject({
      refused: true,
      message: 'c1 has had no running client for 3000 ms',
    });
    await expect(resolve(w, 'client')).rejects.toMatchObject({ refused: true });
  });
});

describe('roles that mean nothing', () => {
  it.each([
    ['primary', 'redlock', 'redlock has no primary'],
    ['replica', 'single', 'single has no replicas'],
    ['minority', 'single', '1 node has no minority'],
    ['sentinel', 'redlock', 'redlock has no minority of Sentinels'],
  ] as const)('%s on %s', (role, name, reason) => {
    expect(unfitRole(role, world(name).plan)).toBe(reason);
  });

  it('primary means the only node', () => {
    expect(unfitRole('primary', world('single').plan)).toBeUndefined();
  });
});

describe('whom targets talk to', () => {
  const peers = (nodes: string[], clients: string[] = []) => {
    const w = world('single', { nodes: 2, clients: 2 });
    const ofNodes = nodes.map((name) => struckNode(w.node(name)));
    const ofClients = w.clients.filter(({ slot }) => clients.includes(slot)).map(struckClient);
    return peersOf([...ofNodes, ...ofClients], w.nemesis).map(({ name }) => name);
  };

  it('servers talk to each other and to clients, clients to servers alone', () => {
    expect(peers(['r1'])).toEqual(['r2', 'c1', 'c2']);
    expect(peers([], ['c1'])).toEqual(['r1', 'r2']);
    expect(peers(['r1'], ['c1'])).toEqual(['r2', 'c2']);
    expect(peers(['r1', 'r2'])).toEqual(['c1', 'c2']);
  });
});
