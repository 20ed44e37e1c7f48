import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanStep } from '../../../../harness/vocabulary/faults.js';
import { faults } from '../../../../nemesis/faults/index.js';
import { NOTHING_ASKED } from '../../../../nemesis/levers/link-shaper.js';
import { combined } from '../../../../nemesis/levers/links.js';
import { bothWays, oneWay } from '../../../../nemesis/levers/network.js';
import { type FakeNode, type World, world } from '../fakes.js';

let w: World;
beforeEach(() => {
  w = world('sentinel');
});

const toAll = () => oneWay([w.host('r1')], [w.host('r2'), w.host('r3')]);
/** What the shaper of r1 is asked for of what goes to the peer. */
const asked = (peer: string) => [...w.host('r1').shapers.values()][0]?.get(w.host(peer).address);

describe('degraded links', () => {
  it('are led through a shaper that answers with what it was asked for, and healed', async () => {
    const grip = await w.clock.run(w.levers.links.shape(bothWays([w.host('r1')], [w.host('r2')]), { delayMs: 50 }));
    expect(grip.proof).toContain('r1 to r2 (a TUN device); r2 to r1 (a TUN device)');
    expect(grip.effects).toMatchObject([
      {
        kind: 'degraded',
        pairs: [
          ['r1', 'r2'],
          ['r2', 'r1'],
        ],
        delayMs: 50,
        lossPpm: 0,
      },
    ]);
    expect(asked('r2')).toMatchObject({ delay: 50_000 });
    expect([...w.host('r1').led.keys()]).toEqual([w.host('r2').address]);
    expect(await w.levers.links.trouble(w.host('r1'))).toEqual([
      `r1 still sends through a link shaper to ${w.host('r2').address}`,
    ]);
    expect(await w.clock.run(grip.heal())).toContain('r1 sent 0 packets');
    expect(await w.inForce()).toEqual([]);
    expect(await w.levers.links.trouble(w.host('r1'))).toEqual([]);
  });

  it('keep what another fault asks for, whoever is healed first', async () => {
    for (const first of [0, 1]) {
      const grips = [
        await w.clock.run(w.levers.links.shape(toAll(), { delayMs: 50, lossPpm: 500_000 })),
        await w.clock.run(
          w.levers.links.shape(oneWay([w.host('r1')], [w.host('r2')]), { delayMs: 20, lossPpm: 500_000 }),
        ),
      ];
      expect(asked('r2')).toMatchObject({ delay: 70_000, loss: 750_000 });
      expect(asked('r3')).toMatchObject({ delay: 50_000, loss: 500_000 });
      expect(await w.clock.run(grips[first]!.heal())).toContain('kept degraded by another fault: to r2');
      expect(asked('r2')).toMatchObject({ delay: first === 0 ? 20_000 : 50_000, loss: 500_000 });
      expect([...w.host('r1').led.keys()]).toContain(w.host('r2').address);
      await w.clock.run(grips[1 - first]!.heal());
      expect(await w.inForce()).toEqual([]);
    }
  });

  it('are healed once, however often that is asked', async () => {
    const first = await w.clock.run(w.levers.links.shape(toAll(), { delayMs: 50 }));
    const second = await w.clock.run(w.levers.links.shape(toAll(), { delayMs: 20 }));
    await w.clock.run(Promise.all([first.heal(), first.heal()]));
    expect(asked('r2')).toMatchObject({ delay: 20_000 });
    await w.clock.run(second.heal());
    expect(await w.inForce()).toEqual([]);
  });

  it.each([
    [
      'a shaper that does not start',
      () => {
        w.host('r2').shaperSays = 'a veth pair: Operation not permitted';
      },
      /r2's link shaper: a veth pair/,
    ],
    [
      'a shaper that does not do what it is asked',
      () => {
        w.host('r2').shaperIsDeaf = true;
      },
      /r2's link shaper was asked for .* and shows 0/,
    ],
    [
      'a routing table that does not show it',
      () => {
        w.host('r2').ignores = ['add'];
      },
      /r2 sends nothing over lt\d to r1/,
    ],
    [
      'packets that go another way than the routing table says',
      () => {
        w.host('r2').strays = [w.host('r1').address];
      },
      /r2 sends nothing over lt\d to r1/,
    ],
  ])('are refused with %s, and nothing is left', async (_, damage, message) => {
    damage();
    const strike = w.levers.links.shape(bothWays([w.host('r1')], [w.host('r2')]), { delayMs: 50 });
    await expect(w.clock.run(strike)).rejects.toThrow(message);
    expect(await w.inForce()).toEqual([]);
  });

  it('are not healed as long as the routing table shows them, and can be tried again', async () => {
    const grip = await w.clock.run(w.levers.links.shape(toAll(), { delayMs: 50 }));
    w.host('r1').ignores = ['del'];
    await expect(w.clock.run(grip.heal())).rejects.toThrow('r1 still sends over lt0 to r2, r3');
    w.host('r1').ignores = [];
    await w.clock.run(grip.heal());
    expect(await w.inForce()).toEqual([]);
  });

  it('are whole from when their shaper ends by itself, and it is said since when', async () => {
    const grip = await w.clock.run(w.levers.links.shape(toAll(), { delayMs: 50 }));
    expect(grip.meanwhile()).toEqual([]);
    await w.clock.run(w.clock.sleep(1_000));
    w.host('r1').shaperProcess!.signal('SIGKILL');
    await w.clock.run(w.clock.sleep(1_000));
    expect(grip.meanwhile()).toMatchObject([{ kind: 'degraded', untilNs: 1e9 }]);
    expect(await w.clock.run(grip.heal())).toContain('the link shaper of r1 had ended before');
    // The next one starts a shaper of its own.
    const next = await w.clock.run(w.levers.links.shape(toAll(), { delayMs: 20 }));
    expect(asked('r2')).toMatchObject({ delay: 20_000 });
    await w.clock.run(next.heal());
    expect(await w.inForce()).toEqual([]);
  });

  it('tell when they are healed what became of packets since they were struck, to all peers, and how late the latest was', async () => {
    w.host('r1').shaperCounts = { taken: 7, lost: 2, duplicated: 1, reordered: 1, overflowed: 1, errors: 1 };
    const grip = await w.clock.run(w.levers.links.shape(toAll(), { delayMs: 50 }));
    w.host('r1').shaperCounts = { taken: 10, lost: 4, duplicated: 1, reordered: 4, overflowed: 2, errors: 3 };
    w.host('r1').shaperLatestUs = 400;
    expect(await w.clock.run(grip.heal())).toBe(
      'r1 sent 6 packets, 4 lost, 6 reordered, 2 too many at once, 4 not sent, 0.4 ms later than asked at the most',
    );
    const twice = await w.clock.run(w.levers.links.shape(toAll(), { delayMs: 50 }));
    w.host('r1').shaperCounts = { ...w.host('r1').shaperCounts, duplicated: 2 };
    w.host('r1').shaperLatestUs = 0;
    expect(await w.clock.run(twice.heal())).toBe('r1 sent 0 packets, 2 twice');
  });

  it('cannot be asked for on a link that nothing shapes', async () => {
    const asked = async () => w.levers.links.loseReplies([w.host('r1'), w.host('r2')], 5_000, 1);
    await expect(asked()).rejects.toThrow('nothing shapes what r1 sends to r2');
  });

  it('lose answers of any kind, or only those that are numbers', async () => {
    const pair = [w.host('r1'), w.host('r2')] as const;
    const grip = await w.clock.run(w.levers.links.shape([pair], {}));
    await w.clock.run(w.levers.links.loseReplies(pair, 5_000, 2));
    await w.clock.run(w.levers.links.loseReplies(pair, 5_000, 1, 'numbers'));
    const { address } = w.host('r2');
    expect(w.host('r1').asked.filter((one) => one.startsWith('reset-on-reply'))).toEqual([
      `reset-on-reply ${address} 5000 2`,
      `reset-on-reply ${address} 5000 1 numbers`,
    ]);
    await w.clock.run(grip.heal());
  });

  it('lose what waits on them when they are cut', async () => {
    const grip = await w.clock.run(w.levers.links.shape(toAll(), { delayMs: 50 }));
    const cut = await w.clock.run(w.levers.network.cut(bothWays([w.host('r1')], [w.host('r2')])));
    expect(w.host('r1').asked.filter((line) => line.startsWith('drop'))).toEqual([`drop ${w.host('r2').address}`]);
    await w.clock.run(grip.heal());
    expect([...w.host('r1').routes]).toEqual([w.host('r2').address]);
    await cut.heal();
    expect(await w.inForce()).toEqual([]);
  });
});

