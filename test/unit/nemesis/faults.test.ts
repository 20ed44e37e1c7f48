// biome-ignore-all lint/suspicious/noThenProperty: a word in a plan, never a function
import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanStep, Target } from '../../../harness/vocabulary/faults.js';
import type { FaultEffect, FaultRecord } from '../../../harness/vocabulary/history.js';
import { faults } from '../../../nemesis/faults/index.js';
import { endName, parseConnections } from '../../../nemesis/striking/connections.js';
import type { ActiveNemesis } from '../../../nemesis/striking/context.js';
import { range, type World, world } from './fakes.js';

type Args = PlanStep['args'];

function strike(w: World, fault: string, target: Target, forMs = 3_000, args?: Args): Promise<ActiveNemesis> {
  const step: PlanStep = { atMs: 0, fault, target, forMs, ...(args && { args }) };
  return w.clock.run(faults[fault]!.strike(step, w.nemesis).then((active) => declared(fault, active)));
}

const heal = (w: World, active: ActiveNemesis) => w.clock.run(active.heal());

/** No fault tells of effects that its documentation does not name. */
function declared(fault: string, active: ActiveNemesis): ActiveNemesis {
  expect(
    active.record.effects.map(({ kind }) => kind).filter((kind) => !faults[fault]!.effects.includes(kind)),
  ).toEqual([]);
  return active;
}

/** Routes as "r1>r2", by host names. */
function cuts(w: World): string[] {
  const nameOf = new Map(w.hosts.map((host) => [host.address, host.name]));
  return w.hosts.flatMap((host) => [...host.routes].map((to) => `${host.name}>${nameOf.get(to)}`)).sort();
}

/** What a record says is cut, and goes on being. */
const cutIn = ({ effects }: Pick<FaultRecord, 'effects'>) =>
  effects
    .flatMap((one) => (one.kind === 'cut' && one.untilNs === undefined ? one.pairs : []))
    .map(([a, b]) => `${a}>${b}`)
    .sort();

/** Whom an effect of this kind is on. */
const having = (
  kind: Exclude<FaultEffect['kind'], 'cut' | 'degraded' | 'heard-after' | 'connections-reset'>,
  { effects }: Pick<FaultRecord, 'effects'>,
) => effects.flatMap((one) => (one.kind === kind ? one.who : []));

describe('kill', () => {
  it('kills servers and starts them again', async () => {
    const w = world('redlock', { persistence: 'aof-always' });
    const active = await strike(w, 'kill', { names: ['r1', 'r2', 'r3'] });
    expect(active.record.targets).toEqual(['r1', 'r2', 'r3']);
    expect(having('forgot', active.record)).toEqual([]);
    expect(await w.inForce()).toEqual(['r1 is dead', 'r2 is dead', 'r3 is dead']);
    expect(await heal(w, active)).toContain('r2 runs again');
    expect(await w.inForce()).toEqual([]);
  });

  it('starts those that need each other at once', async () => {
    const w = world('redlock', { persistence: 'aof-always' });
    const names = ['r1', 'r2', 'r3'];
    const active = await strike(w, 'kill', { names });
    let begun = 0;
    for (const node of names.map((name) => w.node(name))) {
      const start = node.start.bind(node);
      // As members of a quorum: none answers before a majority is there.
      node.start = async () => {
        begun++;
        for (let tries = 0; begun < 2; tries++) {
          if (tries > 100) throw new Error(`${node.name}: no answer`);
          await w.clock.sleep(100);
        }
        return start();
      };
    }
    expect(await heal(w, active)).toContain('r1 runs again');
    expect(await w.inForce()).toEqual([]);
  });

  it('waits for a client that a busy machine takes seconds to end', async () => {
    const w = world('single');
    const { process } = w.clients[1]!;
    const die = process.signal.bind(process);
    process.signal = (signal) => void w.clock.sleep(4_000).then(() => die(signal));
    const { record } = await strike(w, 'kill', { names: ['c2'] });
    expect(record.proof).toBe(`c2 (pid ${process.pid}) is dead`);
  });

  it('kills clients, which come back as new processes', async () => {
    const w = world('single');
    const active = await strike(w, 'kill', { names: ['c2'] });
    expect(active.record.proof).toContain('c2 (pid');
    expect(await w.inForce()).toEqual(['c2 is dead']);
    expect(await heal(w, active)).toMatch(/^c2 is back as c2\.2 \(pid \d+\)$/);
  });

  it.each(['none', 'rdb', 'aof-everysec'] as const)('counts as forgetting with persistence %s', async (persistence) => {
    const w = world('redlock', { persistence });
    const active = await strike(w, 'kill', { names: ['r1', 'r2'] });
    expect(having('forgot', active.record)).toEqual(['r1', 'r2']);
    expect(having('killed', active.record)).toEqual(['r1', 'r2']);
    await heal(w, active);
    await expect(strike(w, 'kill', { names: ['r3'] })).rejects.toMatchObject({
      refused: true,
      message: 'r3 would make 3 nodes forget within one lease; at most 2 may (r1, r2 forgot within the last lease)',
    });
    expect(await w.inForce()).toEqual([]);
    await w.clock.run(w.clock.sleep(5_300));
    await heal(w, await strike(w, 'kill', { names: ['r3'] }));
  });

  it('leaves no process dead when one of several survives', async () => {
    const w = world('redlock', { persistence: 'aof-always' });
    w.node('r2').process.deafTo = ['SIGKILL'];
    await expect(strike(w, 'kill', { names: ['r1', 'r2'] })).rejects.toThrow('r2');
    expect(await w.inForce()).toEqual([]);
  });

  it('starts a primary that forgot only when it has been replaced', async () => {
    const w = world('sentinel');
    const active = await strike(w, 'kill', 'primary');
    const beganNs = w.clock.nowNs();
    void w.clock.sleep(1_300).then(() => {
      w.primary = w.node('r2');
    });
    expect(await heal(w, active)).not.toContain('not been replaced');
    expect((w.clock.nowNs() - beganNs) / 1e6).toBeGreaterThanOrEqual(1_300);
  });

  it('says so when a primary that forgot was never replaced', async () => {
    const w = world('sentinel');
    const active = await strike(w, 'kill', 'primary');
    expect(await heal(w, active)).toContain('r1 had not been replaced after 6000 ms');
  });
});

describe('amnesia', () => {
  it('wipes a dead node and starts it when healed', async () => {
    const w = world('redlock', { persistence: 'aof-always' });
    w.node('r2').keys.add('lock:0');
    const active = await strike(w, 'amnesia', { names: ['r2'] });
    expect(having('forgot', active.record)).toEqual(['r2']);
    expect([w.node('r2').forgotten, w.node('r2').keys.size]).toEqual([1, 0]);
    await heal(w, active);
    expect(await w.inForce()).toEqual([]);
  });

  it.each([
    ['redlock', ['r1', 'r2', 'r3']],
    ['sentinel', ['r1', 'r2']],
  ] as const)('is refused on %s for more than a minority', async (name, names) => {
    const w = world(name, { persistence: 'aof-always' });
    await expect(strike(w, 'amnesia', { names: [...names] })).rejects.toMatchObject({ refused: true });
    expect(await w.inForce()).toEqual([]);
    expect(w.nodes.map((node) => node.forgotten).every((count) => count === 0)).toBe(true);
  });
});

