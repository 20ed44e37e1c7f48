// biome-ignore-all lint/suspicious/noThenProperty: a word in a plan, never a function
import { describe, expect, it } from 'vitest';
import type { PlanStep } from '../../../harness/vocabulary/faults.js';
import { nemesisByHand, runNemesis } from '../../../nemesis/runner.js';
import { type World, world } from './fakes.js';

const kill: PlanStep = { atMs: 100, fault: 'kill', target: { names: ['r1'] }, forMs: 400 };
const story = (w: World) => w.notes.map(({ step, state, targets, did }) => [step, state, targets.join(), did]);

function start(w: World, steps: PlanStep[]) {
  return runNemesis({ version: 1, seed: 1, steps }, w.context);
}

describe('carrying out a plan', () => {
  it('strikes and heals each step at its time, overlapping', async () => {
    const w = world('sentinel', { persistence: 'aof-always' });
    const times: number[] = [];
    const note = w.context.note;
    const context = {
      ...w.context,
      note: (record: Parameters<typeof note>[0]) => {
        times.push(w.clock.nowNs() / 1e6);
        note(record);
      },
    };
    const run = runNemesis(
      {
        version: 1,
        seed: 1,
        steps: [kill, { atMs: 200, fault: 'partition', target: { names: ['c1'] }, forMs: 100, args: { mode: 'both' } }],
      },
      context,
    );
    await w.clock.run(run.done);
    expect(story(w)).toEqual([
      [0, 'strike', 'r1', 'SIGKILL to r1'],
      [1, 'strike', 'c1', 'cut c1 from everybody else'],
      [1, 'heal', 'c1', 'healed partition'],
      [0, 'heal', 'r1', 'healed kill'],
    ]);
    expect(times).toEqual([100, 200, 300, 500]);
    expect(w.notes.every((note) => note.proof)).toBe(true);
    expect(await w.clock.run(run.unhealed())).toEqual([]);
  });

  it('counts the time in force of a composite from its first cut', async () => {
    const w = world('sentinel');
    void w.clock.sleep(1_500).then(() => {
      w.primary = w.node('r2');
    });
    const run = start(w, [{ atMs: 0, fault: 'failover', target: 'primary', forMs: 6_000, args: { then: 'isolate' } }]);
    await w.clock.run(run.done);
    expect(w.clock.nowNs() / 1e6).toBe(6_000);
    expect(w.notes.map(({ state }) => state)).toEqual(['phase', 'phase', 'strike', 'heal']);
  });

  it('heals early what has nothing more to do', async () => {
    const w = world('redlock', { persistence: 'aof-always' });
    const run = start(w, [{ atMs: 0, fault: 'reload', target: 'all', forMs: 60_000 }]);
    await w.clock.run(run.done);
    expect(w.clock.nowNs() / 1e6).toBeLessThan(2_000);
    expect(w.notes.at(-1)).toMatchObject({ state: 'heal' });
    expect(w.notes.at(-1)!.proof).toContain('restarted 5 of 5 nodes');
  });

  it('records refusals and failures, and goes on', async () => {
    const w = world('redlock', { persistence: 'aof-always' });
    w.node('r1').process.deafTo = ['SIGKILL'];
    const run = start(w, [
      kill,
      { ...kill, fault: 'amnesia', target: { names: ['r1', 'r2', 'r3'] } },
      { ...kill, fault: 'no-such-fault' },
      { ...kill, atMs: 300, target: { names: ['r2'] } },
    ]);
    await w.clock.run(run.done);
    expect(story(w).sort()).toEqual([
      [0, 'failed', '', 'tried to strike r1'],
      [1, 'refused', '', 'did not strike r1, r2, r3'],
      [2, 'refused', '', 'did not strike r1'],
      [3, 'heal', 'r2', 'healed kill'],
      [3, 'strike', 'r2', 'SIGKILL to r2'],
    ]);
    expect(w.notes.find(({ step }) => step === 0)!.proof).toContain('got SIGKILL but is running');
  });

  it('records what a strike had done before it failed: one server was killed, the other could not be', async () => {
    const w = world('redlock');
    w.node('r2').process.deafTo = ['SIGKILL'];
    const run = start(w, [{ ...kill, target: { names: ['r1', 'r2'] } }]);
    await w.clock.run(run.done);
    expect(await w.inForce()).toEqual([]);
    const [failed, ...more] = w.notes;
    expect(more).toEqual([]);
    const sinceNs = expect.any(Number);
    expect(failed).toMatchObject({ state: 'failed', effects: [{ kind: 'killed', who: ['r1'], sinceNs }] });
    expect(failed!.effects[0]!.untilNs).toBe(failed!.effects[0]!.sinceNs);
  });

  it('fires after the events that it waits for, by slot, whatever the name of the process', async () => {
    const w = world('sentinel', { persistence: 'aof-always' });
    const run = start(w, [
      { ...kill, atMs: undefined, after: { event: 'acquire', count: 2, client: 'c1' } } as PlanStep,
    ]);
    w.grant('c1', 1, 'lock:0');
    w.grant('c2', 1, 'lock:1');
    w.grant('c10', 1, 'lock:1');
    await w.clock.run(w.clock.sleep(100));
    expect(w.notes).toEqual([]);
    w.grant('c1.2', 1, 'lock:0');
    await w.clock.run(run.done);
    expect(w.notes.map(({ state }) => state)).toEqual(['strike', 'heal']);
  });

  it('fires at a named step of the lock', async () => {
    const w = world('sentinel', { persistence: 'aof-always' });
    const run = start(w, [
      { ...kill, atMs: undefined, after: { event: 'step', count: 1, step: 'after-set' } } as PlanStep,
    ]);
    w.emit({ type: 'step', client: 'c1', name: 'before-set', clientNs: 0 });
    await w.clock.run(w.clock.sleep(100));
    expect(w.notes).toEqual([]);
    w.emit({ type: 'step', client: 'c1', name: 'after-set', clientNs: 0 });
    await w.clock.run(run.done);
    expect(w.notes.map(({ state }) => state)).toEqual(['strike', 'heal']);
  });

  it('heals what is in force when it is stopped, and records what never fired', async () => {
    const w = world('sentinel', { persistence: 'aof-always' });
    const run = start(w, [
      { ...kill, forMs: 60_000 },
      { ...kill, atMs: 30_000, target: { names: ['r2'] } },
      { ...kill, atMs: undefined, after: { event: 'release', count: 3 } } as PlanStep,
    ]);
    await w.clock.run(w.clock.sleep(500));
    expect(await w.inForce()).toEqual(['r1 is dead']);
    await w.clock.run(run.stop());
    expect(await w.inForce()).toEqual([]);
    expect(w.clock.nowNs() / 1e6).toBeLessThan(1_000);
    expect(w.notes.map(({ step, state, proof }) => [step, state, proof])).toEqual(
      expect.arrayContaining([
        [1, 'refused', 'the run ended before it was due'],
        [2, 'refused', 'its trigger never came: 0 of 3 times "release"'],
      ]),
    );
  });

  it('tries once more at the end to heal what could not be healed', async () => {
    const w = world('sentinel');
    const run = start(w, [{ atMs: 0, fault: 'partition', target: { names: ['r1'] }, forMs: 100 }]);
    void w.clock.sleep(50).then(() => {
      w.host('c1').ignores = ['del'];
    });
    await w.clock.run(run.done);
    expect(w.notes.map(({ state, did }) => [state, did])).toEqual([
      ['strike', 'cut r1 from everybody else'],
      ['failed', 'tried to heal partition'],
    ]);
    expect(await w.clock.run(run.unhealed())).toEqual([`c1 still has blackhole routes to ${w.host('r1').address}`]);
    w.host('c1').ignores = [];
    await w.clock.run(run.stop());
    expect(w.notes.at(-1)).toMatchObject({ state: 'heal' });
    expect(await w.clock.run(run.unhealed())).toEqual([]);
  });

  it('keeps what a failed strike could not undo, and heals it at the end', async () => {
    const w = world('sentinel');
    w.host('c1').ignores = ['add'];
    w.host('r2').ignores = ['del'];
    const run = start(w, [{ atMs: 0, fault: 'failover', target: 'primary', forMs: 6_000, args: { then: 'kill' } }]);
    await w.clock.run(run.done);
    expect(w.notes.at(-1)).toMatchObject({ state: 'failed' });
    expect(w.notes.at(-1)!.proof).toContain('and it could not be undone: r2 still has blackhole routes to r1');
    expect(w.notes.at(-1)!.effects.map(({ kind, untilNs }) => [kind, untilNs])).toEqual([['cut', undefined]]);
    w.host('r2').ignores = [];
    await w.clock.run(run.stop());
    expect(await w.inForce()).toEqual([]);
  });
});