describe('several shapes of one link', () => {
  it('add up their delays, lose each its share of what is left, and go as slowly as the slowest', () => {
    const shapes = [
      { ...NOTHING_ASKED, delayMs: 10, jitterMs: 5, lossPpm: 100_000, rateKbps: 20 },
      { ...NOTHING_ASKED, delayMs: 20, lossPpm: 500_000, gapMs: 3, rateKbps: 5 },
      NOTHING_ASKED,
    ];
    const one = { ...NOTHING_ASKED, delayMs: 30, jitterMs: 5, lossPpm: 550_000, gapMs: 3, rateKbps: 5 };
    expect(combined(shapes)).toEqual(one);
    expect(combined([])).toEqual(NOTHING_ASKED);
  });
});

describe('faults that degrade links', () => {
  const strike = (fault: string, target: PlanStep['target'], args?: PlanStep['args'], on: World = w) =>
    on.clock.run(faults[fault]!.strike({ atMs: 0, fault, target, forMs: 1_000, ...(args && { args }) }, on.nemesis));
  const pairsIn = (record: { effects: readonly object[] }) =>
    record.effects
      .flatMap((effect) => ('pairs' in effect ? (effect.pairs as string[][]) : []))
      .map((pair) => pair.join('>'));

  it.each([
    ['delay', { delayMs: 50, jitterMs: 80 }, { delayMs: 50, jitterMs: 50 }, '50 ms later, 50 ms more or less'],
    ['delay', {}, { delayMs: 50, jitterMs: 0 }, '50 ms later'],
    ['loss', { lossPpm: 250_000 }, { lossPpm: 250_000 }, '25 % lost'],
    ['rate', { rateKbps: 3 }, { rateKbps: 3 }, '3 kB/s at the most'],
    ['duplicate', { duplicatePpm: 500_000 }, { duplicatePpm: 500_000 }, '50 % twice'],
    ['reorder', { reorderPpm: 500_000, gapMs: 7 }, { reorderPpm: 500_000 }, '50 % overtaken, 7 ms late'],
  ])('%s asks for what its arguments say: %j', async (fault, args, effect, words) => {
    const active = await strike(fault, { names: ['c1'] }, args);
    expect(active.record.did).toBe(`degraded what c1 sends and is sent: ${words}`);
    expect(active.record.effects).toMatchObject([{ kind: 'degraded', ...effect }]);
    expect(active.record.targets).toEqual(['c1']);
    await w.clock.run(active.heal());
    expect(await w.inForce()).toEqual([]);
  });

  it.each([
    ['as late as is allowed', { lateMs: 80 }, 80_000, undefined],
    ['later', { lateMs: 80 }, 80_100, 'up to 80.1 ms later than asked, and 80 ms are allowed'],
    ['later, where nothing is allowed or forbidden', {}, 80_100, undefined],
  ] as const)('say when healed whether something came %s', async (_, args, latestUs, late) => {
    const active = await strike('delay', { names: ['c1'] }, args);
    w.host('r1').shaperLatestUs = latestUs;
    await w.clock.run(active.heal());
    expect(active.late?.()).toBe(late);
  });

  it('say that nobody knows where a shaper ended before', async () => {
    const active = await strike('delay', { names: ['c1'] }, { lateMs: 80 });
    w.host('c1').shaperProcess!.signal('SIGKILL');
    await w.clock.run(active.heal());
    expect(active.late?.()).toBe('nobody knows how late, and 80 ms are allowed');
  });

  it.each([
    ['out', ['r1>c1', 'r1>c2', 'r1>c3']],
    ['in', ['c1>r1', 'c2>r1', 'c3>r1']],
    ['both', ['c1>r1', 'c2>r1', 'c3>r1', 'r1>c1', 'r1>c2', 'r1>c3']],
  ])('degrade the packets of one direction or both: %s', async (direction, pairs) => {
    const single = world('single');
    const clients = single.clients.map(({ slot }) => slot);
    const active = await strike('delay', 'primary', { direction }, single);
    const expected = pairs.filter((pair) => pair.split('>').every((name) => name === 'r1' || clients.includes(name)));
    expect(pairsIn(active.record).sort().slice(0, 99)).toEqual(expect.arrayContaining(expected));
    expect(pairsIn(active.record)).toHaveLength(clients.length * (direction === 'both' ? 2 : 1));
    await single.clock.run(active.heal());
    expect(await single.inForce()).toEqual([]);
  });

  it('leave what clients send to an address that moves as it is, and do not say otherwise', async () => {
    w.topology.describe = () => ({ kind: 'replica', node: { name: 'vip', host: '10.77.255.1', port: 6379 } });
    const active = await strike('delay', { names: ['r1'] });
    expect(pairsIn(active.record).filter((pair) => /^c\d>r/.test(pair))).toEqual([]);
    expect(pairsIn(active.record)).toContain('r1>c1');
    await w.clock.run(active.heal());
  });

  it('are refused where the kernel would drop what comes back, with the remedy', async () => {
    w.host('c1').rpFilter = '1\n0';
    await expect(strike('delay', { names: ['c1'] })).rejects.toMatchObject({
      refused: true,
      message: expect.stringMatching(/c1 filters by reverse path \(rp_filter 1, 0\); remedy: sysctl/),
    });
    expect(await w.inForce()).toEqual([]);
  });
});