describe('pause', () => {
  it('pauses a holder and lets it run again', async () => {
    const w = world('single');
    w.clients[3]!.holding = ['lock:1'];
    const active = await strike(w, 'pause', 'holder');
    expect(active.record.targets).toEqual(['c4']);
    expect(await w.inForce()).toEqual(['c4 is stopped']);
    await heal(w, active);
    expect(await w.inForce()).toEqual([]);
  });

  it('stops another holder where one has ended before it could be stopped', async () => {
    const w = world('single');
    for (const n of [2, 3]) w.clients[n]!.holding = ['lock:1'];
    for (const n of [2, 3]) {
      const { process } = w.clients[n]!;
      const signal = process.signal.bind(process);
      // It dies of itself just then, and whoever looks for holders next does not find it.
      process.signal = (name) => {
        if (name === 'SIGSTOP' && w.clients[5 - n]!.holding.length > 0) {
          w.clients[n]!.holding = [];
          signal('SIGKILL');
        } else signal(name);
      };
    }
    const active = await strike(w, 'pause', 'holder');
    const [struck] = active.record.targets;
    expect(['c3', 'c4']).toContain(struck);
    await heal(w, active);
  });

  it('never stops a quorum of Sentinels, also not by two faults', async () => {
    const w = world('sentinel');
    await expect(strike(w, 'pause', { names: ['s1', 's2'] })).rejects.toMatchObject({ refused: true });
    const first = await strike(w, 'pause', { names: ['s1'] });
    await expect(strike(w, 'pause', { names: ['s3'] })).rejects.toThrow('2 of 3 Sentinels would be stopped');
    expect(await w.inForce()).toEqual(['s1 is stopped']);
    await heal(w, first);
  });
});

describe('partition', () => {
  const others = ['r2', 'r3', 'c1', 'c2'];
  let w: World;
  beforeEach(() => {
    w = world('redlock', { nodes: 3, clients: 2 });
  });

  it.each([
    ['both', [...others.map((to) => `r1>${to}`), ...others.map((from) => `${from}>r1`)]],
    ['out', others.map((to) => `r1>${to}`)],
    ['in', others.map((from) => `${from}>r1`)],
  ] as const)('%s', async (mode, expected) => {
    const active = await strike(w, 'partition', { names: ['r1'] }, 3_000, { mode });
    expect(cuts(w)).toEqual([...expected].sort());
    expect(cutIn(active.record)).toEqual(cuts(w));
    await heal(w, active);
    expect(await w.inForce()).toEqual([]);
  });

  it('link: between two names, or one target and a peer that it talks to', async () => {
    const active = await strike(w, 'partition', { names: ['r1', 'c2'] }, 3_000, { mode: 'link' });
    expect(cuts(w)).toEqual(['c2>r1', 'r1>c2']);
    await heal(w, active);
    for (const _ of range(10)) {
      const one = await strike(w, 'partition', { names: ['c1'] }, 3_000, { mode: 'link' });
      expect(cuts(w)).toHaveLength(2);
      expect(cuts(w)).not.toContain('c1>c2');
      await heal(w, one);
    }
  });

  it('minority: a minority of Sentinels and half of the clients go with the targets', async () => {
    const s = world('sentinel', { clients: 4 });
    const active = await strike(s, 'partition', 'minority', 3_000, { mode: 'minority' });
    const [side] = [s.hosts.filter((host) => host.routes.size === 10 - 4).map((host) => host.name)];
    expect(side.map((name) => name[0]).sort()).toEqual(['c', 'c', 'r', 's']);
    expect(cuts(s)).toHaveLength(2 * 4 * 6);
    await heal(s, active);
    expect(await s.inForce()).toEqual([]);
  });

  it('off: the link is down', async () => {
    const active = await strike(w, 'partition', { names: ['r2'] }, 3_000, { mode: 'off' });
    expect(await w.inForce()).toEqual(['r2 is off']);
    expect(having('off-network', active.record)).toEqual(['r2']);
    await heal(w, active);
    expect(await w.inForce()).toEqual([]);
  });

  it('cuts a client from servers only', async () => {
    await strike(w, 'partition', { names: ['c1'] });
    expect(cuts(w)).toEqual(['c1>r1', 'c1>r2', 'c1>r3', 'r1>c1', 'r2>c1', 'r3>c1']);
  });

  it('refuses to call a cut one-way where it would cut both ways', async () => {
    w.host('r1').rpFilter = '1\n0';
    await expect(strike(w, 'partition', { names: ['r1'] }, 3_000, { mode: 'out' })).rejects.toMatchObject({
      refused: true,
    });
    expect(await w.inForce()).toEqual([]);
  });
});

describe('clock', () => {
  it.each([6_000, -6_000])('moves a clock by %i ms and back', async (offsetMs) => {
    const w = world('redlock');
    const active = await strike(w, 'clock', { names: ['r1'] }, 3_000, { offsetMs });
    expect(active.record.effects).toMatchObject([{ kind: 'clock-jumped', who: ['r1'], offsetMs }]);
    expect(active.record.proof).toContain(`${offsetMs > 0 ? '+' : ''}${offsetMs} ms off`);
    expect(await w.inForce()).toEqual([`r1 is ${offsetMs} ms off`]);
    await heal(w, active);
    expect(await w.inForce()).toEqual([]);
  });

  it('counts as forgetting: forward when it strikes, back when it is healed', async () => {
    const w = world('redlock');
    await strike(w, 'clock', { names: ['r1'] }, 3_000, { offsetMs: 6_000 });
    const back = await strike(w, 'clock', { names: ['r2'] }, 3_000, { offsetMs: -6_000 });
    await w.clock.run(w.clock.sleep(20_000));
    expect(w.levers.memory.forgetful()).toEqual(['r2']);
    await heal(w, back);
    expect(w.levers.memory.forgetful()).toEqual(['r2']);
    await w.clock.run(w.clock.sleep(5_300));
    expect(w.levers.memory.forgetful()).toEqual([]);
    await expect(
      strike(w, 'clock', 'minority', 3_000, { offsetMs: 6_000 }).then(() =>
        strike(w, 'clock', 'all', 1, { offsetMs: 1 }),
      ),
    ).rejects.toMatchObject({ refused: true });
  });

  it('moves a client, and fails where nothing shows that it moved', async () => {
    const w = world('single');
    const active = await strike(w, 'clock', { names: ['c1'] }, 3_000, { offsetMs: 4_000 });
    expect(active.record.proof).toContain("c1's program says it is +4000 ms off");
    await heal(w, active);
    w.clients[0]!.tellsTime = false;
    await expect(strike(w, 'clock', { names: ['c1'] }, 3_000, { offsetMs: 4_000 })).rejects.toThrow(
      'cannot tell the time',
    );
    w.node('r1').shimmed = false;
    await expect(strike(w, 'clock', { names: ['r1'] }, 3_000, { offsetMs: 4_000 })).rejects.toThrow('0 ms off');
    // It was not seen to jump, but it may have.
    expect(w.levers.memory.forgetful()).toEqual(['r1']);
    expect(await w.inForce()).toEqual([]);
  });

  it('fails where a jump is too small to be distinguished from none', async () => {
    const w = world('single');
    await expect(strike(w, 'clock', { names: ['r1'] }, 3_000, { offsetMs: 5 })).rejects.toThrow(
      'give or take 6 ms, which does not tell a move of 5 ms',
    );
    expect(await w.inForce()).toEqual([]);
  });
});