describe('what is not healed', () => {
  it('is found on every host, server and client', async () => {
    const w = world('sentinel');
    const run = start(w, []);
    expect(await w.clock.run(run.unhealed())).toEqual([]);
    w.host('c2').routes.add('10.77.0.2');
    w.host('s1').link = false;
    w.node('r1').process.signal('SIGSTOP');
    w.node('r2').process.signal('SIGKILL');
    w.host('r3').skew = { offsetMs: 7_000, ratePpm: 0 };
    w.clients[0]!.process.signal('SIGSTOP');
    expect(await w.clock.run(run.unhealed())).toEqual([
      's1 is off the network: nothing is routed to eth0',
      'c2 still has blackhole routes to 10.77.0.2',
      'r1 is stopped',
      'r2 is dead',
      "r3's clock is +7000 ms off",
      'c1 is still stopped',
    ]);
  });

  it('is not found on a clock that is only read late, and nothing is said of one that cannot be read in time', async () => {
    const w = world('single');
    const run = start(w, []);
    const node = w.node('r1');
    const command = node.command.bind(node);
    let lateMs = 100;
    node.command = async (...argv) => {
      const answer = await command(...argv);
      await w.clock.sleep(lateMs);
      return answer;
    };
    expect(await w.clock.run(run.unhealed())).toEqual([]);
    lateMs = 900;
    expect(await w.clock.run(run.unhealed())).toEqual([
      "r1's clock is -450 ms off, give or take 451 ms: nothing shows that it is right",
    ]);
    lateMs = 0;
    w.host('r1').skew = { offsetMs: 60, ratePpm: 0 };
    expect(await w.clock.run(run.unhealed())).toEqual(["r1's clock is +60 ms off"]);
  });

  it('is found on the clock of a client that was skewed', async () => {
    const w = world('single');
    const run = start(w, [
      { atMs: 0, fault: 'clock', target: { names: ['c1'] }, forMs: 100, args: { offsetMs: 9_000 } },
    ]);
    await w.clock.run(run.done);
    expect(await w.clock.run(run.unhealed())).toEqual([]);
    w.host('c1').skew = { offsetMs: 9_000, ratePpm: 0 };
    expect(await w.clock.run(run.unhealed())).toEqual(["c1's clock is +9000 ms off"]);
  });
});

describe('a fault struck by a play', () => {
  it('strikes when it is told to, and reports how long it was in force, as a plan does', async () => {
    const w = world('sentinel', { persistence: 'aof-always' });
    const nemesis = nemesisByHand(w.context);
    const cut = { fault: 'partition', target: { names: ['c1'] }, args: { mode: 'both' } };
    const active = await w.clock.run(nemesis.strike(cut));
    await w.clock.run(w.clock.sleep(300));
    await w.clock.run(active.heal());
    expect(nemesis.steps).toEqual([{ ...cut, atMs: 0, forMs: 300 }]);
    expect(w.notes.map(({ state }) => state)).toEqual(['strike', 'heal']);
  });

  it('rejects with the reason where it could not strike', async () => {
    const w = world('redlock');
    const strike = nemesisByHand(w.context).strike({ fault: 'lag', target: 'replica' });
    await expect(w.clock.run(strike)).rejects.toThrow('lag did not strike: ');
  });
});
