import { beforeEach, describe, expect, it } from 'vitest';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { MemoryLedger } from '../../../../nemesis/levers/memory.js';
import { bothWays, oneWay } from '../../../../nemesis/levers/network.js';
import { FakeClock, type World, world } from '../fakes.js';

let w: World;
beforeEach(() => {
  w = world('sentinel');
});

describe('network', () => {
  const cutAll = () => bothWays([w.host('r1')], [w.host('r2'), w.host('r3')]);

  it('cuts both ways, reads it back, and heals', async () => {
    const cut = await w.levers.network.cut(cutAll());
    expect([...w.host('r1').routes]).toEqual([w.host('r2').address, w.host('r3').address]);
    expect([...w.host('r3').routes]).toEqual([w.host('r1').address]);
    expect(cut.proof).toBe('blackhole routes: r1 to r2, r3; r2, r3 to r1');
    expect(await cut.heal()).toContain('gone: r1 to r2, r3');
    expect(await w.inForce()).toEqual([]);
  });

  it('keeps what another fault has cut as well', async () => {
    const first = await w.levers.network.cut(cutAll());
    const second = await w.levers.network.cut(oneWay([w.host('r1')], [w.host('r2')]));
    expect(await first.heal()).toContain('kept by another fault: r1 to r2');
    expect(await w.inForce()).toEqual([`r1 cut from ${w.host('r2').address}`]);
    await second.heal();
    expect(await w.inForce()).toEqual([]);
  });

  it('heals only once', async () => {
    const first = await w.levers.network.cut(cutAll());
    const second = await w.levers.network.cut(cutAll());
    await Promise.all([first.heal(), first.heal()]);
    await first.heal();
    expect(w.host('r1').routes.size).toBe(2);
    await second.heal();
    expect(await w.inForce()).toEqual([]);
  });

  it('rejects a cut that the routing table does not show, and leaves nothing cut', async () => {
    w.host('r2').ignores = ['add'];
    await expect(w.levers.network.cut(cutAll())).rejects.toThrow('r2 has no blackhole route to r1');
    expect(await w.inForce()).toEqual([]);
    w.host('r2').ignores = [];
    const cut = await w.levers.network.cut(cutAll());
    await cut.heal();
    expect(await w.inForce()).toEqual([]);
  });

  it('takes back the routes of a host that got only some of them', async () => {
    w.host('r1').refuses = [w.host('r3').address];
    await expect(w.levers.network.cut(cutAll())).rejects.toThrow('r1 has no blackhole route to r3');
    expect(await w.inForce()).toEqual([]);
  });

  it('rejects a heal that the routing table does not show, and can try again', async () => {
    const cut = await w.levers.network.cut(cutAll());
    w.host('r1').ignores = ['del'];
    await expect(cut.heal()).rejects.toThrow('r1 still has blackhole routes to r2, r3');
    expect(await w.levers.network.trouble(w.host('r1'))).toEqual([
      `r1 still has blackhole routes to ${w.host('r2').address}, ${w.host('r3').address}`,
    ]);
    w.host('r1').ignores = [];
    await cut.heal();
    expect(await w.inForce()).toEqual([]);
  });

  it('takes a host off the network, counted, with its cuts untouched', async () => {
    const cut = await w.levers.network.cut(cutAll());
    const first = await w.levers.network.off(w.host('r1'));
    const second = await w.levers.network.off(w.host('r1'));
    expect(w.host('r1').link).toBe(false);
    await first.heal();
    expect(w.host('r1').link).toBe(false);
    expect(await second.heal()).toBe("r1's eth0 is up and has its route");
    expect(w.host('r1').routes.size).toBe(2);
    await cut.heal();
  });

  it('rejects a link that does not go down, or does not come up', async () => {
    w.host('r1').ignores = ['down'];
    await expect(w.levers.network.off(w.host('r1'))).rejects.toThrow('r1: eth0 is still up');
    w.host('r1').ignores = ['up'];
    const off = await w.levers.network.off(w.host('r1'));
    await expect(off.heal()).rejects.toThrow('does not come up');
    expect(await w.levers.network.trouble(w.host('r1'))).toEqual(['r1 is off the network: nothing is routed to eth0']);
  });

  it('says which hosts would turn a one-way cut into a cut both ways', async () => {
    expect(await w.levers.network.oneWayTrouble([w.host('r1')])).toEqual([]);
    w.host('r1').rpFilter = '0\n2';
    expect(await w.levers.network.oneWayTrouble([w.host('r1'), w.host('r2')])).toEqual([
      'r1 filters by reverse path (rp_filter 0, 2)',
    ]);
  });
});