describe('drift', () => {
  it.each([1_000_000, -500_000, 50_000])(
    'lets a clock gain %i ppm, proves the rate, and sets it right',
    async (ratePpm) => {
      const w = world('redlock');
      const active = await strike(w, 'drift', { names: ['r1'] }, 3_000, { ratePpm });
      const [effect] = active.record.effects;
      if (effect?.kind !== 'clock-drifts') throw new Error('its clock does not drift');
      expect(effect).toMatchObject({ who: ['r1'], ratePpm });
      expect(active.record.proof).toMatch(new RegExp(`${ratePpm / 10_000} % of drift$`));
      expect(Math.abs(effect.gainedMs - (w.clock.nowNs() / 1e12) * ratePpm)).toBeLessThan(1);
      await w.clock.run(w.clock.sleep(4_000));
      const gainedMs = (w.clock.nowNs() / 1e12) * ratePpm;
      expect(w.host('r1').aheadMs()).toBeCloseTo(gainedMs, 3);
      await heal(w, active);
      expect(w.host('r1').aheadMs()).toBe(0);
      expect(await w.inForce()).toEqual([]);
    },
  );

  it('counts as forgetting as long as it lasts, and for a lease after', async () => {
    const w = world('redlock');
    const first = await strike(w, 'drift', { names: ['r1', 'r2'] }, 3_000, { ratePpm: 1_000_000 });
    await w.clock.run(w.clock.sleep(20_000));
    const third = () => strike(w, 'drift', { names: ['r3'] }, 3_000, { ratePpm: 50_000 });
    await expect(third()).rejects.toMatchObject({ refused: true });
    await heal(w, first);
    await expect(third()).rejects.toMatchObject({ refused: true });
    await w.clock.run(w.clock.sleep(5_300));
    await heal(w, await third());
  });

  it('fails where the program keeps its old time, and sets the clock back', async () => {
    const w = world('single');
    w.node('r1').shimmed = false;
    await expect(strike(w, 'drift', { names: ['r1'] }, 3_000, { ratePpm: 300_000 })).rejects.toThrow(
      /set to drift by \+30 %, but its program was 0 and then 0 ms off .*: 0 %/,
    );
    expect(await w.inForce()).toEqual([]);
  });

  it('ends at once when the run ends, and leaves nothing in force', async () => {
    const w = world('single');
    void w.clock.sleep(30).then(() => w.interrupt.abort());
    await expect(strike(w, 'drift', { names: ['r1'] }, 3_000, { ratePpm: 10_000 })).rejects.toMatchObject({
      name: 'Interrupted',
    });
    expect(await w.inForce()).toEqual([]);
  });
});

describe('strobe', () => {
  const args = { offsetMs: 6_000, everyMs: 50 };

  it('moves a clock to and fro, and back where it was', async () => {
    const w = world('redlock');
    const active = await strike(w, 'strobe', { names: ['r1'] }, 3_000, args);
    expect(active.record).toMatchObject({
      targets: ['r1'],
      effects: [{ kind: 'clock-strobes', who: ['r1'], offsetMs: 6_000 }],
    });
    expect(active.record.proof).toContain(
      "+6000 ms off the machine's clock; and back: r1's program says it is 0 ms off",
    );
    await w.clock.run(w.clock.sleep(1_020));
    const ends = w.host('r1').skews.map(({ offsetMs }) => offsetMs);
    expect(ends).toEqual(ends.map((_, at) => (at % 2 === 0 ? 6_000 : 0)));
    expect(await heal(w, active)).toMatch(/^seen where it should be after 2[123] of 2[123] jumps; .*0 ms off/);
    const jumps = w.host('r1').skews.length;
    await w.clock.run(w.clock.sleep(1_000));
    expect(w.host('r1').skews).toHaveLength(jumps);
    expect(await w.inForce()).toEqual([]);
  });

  it('counts as forgetting as long as it lasts, and for a lease after', async () => {
    const w = world('redlock');
    const first = await strike(w, 'strobe', { names: ['r1', 'r2'] }, 3_000, args);
    await w.clock.run(w.clock.sleep(8_000));
    await expect(strike(w, 'strobe', { names: ['r3'] }, 3_000, args)).rejects.toMatchObject({ refused: true });
    await heal(w, first);
    expect(w.levers.memory.forgetful()).toEqual(['r1', 'r2']);
    await w.clock.run(w.clock.sleep(5_300));
    expect(w.levers.memory.forgetful()).toEqual([]);
  });

  it('records that a jump was not seen, and goes on', async () => {
    const w = world('redlock');
    const active = await strike(w, 'strobe', { names: ['r1'] }, 3_000, args);
    w.node('r1').shimmed = false;
    await w.clock.run(w.clock.sleep(2_000));
    expect(w.notes).toEqual([expect.objectContaining({ state: 'phase', did: 'a jump was not seen' })]);
    w.node('r1').shimmed = true;
    const [, seen, jumps] = /after (\d+) of (\d+) jumps/.exec(await heal(w, active)) ?? [];
    expect(Number(seen)).toBeLessThan(Number(jumps));
    expect(await w.inForce()).toEqual([]);
  });

  it('fails where the program is seen at one end only', async () => {
    const w = world('single');
    w.node('r1').shimmed = false;
    await expect(strike(w, 'strobe', { names: ['r1'] }, 3_000, args)).rejects.toThrow('its program is 0 ms off');
    expect(await w.inForce()).toEqual([]);
  });

  it('stops with the run', async () => {
    const w = world('single');
    const active = await strike(w, 'strobe', { names: ['r1'] }, 3_000, args);
    w.interrupt.abort();
    await w.clock.run(w.clock.sleep(100));
    const jumps = w.host('r1').skews.length;
    await w.clock.run(w.clock.sleep(1_000));
    expect(w.host('r1').skews).toHaveLength(jumps);
    await heal(w, active);
    expect(await w.inForce()).toEqual([]);
  });
});