describe('reset', () => {
  const strike = (target: PlanStep['target'] = 'primary', forMs = 1_000, args?: PlanStep['args']) =>
    w.clock.run(faults.reset!.strike({ atMs: 0, fault: 'reset', target, forMs, ...(args && { args }) }, w.nemesis));
  const connected = (client: string, port: number) => w.host('r1').queues.set(`${w.host(client).address}:${port}`, 0);
  beforeEach(() => {
    w = world('single');
  });

  it('resets every connection, says which, and leaves nothing in force', async () => {
    connected('c1', 4_001);
    connected('c2', 4_002);
    const active = await strike();
    expect(active.record.did).toBe('reset 2 connections of r1 with c1, c2');
    expect(active.record.effects).toMatchObject([
      {
        kind: 'connections-reset',
        pairs: [
          ['r1', 'c1'],
          ['r1', 'c2'],
        ],
      },
    ]);
    const [effect] = active.record.effects;
    expect(effect!.untilNs).toBe(effect!.sinceNs);
    expect(w.host('r1').queues.size).toBe(0);
    expect(await w.inForce()).toEqual([]);
    await w.clock.run(active.heal());
    expect(await w.inForce()).toEqual([]);
  });

  it('lets nobody connect for as long as it is asked to, and says so', async () => {
    connected('c1', 4_001);
    const beganNs = w.clock.nowNs();
    const active = await strike('primary', 1_000, { awayMs: 300 });
    expect(w.clock.nowNs() - beganNs).toBeGreaterThanOrEqual(300e6);
    expect(active.record.did).toBe('reset 1 connection of r1 with c1, and let nobody connect for 300 ms');
    expect(active.record.proof).toContain('nothing comes from r1: routed through a link shaper');
    const [reset, away] = active.record.effects;
    expect(away).toMatchObject({ kind: 'degraded', pairs: [['r1', 'c1']], lossPpm: 1_000_000 });
    expect(away!.sinceNs!).toBeLessThanOrEqual(reset!.sinceNs!);
    expect(away!.untilNs! - reset!.untilNs!).toBeGreaterThanOrEqual(300e6);
    expect(await w.inForce()).toEqual([]);
    await w.clock.run(active.heal());
  });

  it('fails where a kernel still lists one, and leaves nothing in force', async () => {
    connected('c1', 4_001);
    // The shaper says that it sent both RST, and the connection is still there.
    const { queues } = w.host('r1');
    queues.delete = () => false;
    await expect(strike()).rejects.toThrow(/still there after 3000 ms: .* – 10\.77\.0\.\d+:4001/);
    expect(await w.inForce()).toEqual([]);
  });

  it('leaves out whom another fault has cut off meanwhile', async () => {
    connected('c1', 4_001);
    connected('c2', 4_002);
    const { queues } = w.host('r1');
    const ends = queues.delete.bind(queues);
    queues.delete = (end) => !end.endsWith(':4001') && ends(end);
    void w.clock.sleep(700).then(() => w.levers.network.cut(oneWay([w.host('c1')], [w.host('r1')])));
    const active = await strike('primary', 100);
    expect(active.record.did).toBe('reset 1 connection of r1 with c2');
    await w.clock.run(active.heal());
  });

  it('is refused where there is no connection, and leaves links alone that are cut', async () => {
    await expect(strike()).rejects.toMatchObject({
      refused: true,
      message: 'r1 had no connection that could be reset',
    });
    connected('c1', 4_001);
    const cut = await w.clock.run(w.levers.network.cut(oneWay([w.host('c1')], [w.host('r1')])));
    await expect(strike()).rejects.toMatchObject({ refused: true });
    expect(w.host('r1').asked.filter((line) => line.startsWith('reset '))).toEqual([]);
    await cut.heal();
    await w.clock.run((await strike()).heal());
    expect(await w.inForce()).toEqual([]);
  });
});