describe('pause', () => {
  it('stops and continues, counted', async () => {
    const { process } = w.node('r1');
    const first = await w.levers.pause.pause('r1', process);
    const second = await w.levers.pause.pause('r1', process);
    expect(first.proof).toBe(`r1 (pid ${process.pid}) is stopped`);
    await first.heal();
    expect(await process.state()).toBe('stopped');
    await second.heal();
    expect(await process.state()).toBe('running');
    expect(w.levers.pause.isPaused(process)).toBe(false);
  });

  it('fails when the process does not stop', async () => {
    const { process } = w.node('r1');
    process.deafTo = ['SIGSTOP'];
    await expect(w.clock.run(w.levers.pause.pause('r1', process))).rejects.toThrow('got SIGSTOP but is running');
    expect(w.levers.pause.isPaused(process)).toBe(false);
  });

  it('fails when the process does not continue, and can try again', async () => {
    const { process } = w.node('r1');
    const hold = await w.levers.pause.pause('r1', process);
    process.deafTo = ['SIGCONT'];
    await expect(w.clock.run(hold.heal())).rejects.toThrow('still stopped');
    process.deafTo = [];
    expect(await hold.heal()).toContain('is running');
  });

  it('tells a process that a fault stops from one that stopped itself and is kept so', async () => {
    const { process } = w.clients[0]!;
    const { pause } = w.levers;
    expect(await pause.keepStanding('c1', process)).toBeUndefined();
    process.signal('SIGSTOP');
    const standing = await pause.keepStanding('c1', process);
    expect(pause.isPaused(process)).toBe(false);
    const paused = await pause.pause('c1', process);
    expect(pause.isPaused(process)).toBe(true);
    await standing!.heal();
    expect([pause.isPaused(process), await process.state()]).toEqual([true, 'stopped']);
    await paused.heal();
    expect([pause.isPaused(process), await process.state()]).toEqual([false, 'running']);
  });

  it('is healed when the process was killed meanwhile', async () => {
    const { process } = w.node('r1');
    const hold = await w.levers.pause.pause('r1', process);
    process.signal('SIGKILL');
    expect(await hold.heal()).toContain('was killed meanwhile');
  });
});

describe('kill', () => {
  it('starts again what it killed, when the last fault that keeps it down is healed', async () => {
    const node = w.node('r1');
    const { pid } = node.process;
    const first = await w.levers.kill.kill(node);
    const second = await w.levers.kill.kill(node);
    expect(first.proof).toBe(`r1 (pid ${pid}) is dead`);
    await first.heal();
    expect(w.levers.kill.isDown(node)).toBe(true);
    expect(await second.heal()).toBe(`r1 runs again (pid ${node.process.pid}) and answers PING`);
    expect(node.process.pid).not.toBe(pid);
    expect(w.levers.kill.isDown(node)).toBe(false);
  });

  it('waits for a process that a busy machine takes seconds to end', async () => {
    const { process } = w.node('r1');
    const die = process.signal.bind(process);
    process.signal = (signal) => void w.clock.sleep(4_000).then(() => die(signal));
    const grip = await w.clock.run(w.levers.kill.kill(w.node('r1')));
    expect(grip.proof).toBe(`r1 (pid ${process.pid}) is dead`);
  });

  it('fails when the process survives, refuses when there is none', async () => {
    w.node('r1').process.deafTo = ['SIGKILL'];
    await expect(w.clock.run(w.levers.kill.kill(w.node('r1')))).rejects.toThrow('got SIGKILL but is running');
    w.node('r2').process.signal('SIGKILL');
    await expect(w.levers.kill.kill(w.node('r2'))).rejects.toMatchObject({ refused: true });
  });
});