describe('slow', () => {
  const args = { pauseMs: 100, everyMs: 250 };

  /** The parts of the next second in which the process is stopped. */
  async function stopped(w: World, process: { state(): Promise<string> }): Promise<number> {
    let count = 0;
    for (let left = 100; left > 0; left--) {
      await w.clock.run(w.clock.sleep(10));
      if ((await process.state()) === 'stopped') count++;
    }
    return count / 100;
  }

  it('stops a node again and again, so that it answers late', async () => {
    const w = world('redlock');
    const active = await strike(w, 'slow', { names: ['r1'] }, 3_000, args);
    expect(active.record.proof).toMatch(/^r1 \(pid \d+\) is stopped; its PING took 1\d\d ms, before 0\.0 ms$/);
    const part = await stopped(w, w.node('r1').process);
    expect(part).toBeGreaterThan(0.3);
    expect(part).toBeLessThan(0.5);
    expect(await heal(w, active)).toMatch(/r1 was seen stopped [45] times; PINGs in them took 1\d\d ms/);
    expect(await stopped(w, w.node('r1').process)).toBe(0);
    expect(await w.inForce()).toEqual([]);
  });

  it('stops a client, as long as it is there', async () => {
    const w = world('single');
    const active = await strike(w, 'slow', { names: ['c1'] }, 3_000, args);
    expect(active.record.targets).toEqual(['c1']);
    w.clients[0]!.process.signal('SIGKILL');
    await w.clock.run(w.clock.sleep(2_000));
    expect(w.notes).toEqual([
      expect.objectContaining({ state: 'phase', did: 'c1 could not be stopped', proof: 'c1 is not running' }),
    ]);
    expect(await heal(w, active)).toContain('it is dead now');
  });

  it('leaves stopped what another fault keeps stopped', async () => {
    const w = world('single');
    const active = await strike(w, 'slow', { names: ['r1'] }, 3_000, args);
    const pause = await strike(w, 'pause', { names: ['r1'] });
    expect(await stopped(w, w.node('r1').process)).toBe(1);
    await heal(w, active);
    expect(await w.inForce()).toEqual(['r1 is stopped']);
    await heal(w, pause);
    expect(await w.inForce()).toEqual([]);
  });

  it('is refused where it would never let the process run, and on one that another fault has stopped', async () => {
    const w = world('single');
    const never = strike(w, 'slow', { names: ['r1'] }, 3_000, { pauseMs: 100, everyMs: 100 });
    await expect(never).rejects.toMatchObject({ refused: true });
    await strike(w, 'pause', { names: ['c1'] });
    await expect(strike(w, 'slow', { names: ['c1'] }, 3_000, args)).rejects.toMatchObject({ refused: true });
  });

  it('never slows a quorum of Sentinels, also not with another fault that stops them', async () => {
    const w = world('sentinel');
    const first = await strike(w, 'slow', { names: ['s1'] }, 3_000, args);
    await expect(strike(w, 'pause', { names: ['s2'] })).rejects.toThrow('2 of 3 Sentinels would be stopped');
    await expect(strike(w, 'slow', { names: ['s2'] }, 3_000, args)).rejects.toThrow('2 of 3 Sentinels');
    await heal(w, first);
    const second = await strike(w, 'slow', { names: ['s2'] }, 3_000, args);
    await heal(w, second);
    expect(await w.inForce()).toEqual([]);
  });

  it('fails where a stopped server answers all the same', async () => {
    const w = world('single');
    w.node('r1').command = async () => 'PONG';
    await expect(strike(w, 'slow', { names: ['r1'] }, 3_000, args)).rejects.toThrow(
      'but its PING took 0.0 ms only, of a stop of 100 ms',
    );
    expect(await w.inForce()).toEqual([]);
  });

  it('fails where the process does not stop', async () => {
    const w = world('single');
    w.node('r1').process.deafTo = ['SIGSTOP'];
    await expect(strike(w, 'slow', { names: ['r1'] }, 3_000, args)).rejects.toThrow('got SIGSTOP but is running');
    expect(await w.inForce()).toEqual([]);
  });
});