describe('reset-on-reply', () => {
  const strike = (forMs = 1_000) =>
    w.clock.run(
      faults['reset-on-reply']!.strike(
        { atMs: 0, fault: 'reset-on-reply', target: { names: ['c1'] }, forMs },
        w.nemesis,
      ),
    );
  /** The node runs it; its answer leaves the node. */
  function ran(port: number, argv: string[], client = 'c1') {
    const { address } = w.host(client);
    for (const follow of w.host('r1').watchers) follow({ serverWallMs: 0, source: `${address}:${port}`, argv });
    w.host('r1').queues.set(`${address}:${port}`, 0);
    w.host('r1').answer(address, port);
  }
  beforeEach(() => {
    w = world('single');
  });

  it('loses the answer to a command on a lock with its connection, and says to which', async () => {
    void w.clock.sleep(200).then(() => ran(4_001, ['del', 'lock:0']));
    const active = await strike();
    expect(active.record.targets).toEqual(['c1']);
    expect(active.record.did).toBe('lost what r1 answered to DEL lock:0 of c1, and reset the connection');
    expect(active.record.effects).toMatchObject([{ kind: 'connections-reset', pairs: [['r1', 'c1']] }]);
    await w.clock.run(active.heal());
    expect(await w.inForce()).toEqual([]);
  });

  it('does not take the answer to something else for it, and goes on', async () => {
    void w.clock.sleep(100).then(() => ran(4_001, ['info']));
    void w.clock.sleep(300).then(() => ran(4_002, ['set', 'lock:1', 'value', 'NX']));
    const active = await strike();
    expect(active.record.did).toContain('SET lock:1 of c1');
    await w.clock.run(active.heal());
    expect(await w.inForce()).toEqual([]);
  });

  it.each([
    ['nothing is answered', () => {}],
    ['only something else is answered', () => ran(4_001, ['info'])],
  ])('fails when %s while the step lasts, and leaves nothing in force', async (_, happens) => {
    void w.clock.sleep(200).then(happens);
    await expect(strike()).rejects.toThrow('no answer to a command on lock:0, lock:1 came to c1');
    expect(await w.inForce()).toEqual([]);
  });

  it('is not put off by what another step asks by the same connection', async () => {
    const node = w.node('r1') as FakeNode;
    const command = node.command.bind(node);
    node.command = async (...argv) => {
      const answer = await command(...argv);
      if (argv[0] === 'ECHO') await command('PING');
      return answer;
    };
    void w.clock.sleep(200).then(() => ran(4_001, ['del', 'lock:0']));
    const active = await strike();
    expect(active.record.did).toContain('DEL lock:0 of c1');
    await w.clock.run(active.heal());
  });

  it('takes no connection that another fault reset for one that went with an answer', async () => {
    const { address } = w.host('c1');
    void w.clock.sleep(100).then(() => w.levers.links.reset([w.host('r1'), w.host('c1')], address, 6379, 4_001));
    void w.clock.sleep(300).then(() => ran(4_002, ['del', 'lock:0']));
    const active = await strike();
    expect(active.record.proof).toContain(':4002');
    expect(active.record.effects).toHaveLength(1);
    expect(w.notes).toEqual([]);
    await w.clock.run(active.heal());
  });

  it('does not count an answer of which it cannot tell by which connection it went', async () => {
    void w.clock.sleep(300).then(() => {
      ran(4_001, ['del', 'lock:0']);
      void w.levers.links.reset([w.host('r1'), w.host('c1')], w.host('c1').address, 6379, 4_002);
    });
    await expect(strike()).rejects.toThrow('no answer to a command on lock:0, lock:1 came to c1');
    expect(w.notes).toMatchObject([
      { state: 'phase', targets: [], proof: expect.stringContaining(':4002; another fault has reset one of them') },
    ]);
    expect(await w.inForce()).toEqual([]);
  });

  describe('of any client', () => {
    const anybody = (args: PlanStep['args'] = {}) =>
      faults['reset-on-reply']!.strike(
        { atMs: 0, fault: 'reset-on-reply', target: 'client', forMs: 1_000, args },
        w.nemesis,
      );
    const waits = (client: string, key: string) => {
      w.emit({ type: 'invoke', client, id: 9, op: 'acquire', key, leaseMs: 5_000, waitMs: 4_000 });
    };
    const holds = (client: string, key: string) => {
      w.clients.find(({ name }) => name === client)!.holding = [key];
    };
    const whose = (client: string) => (port: number, argv: string[]) => ran(port, argv, client);

    it('waits for all at once whose locks are waited for, and tells of each', async () => {
      holds('c1', 'lock:0');
      holds('c2', 'lock:1');
      holds('c3', 'lock:0');
      void w.clock.sleep(50).then(() => {
        waits('c5', 'lock:0');
        waits('c6', 'lock:1');
      });
      void w.clock.sleep(200).then(() => {
        whose('c4')(4_000, ['del', 'lock:0']);
        whose('c2')(4_001, ['del', 'lock:1']);
        whose('c1')(4_002, ['del', 'lock:0']);
      });
      const active = await w.clock.run(anybody({ answers: 'numbers' }));
      expect(active.record.targets).toEqual(['c1', 'c2']);
      expect(active.record.effects).toHaveLength(2);
      await w.clock.run(active.heal());
      expect(await w.inForce()).toEqual([]);
    });

    it('takes releases that nobody waits for only where for half a second nobody waited', async () => {
      for (const { name } of w.clients) holds(name, 'lock:0');
      for (const atMs of [300, 700])
        for (const { name } of w.clients)
          void w.clock.sleep(atMs).then(() => whose(name)(4_000 + atMs, ['del', 'lock:0']));
      const active = await w.clock.run(anybody({ answers: 'numbers' }));
      expect(active.record.proof).toContain(':4700');
      await w.clock.run(active.heal());
    });

    it('never waits for the same answer as another step', async () => {
      holds('c1', 'lock:0');
      void w.clock.sleep(50).then(() => waits('c2', 'lock:0'));
      void w.clock.sleep(400).then(() => ran(4_001, ['del', 'lock:0']));
      const both = await w.clock.run(Promise.allSettled([anybody(), anybody()]));
      const told = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value.record] : []));
      expect(told.filter(({ targets }) => targets.includes('c1'))).toHaveLength(1);
      for (const one of both) if (one.status === 'fulfilled') await w.clock.run(one.value.heal());
      expect(await w.inForce()).toEqual([]);
    });
  });

  it('fails where the connection is still there', async () => {
    void w.clock.sleep(200).then(() => {
      w.host('r1').queues.delete = () => false;
      ran(4_001, ['del', 'lock:0']);
    });
    await expect(strike()).rejects.toThrow(/the connection of c1 \(10\.77\.0\.\d+:4001\) is still there/);
    expect(await w.inForce()).toEqual([]);
  });
});