describe('clock', () => {
  it('adds up the offsets of two faults, and each takes back its own', async () => {
    const { clock } = w.levers;
    const read = () => w.node('r1').clockMs();
    const first = await clock.skew(w.host('r1'), 6_000, read);
    const second = await clock.skew(w.host('r1'), -1_000, read);
    expect(w.host('r1').skew.offsetMs).toBe(5_000);
    expect(second.proof).toContain('+5000 ms off');
    await first.heal();
    expect(w.host('r1').skew.offsetMs).toBe(-1_000);
    expect(await second.heal()).toContain('0 ms off');
    expect(await w.inForce()).toEqual([]);
  });

  it('keeps what a drift has gained through jumps, and each takes back its own', async () => {
    const { clock } = w.levers;
    const read = () => w.node('r1').clockMs();
    const r1 = w.host('r1');
    const wait = (ms: number) => w.clock.run(w.clock.sleep(ms));
    const drift = await w.clock.run(clock.drift(r1, 500_000, read, w.interrupt.signal));
    await wait(1_000 - w.clock.nowNs() / 1e6);
    expect(r1.aheadMs()).toBeCloseTo(500, 3);
    const jump = await clock.skew(r1, 6_000, read);
    await wait(1_000);
    expect(r1.aheadMs()).toBeCloseTo(7_000, 3);
    const other = await w.clock.run(clock.drift(r1, -250_000, read, w.interrupt.signal));
    await wait(3_000 - w.clock.nowNs() / 1e6);
    expect(r1.aheadMs()).toBeCloseTo(6_000 + 1_500 - 250, 3);
    await jump.heal();
    expect(r1.aheadMs()).toBeCloseTo(1_500 - 250, 3);
    await w.clock.run(drift.heal());
    expect(r1.skew.ratePpm).toBe(-250_000);
    expect(r1.aheadMs()).toBeCloseTo((w.clock.nowNs() - 2e9) * -0.25e-6, 3);
    await w.clock.run(other.heal());
    expect([r1.aheadMs(), r1.skew.ratePpm]).toEqual([0, 0]);
  });

  it("lets a drift that had to wait begin at the clock's time then", async () => {
    const read = () => w.node('r1').clockMs();
    const drift = () => w.levers.clock.drift(w.host('r1'), 500_000, read, w.interrupt.signal);
    const [first, second] = await w.clock.run(Promise.all([drift(), drift()]));
    const beganMs = ([effect]: readonly FaultEffect[]) =>
      effect?.kind === 'clock-drifts' ? effect.sinceNs! / 1e6 - effect.gainedMs / 0.5 : Number.NaN;
    expect(beganMs(second!.effects)).toBeGreaterThan(beganMs(first!.effects));
  });

  it('goes to and fro beside other clock faults', async () => {
    const { clock } = w.levers;
    const read = () => w.node('r1').clockMs();
    const strobe = clock.strobe(w.host('r1'), 6_000, read);
    expect(await strobe.flip()).toContain('+6000 ms off');
    const jump = await clock.skew(w.host('r1'), -1_000, read);
    expect(await strobe.flip()).toContain('-1000 ms off');
    expect(await strobe.flip()).toContain('+5000 ms off');
    await strobe.heal();
    await strobe.heal();
    expect(w.host('r1').skew.offsetMs).toBe(-1_000);
    await jump.heal();
    expect(await w.inForce()).toEqual([]);
  });

  it('never lets a clock stand still', async () => {
    const { clock } = w.levers;
    const read = () => w.node('r1').clockMs();
    const slow = () => w.clock.run(clock.drift(w.host('r1'), -500_000, read, w.interrupt.signal));
    await slow();
    await expect(slow()).rejects.toMatchObject({ refused: true });
    expect(w.host('r1').skew.ratePpm).toBe(-500_000);
  });

  it('nor when what speeds it up is healed first', async () => {
    const { clock } = w.levers;
    const drift = (ppm: number) =>
      w.clock.run(clock.drift(w.host('r1'), ppm, () => w.node('r1').clockMs(), w.interrupt.signal));
    await drift(500_000);
    await drift(-500_000);
    await expect(drift(-500_000)).rejects.toThrow("r1's clock would stand still, with what slows it already");
    expect(w.host('r1').skew.ratePpm).toBe(0);
  });

  it('is healed, and can be healed again, where no server can be asked any more', async () => {
    const skew = await w.levers.clock.skew(w.host('r1'), 6_000, () => w.node('r1').clockMs());
    const second = await w.levers.clock.skew(w.host('r1'), 1_000, () => w.node('r1').clockMs());
    w.node('r1').process.signal('SIGKILL');
    expect(await skew.heal()).toContain(
      "r1's clock is set to +1000 ms; no program there can be asked (r1 does not answer)",
    );
    await skew.heal();
    expect(w.host('r1').skew.offsetMs).toBe(1_000);
    await second.heal();
    expect(w.host('r1').skew.offsetMs).toBe(0);
  });

  it('fails when the program does not see the new time, and sets it back', async () => {
    w.node('r1').shimmed = false;
    const skewed = w.levers.clock.skew(w.host('r1'), 6_000, () => w.node('r1').clockMs());
    await expect(w.clock.run(skewed)).rejects.toThrow('was set to +6000 ms, but its program is 0 ms off');
    expect(await w.inForce()).toEqual([]);
  });

  it('fails when the program cannot tell', async () => {
    const silent = w.levers.clock.skew(w.host('c1'), 6_000, async () => undefined);
    await expect(w.clock.run(silent)).rejects.toThrow('cannot tell the time');
    expect(await w.inForce()).toEqual([]);
  });
});