describe('lost-reply', () => {
  /** A client's command runs on the node; `unacknowledged`: its answer stays in the node's kernel. */
  function run(w: World, node: string, client: string, argv: string[], unacknowledged: boolean) {
    const source = `${w.host(client).address}:4711`;
    if (unacknowledged) w.host(node).queues.set(source, 5);
    for (const follow of w.host(node).watchers) follow({ serverWallMs: 0, source, argv });
  }
  const SET = ['set', 'lock:0', 'value'];

  it('cuts what a node answers, and strikes when a command ran whose answer is lost', async () => {
    const w = world('redlock', { clients: 2 });
    void w.clock.sleep(400).then(() => run(w, 'r1', 'c2', SET, true));
    const active = await strike(w, 'lost-reply', { names: ['r1'] });
    expect(cuts(w)).toEqual(['r1>c1', 'r1>c2']);
    expect(cutIn(active.record)).toEqual(cuts(w));
    expect(active.record.proof).toContain('r1 ran SET of c2 after the cut, and 5 bytes for 10.77.0.8:4711 lie unack');
    expect(w.clock.nowNs() / 1e6).toBeGreaterThanOrEqual(400);
    w.emit({ type: 'info', client: 'c2.3', id: 7, op: 'acquire', key: 'lock:0', reason: 'timeout' });
    w.emit({ type: 'ok', client: 'c1', id: 8, op: 'acquire', key: 'lock:0' });
    expect(await heal(w, active)).toMatch(
      /gone: r1 to c1, c2; r1 ran one command of c2 unanswered; meanwhile acquire of c2\.3 ended info|one command of c2 unanswered; .*ended info/,
    );
    expect(await w.inForce()).toEqual([]);
  });

  it('does not take a command for one that ran after the cut which the node ran before it', async () => {
    const w = world('single', { clients: 2 });
    const { node } = w;
    const r1 = node('r1');
    const monitor = r1.monitor.bind(r1);
    r1.monitor = async (onCommand) => {
      const monitoring = await monitor(onCommand);
      run(w, 'r1', 'c1', SET, true);
      return monitoring;
    };
    await expect(strike(w, 'lost-reply', 'primary', 1_000)).rejects.toThrow(
      'no command on lock:0, lock:1 arrived at r1 within 1000 ms of the cut',
    );
    expect(await w.inForce()).toEqual([]);
  });

  it.each([
    ['no command comes', () => {}, 'no command on lock:0, lock:1 arrived at r1'],
    [
      'only others ask',
      (w: World) => {
        run(w, 'r1', 'c1', ['ping'], true);
        run(w, 'r1', 'r1', SET, true);
      },
      'no command on lock:0, lock:1 arrived at r1',
    ],
    ['the answer arrives', (w: World) => run(w, 'r1', 'c1', SET, false), 'no answer was found unacknowledged'],
  ])('fails when %s, and leaves nothing in force', async (_, happens, told) => {
    const w = world('single');
    void w.clock.sleep(300).then(() => happens(w));
    await expect(strike(w, 'lost-reply', 'primary', 1_000)).rejects.toThrow(told);
    expect(await w.inForce()).toEqual([]);
  });

  it('is refused where a one-way cut would cut both ways', async () => {
    const w = world('single');
    w.host('r1').rpFilter = '1\n0';
    await expect(strike(w, 'lost-reply', 'primary')).rejects.toMatchObject({ refused: true });
    expect(await w.inForce()).toEqual([]);
  });

  it('ends at once when the run ends, and leaves nothing in force', async () => {
    const w = world('single');
    void w.clock.sleep(300).then(() => w.interrupt.abort());
    await expect(strike(w, 'lost-reply', 'primary', 5_000)).rejects.toMatchObject({ name: 'Interrupted' });
    expect(await w.inForce()).toEqual([]);
  });

  it('reads addresses and queues as the kernel writes them', () => {
    const text = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0200 4D0A:18EB 00000000:0000 0A 00000000:00000000
   1: 02004D0A:18EB 08004D0A:9474 01 0000001A:00000003 01:00000014 00000000     0        0 624 1 0`;
    const bytes = (told: string, littleEndian: boolean) =>
      parseConnections(told, littleEndian).find(({ peer }) => endName(peer) === '10.77.0.8:38004')?.unacknowledged;
    expect(bytes(text, true)).toBe(26);
    const other = text.replace('08004D0A', '0A4D0008');
    expect(bytes(other, false)).toBe(26);
  });
});

describe('power-cut', () => {
  const LOG = { name: 'log', writtenBytes: 9, durableBytes: 4, leftBytes: 4 };
  const SYNCED = { name: 'log', writtenBytes: 9, durableBytes: 9, leftBytes: 9 };

  it('kills a server, says what was left of its files, and starts it again', async () => {
    const w = world('single', { persistence: 'aof-everysec' });
    w.node('r1').filesAfterPowerCut = [LOG, { ...SYNCED, name: 'manifest' }];
    const active = await strike(w, 'power-cut', 'primary');
    expect(await w.inForce()).toEqual(['r1 is dead']);
    expect(active.record).toMatchObject({
      did: 'r1 lost power: of 9 bytes of log 4 were synced, and 4 are left',
      proof: expect.stringMatching(/^r1 \(pid \d+\) is dead; its files are rebuilt: log has 4 bytes, manifest has 9/),
    });
    const [effect] = active.record.effects.filter(({ kind }) => kind === 'lost-power');
    expect(effect).toMatchObject({ who: ['r1'], mode: 'exact', files: [LOG, { name: 'manifest' }] });
    expect([having('killed', active.record), having('forgot', active.record)]).toEqual([['r1'], ['r1']]);
    expect(await heal(w, active)).toContain('r1 runs again');
    expect(await w.inForce()).toEqual([]);
  });

  it('does not say that a server forgot which syncs before it answers, unless its disk lost something', async () => {
    const w = world('single', { persistence: 'aof-always' });
    w.node('r1').filesAfterPowerCut = [SYNCED];
    const active = await strike(w, 'power-cut', 'primary');
    expect(active.record.did).toBe('r1 lost power: all that it had written was synced');
    expect(having('forgot', active.record)).toEqual([]);
    await heal(w, active);
    w.node('r1').filesAfterPowerCut = [LOG];
    const lost = await strike(w, 'power-cut', 'primary');
    expect(having('forgot', lost.record)).toEqual(['r1']);
    await heal(w, lost);
  });

  it.each(['none', 'rdb', 'aof-everysec'] as const)(
    'says that a server may have forgotten what need not have been written (%s)',
    async (persistence) => {
      const w = world('single', { persistence });
      w.node('r1').filesAfterPowerCut = [SYNCED];
      const active = await strike(w, 'power-cut', 'primary');
      expect(active.record.did).toMatch(
        /^r1 lost power: all that it had written was synced, and what it had not written/,
      );
      expect(having('forgot', active.record)).toEqual(['r1']);
      await heal(w, active);
    },
  );

  it('tells of names that were not synced, and of zeros', async () => {
    const w = world('single', { persistence: 'aof-everysec' });
    w.node('r1').filesAfterPowerCut = [
      { ...LOG, name: 'a', leftBytes: 0, became: 'gone' },
      { ...SYNCED, name: 'b', became: 'back' },
      { ...LOG, name: 'c', leftBytes: 9, zeroedBytes: 5 },
    ];
    const active = await strike(w, 'power-cut', 'primary', 3_000, { mode: 'zeros' });
    expect(active.record.did).toBe(
      'r1 lost power: a (9 bytes) is gone, b is the older file of 9 bytes again, of 9 bytes of c 4 were synced, and 9 are left, 5 of them zeros',
    );
    await heal(w, active);
  });

  it('mends a log that the server refuses after zeros, and says so; no other refusal is mended', async () => {
    const w = world('single', { persistence: 'aof-everysec' });
    w.node('r1').filesAfterPowerCut = [{ ...LOG, leftBytes: 9, zeroedBytes: 5 }];
    const zeros = await strike(w, 'power-cut', 'primary', 3_000, { mode: 'zeros' });
    w.node('r1').refusesToStart = 'Bad file format';
    expect(await heal(w, zeros)).toMatch(
      /^r1 refused to start \(Bad file format\), and its log was mended \(Successfully truncated AOF\); r1 runs again/,
    );
    w.node('r1').filesAfterPowerCut = [LOG];
    const exact = await strike(w, 'power-cut', 'primary');
    w.node('r1').refusesToStart = 'no space left';
    await expect(heal(w, exact)).rejects.toThrow('no space left');
  });

  it('is refused where nothing is known of what was synced, and kills nothing', async () => {
    const w = world('redlock', { persistence: 'aof-everysec' });
    w.node('r2').diskTroubled = 'its program did not load the library';
    await expect(strike(w, 'power-cut', { names: ['r1', 'r2'] })).rejects.toMatchObject({
      refused: true,
      message: 'r2 cannot lose power: its program did not load the library',
    });
    expect(await w.inForce()).toEqual([]);
  });

  it('lets a majority lose power only where nothing is forgotten', async () => {
    const all = { names: ['r1', 'r2', 'r3'] };
    const forgetful = world('redlock', { persistence: 'aof-everysec' });
    await expect(strike(forgetful, 'power-cut', all)).rejects.toMatchObject({ refused: true });
    const durable = world('redlock', { persistence: 'aof-always' });
    const active = await strike(durable, 'power-cut', all);
    expect(await durable.inForce()).toEqual(['r1 is dead', 'r2 is dead', 'r3 is dead']);
    await heal(durable, active);
  });

  it('strikes right after a grant that is held on where it is asked to, and is refused where none comes', async () => {
    const w = world('single', { persistence: 'aof-everysec' });
    void w.clock.sleep(700).then(() => w.grant('c1', 5, 'lock:0'));
    const active = await strike(w, 'power-cut', 'primary', 3_000, { when: 'grant' });
    expect(w.clock.nowNs() / 1e6).toBeGreaterThanOrEqual(700);
    expect(w.clock.nowNs() / 1e6).toBeLessThan(1_200);
    await heal(w, active);
    await expect(strike(w, 'power-cut', 'primary', 3_000, { when: 'grant' })).rejects.toMatchObject({
      refused: true,
      message: expect.stringMatching(/^no lock was granted within \d+ ms and held for \d+ ms$/),
    });
  });

  it('takes the power from a server that another fault keeps down, which comes back when both are healed', async () => {
    const w = world('single', { persistence: 'aof-everysec' });
    const kill = await strike(w, 'kill', 'primary');
    const cut = await strike(w, 'power-cut', { names: ['r1'] });
    expect(w.node('r1').powerCuts).toHaveLength(1);
    expect(await heal(w, kill)).toContain('r1 is kept down by another fault');
    expect(await w.inForce()).toEqual(['r1 is dead']);
    expect(await heal(w, cut)).toContain('r1 runs again');
  });

  it('starts a primary that may have forgotten only when it has been replaced', async () => {
    const w = world('sentinel', { persistence: 'aof-everysec' });
    const active = await strike(w, 'power-cut', 'primary');
    const beganNs = w.clock.nowNs();
    void w.clock.sleep(1_300).then(() => {
      w.primary = w.node('r2');
    });
    await heal(w, active);
    expect((w.clock.nowNs() - beganNs) / 1e6).toBeGreaterThanOrEqual(1_300);
  });
});

describe('reload', () => {
  const restarted = (w: World) => w.notes.map(({ did }) => did);

  it('restarts one node after the other, and says what became of each', async () => {
    const w = world('redlock', { persistence: 'aof-always' });
    const pids = w.nodes.map((node) => node.process.pid);
    const active = await strike(w, 'reload', 'all', 5_000);
    expect(active.record.did).toBe('restarted r1, 1 of 5');
    expect(active.record.proof).toMatch(/^pid \d+, run id run0 became pid \d+, run id run\d+; r1 runs again/);
    expect(having('forgot', active.record)).toEqual([]);
    await w.clock.run(w.clock.sleep(3_000));
    expect(restarted(w)).toEqual([2, 3, 4, 5].map((n) => `restarted r${n}, ${n} of 5`));
    expect(w.nodes.every((node, at) => node.process.pid !== pids[at])).toBe(true);
    expect(await heal(w, active)).toBe('restarted 5 of 5 nodes: r1, r2, r3, r4, r5; r5 answers PING');
    expect(await w.inForce()).toEqual([]);
  });

  it('never lets more than a minority forget within a lease', async () => {
    const w = world('redlock', { persistence: 'none' });
    const active = await strike(w, 'reload', 'all', 20_000);
    let most = 0;
    const watch = async () => {
      while (w.clock.nowNs() < 18e9) {
        await w.clock.sleep(50);
        most = Math.max(most, w.levers.memory.forgetful().length);
      }
    };
    await w.clock.run(watch());
    expect(most).toBe(2);
    expect(restarted(w)).toHaveLength(4);
    expect(w.notes.every((note) => having('forgot', note).length === 1)).toBe(true);
    await heal(w, active);
  });

  it('says how far it came when the time is over', async () => {
    const w = world('redlock', { persistence: 'none' });
    const active = await strike(w, 'reload', 'all', 2_000);
    await w.clock.run(w.clock.sleep(2_500));
    const told = await heal(w, active);
    expect(told).toContain(
      "restarted 2 of 5 nodes: r1, r2, not r3, r4, r5; the step's time was over: r3 would make 3 nodes",
    );
    expect(w.notes.at(-1)).toMatchObject({ state: 'phase', did: 'restarted 2 of 5 nodes: r1, r2, not r3, r4, r5' });
    expect(w.nodes.map((node) => node.runId === 'run0')).toEqual([false, false, true, true, true]);
    expect(await w.inForce()).toEqual([]);
  });

  it('is refused when not even the first node may be restarted', async () => {
    const w = world('redlock', { persistence: 'none' });
    w.levers.memory.count(['r4', 'r5']);
    await expect(strike(w, 'reload', 'all', 2_000)).rejects.toMatchObject({ refused: true });
    expect(w.nodes.every((node) => node.runId === 'run0')).toBe(true);
  });

  it('restarts replicas first, and waits until the deployment is whole', async () => {
    const w = world('sentinel', { persistence: 'aof-always' });
    let missing: string[] = ['r2 has lost its link'];
    w.topology.missing = async () => missing;
    const active = await strike(w, 'reload', 'all', 20_000);
    expect(active.record.did).toBe('restarted r2, 1 of 3');
    await w.clock.run(w.clock.sleep(1_000));
    expect(restarted(w)).toEqual([]);
    missing = [];
    await w.clock.run(w.clock.sleep(1_000));
    expect(restarted(w)).toEqual(['restarted r3, 2 of 3', 'restarted r1, 3 of 3']);
    expect(await heal(w, active)).toContain('restarted 3 of 3 nodes: r2, r3, r1; 0 ms later all was ready again');
  });

  it('goes no further than a node that does not become whole', async () => {
    const w = world('sentinel', { persistence: 'aof-always' });
    w.topology.missing = async () => ['r2 has lost its link'];
    const active = await strike(w, 'reload', 'all', 60_000);
    await w.clock.run(w.clock.sleep(12_000));
    expect(await heal(w, active)).toMatch(
      /restarted 1 of 3 nodes: r2, not r3, r1; it went no further: .* r2 has lost its link/,
    );
  });

  it('fails where the process survives, and where the server is still the one it was', async () => {
    const w = world('redlock', { persistence: 'aof-always' });
    w.node('r1').process.deafTo = ['SIGKILL'];
    await expect(strike(w, 'reload', { names: ['r1'] })).rejects.toThrow('got SIGKILL but is running');
    const r2 = w.node('r2');
    const start = r2.start.bind(r2);
    r2.start = async () => {
      await start();
      r2.runId = 'run0';
    };
    await expect(strike(w, 'reload', { names: ['r2'] })).rejects.toThrow('is still the process that it was');
    expect(await w.inForce()).toEqual([]);
  });

  it('stops with the run, with everything up', async () => {
    const w = world('redlock', { persistence: 'none' });
    const active = await strike(w, 'reload', 'all', 20_000);
    void w.clock.sleep(1_000).then(() => w.interrupt.abort());
    await w.clock.run(w.clock.sleep(1_200));
    expect(await heal(w, active)).toContain('restarted 2 of 5 nodes: r1, r2, not r3, r4, r5; the run ended');
    expect(await w.inForce()).toEqual([]);
  });
});

describe('lag', () => {
  it('cuts the primary from all replicas and from no other host', async () => {
    const w = world('sentinel');
    const active = await strike(w, 'lag', 'replica');
    expect(active.record.targets).toEqual(['r2', 'r3']);
    expect(cuts(w)).toEqual(['r1>r2', 'r1>r3', 'r2>r1', 'r3>r1']);
    await heal(w, active);
    expect(await w.inForce()).toEqual([]);
    await expect(strike(w, 'lag', { names: ['r1'] })).rejects.toMatchObject({ refused: true });
  });

  it.each([1, 2, 3, 4])('cuts a replica that is named from its own primary, of several (seed %i)', async (seed) => {
    const w = world('sentinel', { nodes: 4, seed });
    const pair = (primary: string, replica: string) => ({
      primary: w.node(primary),
      replicas: [w.node(replica)],
      serves: () => true,
    });
    w.topology.shards = async () => [pair('r1', 'r2'), pair('r3', 'r4')];
    await strike(w, 'lag', { names: ['r4'] });
    expect(cuts(w)).toEqual(['r3>r4', 'r4>r3']);
    await expect(strike(w, 'lag', { names: ['r2', 'r4'] })).rejects.toMatchObject({ refused: true });
  });
});

describe('failover', () => {
  const isolated = ['r2', 'r3', 's1', 's2', 's3'];
  const cutOff = [...isolated.map((to) => `r1>${to}`), ...isolated.map((from) => `${from}>r1`)].sort();

  /** A grant now and then, and a promotion after a second. */
  function promoteAndGrant(w: World, { knownUntilMs = 0 } = {}) {
    for (const key of ['lock:0', 'lock:1', 'lock:2']) w.node('r2').keys.add(key);
    void w.clock.sleep(1_000).then(() => {
      w.primary = w.node('r2');
      w.node('r2').role = 'master';
    });
    void w.clock.sleep(knownUntilMs).then(() => w.node('r2').keys.delete('lock:1'));
    void w.clock.sleep(100).then(() => w.grant('c1', 7, 'lock:0'));
    void w.clock.sleep(300).then(() => w.grant('c2', 8, 'lock:1'));
  }

  it('kill: strikes when a key is held that the new primary does not know', async () => {
    const w = world('sentinel');
    promoteAndGrant(w, { knownUntilMs: 2_500 });
    const active = await strike(w, 'failover', 'primary', 6_000, { then: 'kill' });
    expect(w.clock.nowNs() / 1e6).toBeGreaterThanOrEqual(2_500);
    expect(active.sinceNs).toBe(0);
    expect(active.record).toMatchObject({
      targets: ['r1'],
      did: 'SIGKILL to r1, which had been replaced by r2',
    });
    expect(active.record.proof).toContain('c1 was granted lock:0 after the cut');
    expect(active.record.proof).toMatch(
      /r2 was read back as primary 1\d\d\d ms after the cut \(ROLE of r2: master; of r1: master\)/,
    );
    expect(active.record.proof).toContain('c2 holds lock:1, granted after the cut and unknown to r2');
    expect(cutIn(active.record)).toEqual(cutOff);
    expect(await w.inForce()).toContain('r1 is dead');
    expect(w.notes.map(({ state, did }) => [state, did])).toEqual([
      ['phase', 'cut r1 -x- r2, r3, s1, s2, s3'],
      ['phase', 'r2 replaced r1'],
    ]);
    await heal(w, active);
    expect(await w.inForce()).toEqual([]);
  });

  it('kill: a young hold is worth waiting for, as long as there is time', async () => {
    const w = world('sentinel');
    promoteAndGrant(w, { knownUntilMs: 2_500 });
    void w.clock.sleep(3_200).then(() => {
      w.node('r2').keys.delete('lock:2');
      w.grant('c3', 9, 'lock:2');
    });
    const active = await strike(w, 'failover', 'primary', 6_000, { then: 'kill' });
    expect(active.record.proof).toContain('c3 holds lock:2, granted after the cut and unknown to r2');
    expect(w.clock.nowNs() / 1e6).toBeGreaterThanOrEqual(3_200);
    expect(w.clock.nowNs() / 1e6).toBeLessThan(4_500);
  });

  it('kill: does not wait for a hold that was released', async () => {
    const w = world('sentinel');
    promoteAndGrant(w);
    void w.clock
      .sleep(900)
      .then(() => w.emit({ type: 'invoke', client: 'c2', id: 9, op: 'release', key: 'lock:1', hold: 8 }));
    const active = await strike(w, 'failover', 'primary', 6_000, { then: 'kill' });
    expect(active.record.proof).toContain('no key was held in time that r2 did not know');
    expect(w.clock.nowNs() / 1e6).toBeGreaterThanOrEqual(5_000);
  });

  it('isolate: leaves it alive and isolated with half of the clients, and cuts the others from it', async () => {
    const w = world('sentinel');
    promoteAndGrant(w);
    const active = await strike(w, 'failover', 'primary', 6_000, { then: 'isolate' });
    const staying = active.record.did!.match(/^r1 left isolated with (.+)$/)![1]!.split(', ');
    const leaving = w.clients.map(({ name }) => name).filter((name) => !staying.includes(name));
    expect(staying.length).toBe(Math.ceil(w.clients.length / 2));
    const cut = [...cutOff, ...leaving.flatMap((name) => [`r1>${name}`, `${name}>r1`])].sort();
    expect(cuts(w)).toEqual(cut);
    expect(cutIn(active.record)).toEqual(cut);
    expect(await w.node('r1').process.state()).toBe('running');
    await heal(w, active);
    expect(await w.inForce()).toEqual([]);
  });

  it('isolate: leaves the only client there is', async () => {
    const w = world('sentinel', { clients: 1 });
    promoteAndGrant(w);
    const active = await strike(w, 'failover', 'primary', 6_000, { then: 'isolate' });
    expect(active.record.did).toBe('r1 left isolated with c1');
    expect(cutIn(active.record)).toEqual(cutOff);
    expect(active.record.proof).not.toMatch(/; *$|: *$/);
    await heal(w, active);
  });

  it('goes on without a grant of an attempt that was made after the cut, and says so', async () => {
    const w = world('sentinel');
    const late = { client: 'c1', id: 7, op: 'acquire', key: 'lock:0', beganNs: 1, grantSentNs: -1 } as const;
    void w.clock.sleep(100).then(() => w.emit({ type: 'ok', ...late }));
    void w.clock.sleep(1_000).then(() => {
      w.primary = w.node('r2');
    });
    const active = await strike(w, 'failover', 'primary', 6_000, { then: 'isolate' });
    expect(active.record.proof).toContain('no lock was granted after the cut');
  });

  it('fails when no node is promoted, and leaves nothing in force', async () => {
    const w = world('sentinel');
    await expect(strike(w, 'failover', 'primary', 6_000, { then: 'kill' })).rejects.toThrow(
      'r1 had not been replaced 8000 ms after it was cut off',
    );
    expect(await w.inForce()).toEqual([]);
  });

  it('ends at once when the run ends, and leaves nothing in force', async () => {
    const w = world('sentinel');
    void w.clock.sleep(200).then(() => w.interrupt.abort());
    await expect(strike(w, 'failover', 'primary', 6_000, { then: 'kill' })).rejects.toMatchObject({
      name: 'Interrupted',
    });
    expect(w.clock.nowNs() / 1e6).toBeLessThan(500);
    expect(await w.inForce()).toEqual([]);
  });
});

describe('failover where clients leave a replaced primary', () => {
  /** A deployment of three, two of them replicas, and one who watches. */
  function leaving(replacedAfterMs = 1_000) {
    const w = world('sentinel');
    w.topology = Object.assign(w.topology, { replacedPrimary: 'leave', watchers: [w.host('s1')] });
    /** From the strike on, a replica takes over in its time. */
    const watch = async () => {
      while ((await w.node('r1').process.state()) === 'running' && cuts(w).length < 5) await w.clock.sleep(20);
      await w.clock.sleep(replacedAfterMs);
      w.primary = w.node('r2');
      w.node('r2').role = 'master';
    };
    void watch();
    return w;
  }

  it('kill: replicas are cut off first, and only they; the strike waits for a hold to lose', async () => {
    const w = leaving();
    void w.clock.sleep(900).then(() => w.grant('c1', 7, 'lock:0'));
    void w.clock.sleep(1_000).then(() => expect(cuts(w)).toEqual(['r1>r2', 'r1>r3', 'r2>r1', 'r3>r1']));
    const active = await strike(w, 'failover', 'primary', 6_000, { then: 'kill' });
    // Half a second old, so probably not one of the short ones.
    expect(w.clock.nowNs() / 1e6).toBeGreaterThanOrEqual(900 + 500 + 1_000);
    expect(w.clock.nowNs() / 1e6).toBeLessThan(900 + 500 + 1_000 + 200);
    expect(active.record).toMatchObject({ targets: ['r1'], did: 'SIGKILL to r1; r2 replaced it' });
    expect(having('forgot', active.record)).toEqual(['r1']);
    expect(active.record.proof).toContain('c1 holds lock:0, granted after the cut and unknown to r2, r3;');
    await heal(w, active);
    expect(await w.inForce()).toEqual([]);
  });

  it('isolate: then from everybody who might replace it', async () => {
    const w = leaving();
    void w.clock.sleep(100).then(() => w.grant('c1', 7, 'lock:0'));
    const active = await strike(w, 'failover', 'primary', 6_000, { then: 'isolate' });
    expect(await w.node('r1').process.state()).toBe('running');
    const everybody = ['r2', 'r3', 's1'];
    const twoWays = [...everybody.map((to) => `r1>${to}`), ...everybody.map((from) => `${from}>r1`)];
    expect(cutIn(active.record)).toEqual(twoWays.sort());
    expect(cuts(w)).toEqual(twoWays);
    await heal(w, active);
    expect(await w.inForce()).toEqual([]);
  });

  it.each([
    [
      'soon gone with its lease',
      1_500,
      1_000,
      'holds lock:0, granted after the cut and unknown to r2, r3, which still know',
    ],
    ['there for longer than the hold', 4_000, 5_500, 'no key was held in time that r2, r3 did not know'],
  ])('what replicas know of an older grant: %s', async (_what, lifetimeMs, struckMs, expected) => {
    const w = leaving();
    w.node('r3').keys.add('lock:0');
    w.node('r3').lifetimesMs.set('lock:0', lifetimeMs);
    void w.clock.sleep(500).then(() => w.grant('c1', 7, 'lock:0'));
    const active = await strike(w, 'failover', 'primary', 6_000, { then: 'kill' });
    expect(active.record.proof).toContain(expected);
    // Replaced a second after the strike.
    expect(w.clock.nowNs() / 1e6 - 1_000).toBeGreaterThanOrEqual(struckMs);
    expect(w.clock.nowNs() / 1e6 - 1_000).toBeLessThan(struckMs + 200);
  });

  it('waits until the effects of an earlier fault are repaired', async () => {
    const w = leaving();
    const wholeAtNs = 2_000e6;
    w.topology.missing = async () => (w.clock.nowNs() < wholeAtNs ? ['r3 is not a replica yet'] : []);
    void w.clock.sleep(2_100).then(() => w.grant('c1', 7, 'lock:0'));
    const active = await strike(w, 'failover', 'primary', 6_000, { then: 'kill' });
    expect(active.sinceNs).toBeGreaterThanOrEqual(wholeAtNs);
  });

  it('a hold that no other client could get before it ends is not worth the strike', async () => {
    const w = leaving();
    w.node('r2').keys.add('lock:0');
    w.node('r2').lifetimesMs.set('lock:0', 0);
    // Granted early, released before it settled; the next one comes in time.
    void w.clock.sleep(100).then(() => w.grant('c1', 7, 'lock:0'));
    void w.clock
      .sleep(300)
      .then(() => w.emit({ type: 'invoke', client: 'c1', id: 8, op: 'release', key: 'lock:0', hold: 7 }));
    void w.clock.sleep(2_000).then(() => w.grant('c2', 9, 'lock:0'));
    const active = await strike(w, 'failover', 'primary', 6_000, { then: 'kill' });
    expect(active.record.proof).toContain('c2 holds lock:0');
  });
});

describe.each([
  ['forget-granted', (w: World) => w.nodes.filter((node) => node.forgotten > 0).map((node) => node.name)],
  ['skew-granted', (w: World) => w.nodes.filter((node) => node.host.skew.offsetMs >= 5_000).map((node) => node.name)],
] as const)('%s', (fault, struck) => {
  /** Every client grants itself something again and again. */
  function keepGranting(w: World) {
    const go = async () => {
      for (let id = 1; id < 60; id++) {
        await w.clock.sleep(200);
        w.grant(`c${(id % 6) + 1}`, id, `lock:${id % 3}`);
      }
    };
    void go();
  }

  it('strikes one of the nodes that were left when the lock was granted', async () => {
    for (const seed of range(10)) {
      const w = world('redlock', { seed, persistence: 'aof-always' });
      for (const node of w.nodes) node.clientIds.set('5', w.host('c1').address).set('6', '127.0.0.1');
      keepGranting(w);
      const active = await strike(w, fault, 'minority', 2_000);
      const away = w.notes[0]!.targets;
      expect(away).toHaveLength(2);
      expect(cutIn(w.notes[0]!)).toHaveLength(6 * 2);
      // Its strike says that the cut is over, and until when it certainly was in force.
      expect(active.record.effects[0]).toEqual({ ...w.notes[0]!.effects[0], untilNs: expect.any(Number) });
      const [victim, ...more] = struck(w);
      expect(more).toEqual([]);
      expect(away).not.toContain(victim);
      expect(active.record).toMatchObject({ targets: [victim] });
      expect(active.record.did).toContain('holds lock:');
      expect(cuts(w)).toEqual([]);
      // Connections of clients ended where they were cut off, and no others.
      for (const name of away) expect([...w.node(name).clientIds.keys()]).toEqual(['6']);
      await heal(w, active);
      expect(await w.inForce()).toEqual([]);
    }
  });

  it('strikes one of all nodes where the lock needs all, and cuts none', async () => {
    const w = world('redlock', { persistence: 'aof-always', needsAllNodes: true });
    keepGranting(w);
    const active = await strike(w, fault, 'minority', 2_000);
    expect(struck(w)).toHaveLength(1);
    expect(active.record).toMatchObject({ targets: struck(w), did: expect.stringContaining('granted by all nodes') });
    expect([active.record, ...w.notes].flatMap(cutIn)).toEqual([]);
    await heal(w, active);
    expect(await w.inForce()).toEqual([]);
  });

  it('leaves no node dead whose data could not be removed', async () => {
    const w = world('redlock', { persistence: 'aof-always' });
    keepGranting(w);
    for (const node of w.nodes) node.forget = () => Promise.reject(new Error('the disk is read-only'));
    if (fault === 'forget-granted')
      await expect(strike(w, fault, 'minority', 2_000)).rejects.toThrow('the disk is read-only');
    else await heal(w, await strike(w, fault, 'minority', 2_000));
    expect(await w.inForce()).toEqual([]);
  });

  it('strikes again as long as it lasts, never more than a minority within a lease', async () => {
    const w = world('redlock', { persistence: 'aof-always' });
    keepGranting(w);
    const active = await strike(w, fault, 'minority', 11_000);
    let most = 0;
    const watch = async () => {
      while (w.clock.nowNs() < 11e9) {
        await w.clock.sleep(50);
        most = Math.max(most, w.levers.memory.forgetful().length);
      }
    };
    await w.clock.run(watch());
    await heal(w, active);
    const hits = w.notes.filter((note) => having('forgot', note).length + having('clock-jumped', note).length > 0);
    expect(hits.length).toBeGreaterThanOrEqual(3);
    expect(most).toBe(2);
    expect(await w.inForce()).toEqual([]);
  });

  it('fails when nothing is granted, and leaves nothing in force', async () => {
    const w = world('redlock');
    await expect(strike(w, fault, 'minority', 2_000)).rejects.toThrow('no lock was granted while');
    expect(await w.inForce()).toEqual([]);
  });

  it('ends at once when the run ends, and leaves nothing in force', async () => {
    const w = world('redlock');
    void w.clock.sleep(300).then(() => w.interrupt.abort());
    await expect(strike(w, fault, 'minority', 5_000)).rejects.toMatchObject({ name: 'Interrupted' });
    expect(await w.inForce()).toEqual([]);
  });

  it('does not strike when others have forgotten while it waited', async () => {
    const w = world('redlock');
    const others = () => w.nodes.filter((node) => !w.notes[0]!.targets.includes(node.name)).map((node) => node.name);
    void w.clock.sleep(300).then(() => w.levers.memory.count([...others(), ...w.notes[0]!.targets]));
    void w.clock.sleep(400).then(() => w.grant('c1', 1, 'lock:0'));
    await expect(strike(w, fault, 'minority', 4_000)).rejects.toMatchObject({ refused: true });
    expect(await w.inForce()).toEqual([]);
  });

  it('is refused while a node is down, and on a cut that leaves no bare majority', async () => {
    const w = world('redlock');
    await expect(strike(w, fault, { names: ['r1'] }, 2_000)).rejects.toThrow('does not leave a bare majority of 5');
    await w.levers.kill.kill(w.node('r1'));
    await expect(strike(w, fault, 'minority', 2_000)).rejects.toThrow('r1 must run for this');
  });
});