describe('memory ledger', () => {
  const clock = new FakeClock();
  const ledger = () => new MemoryLedger(clock, 5_000, 2);

  it('objects to one node too many within a lease', () => {
    const memory = ledger();
    memory.count(['r1']).end();
    expect(memory.objection(['r2'])).toBeUndefined();
    expect(memory.objection(['r2', 'r3'])).toBe(
      'r2, r3 would make 3 nodes forget within one lease; at most 2 may (r1 forgot within the last lease)',
    );
    memory.count(['r2']).end();
    expect(memory.objection(['r3'])).toContain('at most 2 may');
    expect(memory.objection(['r1'])).toBeUndefined();
  });

  it('forgets a loss one lease after it ended, not before', async () => {
    const memory = ledger();
    const open = memory.count(['r1', 'r2']);
    await clock.run(clock.sleep(60_000));
    expect(memory.forgetful()).toEqual(['r1', 'r2']);
    open.end();
    await clock.run(clock.sleep(5_000));
    expect(memory.objection(['r3'])).toBeDefined();
    await clock.run(clock.sleep(300));
    expect(memory.objection(['r3'])).toBeUndefined();
  });

  it('takes back what did not happen, and has no limit where there is none', () => {
    const memory = ledger();
    memory.count(['r1', 'r2']).cancel();
    expect(memory.forgetful()).toEqual([]);
    expect(new MemoryLedger(clock, 5_000, undefined).objection(['r1', 'r2', 'r3'])).toBeUndefined();
  });
});
