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

  it('records with the heal why what was in force was not what was asked for', async () => {
    const w = world('sentinel');
    w.host('c1').shaperLatestUs = 300_000;
    const args = { delayMs: 50, lateMs: 100 };
    const run = start(w, [{ atMs: 100, fault: 'delay', target: { names: ['c1'] }, forMs: 400, args }]);
    await w.clock.run(run.done);
    expect(w.notes.map(({ state, late }) => [state, late])).toEqual([
      ['strike', undefined],
      ['heal', 'up to 300.0 ms later than asked, and 100 ms are allowed'],
    ]);
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

describe('a strike at a step of a lock', () => {
  const cut = { fault: 'partition', target: { names: ['c2'] }, forMs: 400 };
  const at = (count: number, client?: string): PlanStep => ({
    ...cut,
    after: { event: 'step', step: 'after-set', count, ...(client && { client }) },
  });

  /** A client says that it is at the step, in an operation that was sent now; it stops there if it was asked to. */
  function reach(w: World, n: number, options: { asked?: boolean; stops?: boolean } = {}) {
    const client = w.clients[n - 1]!;
    const asked = [...w.stops].some(({ step, slot }) => step === 'after-set' && (slot ?? client.slot) === client.slot);
    client.stopping = (options.asked ?? (asked && client.canStop)) ? { step: 'after-set' } : undefined;
    w.emit({ type: 'step', client: client.name, name: 'after-set', clientNs: w.clock.nowNs() });
    if (client.stopping && options.stops !== false) client.process.signal('SIGSTOP');
    return client;
  }
  const pass = (w: World, ms = 50) => w.clock.run(w.clock.sleep(ms));

  it('asks operations to stop there only while its trigger is due, and those of its client only', async () => {
    const w = world('single');
    const run = start(w, [at(2, 'c1')]);
    await pass(w);
    expect([...w.stops]).toEqual([]);
    reach(w, 1);
    expect([...w.stops]).toEqual([{ step: 'after-set', slot: 'c1' }]);
    await pass(w);
    reach(w, 1);
    expect([...w.stops]).toEqual([]);
    await w.clock.run(run.stop());
  });

  it('is made while the client stands there, which goes on when it is in force', async () => {
    const w = world('single');
    const states: string[] = [];
    const { note } = w.context;
    w.context.note = (record) => {
      void w.clients[0]!.process.state().then((state) => states.push(`${record.state} ${state}`));
      note(record);
    };
    const run = start(w, [at(1)]);
    reach(w, 1);
    await w.clock.run(run.done);
    expect(w.notes.map(({ step, state, did }) => [step, state, did])).toEqual([
      [0, 'strike', 'cut c2 from everybody else'],
      [-1, 'heal', 'c1 stood at "after-set" until it was struck there'],
      [0, 'heal', 'healed partition'],
    ]);
    expect(states).toEqual(['strike stopped', 'heal running', 'heal running']);
    const [strike, stood] = w.notes;
    expect(strike).not.toHaveProperty('late');
    expect(strike!.proof).toMatch(/; c1 stood at "after-set"$/);
    const [effect] = stood!.effects;
    expect(effect).toMatchObject({ kind: 'stopped', who: ['c1'], sinceNs: expect.any(Number) });
    expect(effect!.untilNs).toBeGreaterThanOrEqual(effect!.sinceNs!);
  });

  it('continues at once who stopped there and is not meant, also when nothing waits any more', async () => {
    const w = world('single');
    const run = start(w, [at(1)]);
    reach(w, 1);
    const other = reach(w, 3, { asked: true });
    await pass(w);
    expect(await other.process.state()).toBe('running');
    await w.clock.run(run.stop());
    const last = reach(w, 4, { asked: true });
    await pass(w);
    expect(await last.process.state()).toBe('running');
    const moments = w.notes.filter(({ did }) => did.includes('for a moment'));
    expect(moments.map(({ effects }) => effects)).toMatchObject([
      [{ kind: 'stopped', who: ['c3'], untilNs: expect.any(Number) }],
      [{ kind: 'stopped', who: ['c4'], untilNs: expect.any(Number) }],
    ]);
    expect(await w.clock.run(run.unhealed())).toEqual([]);
  });

  it('waits for the next where the operation had been sent before, and says so', async () => {
    const w = world('single');
    const run = start(w, [at(1)]);
    reach(w, 1, { asked: false });
    await pass(w);
    expect(w.notes).toEqual([]);
    reach(w, 3);
    await w.clock.run(run.done);
    expect(w.notes[0]).toMatchObject({ state: 'strike' });
    expect(w.notes[0]!.proof).toContain('c3 stood at "after-set" (1 before it went by');
  });

  it('is too late, and says why, where the program cannot stop itself or does not', async () => {
    const cannot = world('single');
    cannot.clients[0]!.canStop = false;
    const first = start(cannot, [at(1)]);
    reach(cannot, 1);
    await cannot.clock.run(first.done);
    expect(cannot.notes[0]).toMatchObject({ state: 'strike', late: expect.stringContaining('feature "stop-at"') });

    const does = world('single');
    const second = start(does, [at(1)]);
    const client = reach(does, 1, { stops: false });
    await pass(does, 1_100);
    client.stopping = undefined;
    await does.clock.run(second.done);
    expect(does.notes[0]).toMatchObject({ state: 'strike', late: expect.stringContaining('did not stop itself') });
  });

  it('is too late where somebody else continued the client', async () => {
    const w = world('single');
    const exec = w.host('c2').exec.bind(w.host('c2'));
    w.host('c2').exec = async (argv) => {
      w.clients[0]!.process.signal('SIGCONT');
      return exec(argv);
    };
    const run = start(w, [at(1)]);
    reach(w, 1);
    await w.clock.run(run.done);
    expect(w.notes[0]).toMatchObject({ state: 'strike', late: expect.stringContaining('went on from "after-set"') });
  });

  it('means the client that is there by "client", and keeps it stopped as long as it is paused', async () => {
    const w = world('single');
    const run = start(w, [{ ...at(1), fault: 'pause', target: 'client' } as PlanStep]);
    const client = reach(w, 5);
    await pass(w, 200);
    expect(w.notes[0]).toMatchObject({ state: 'strike', targets: ['c5'] });
    expect(w.notes[1]).toMatchObject({ step: -1, proof: expect.stringContaining('kept stopped by another fault') });
    expect(await client.process.state()).toBe('stopped');
    await w.clock.run(run.done);
    expect(await w.inForce()).toEqual([]);
  });

  it('moves the clock of the client while it stands, and lets it go on to prove it', async () => {
    const w = world('single');
    const client = w.clients[0]!;
    const wallMs = client.wallMs.bind(client);
    const asked: unknown[] = [];
    client.wallMs = async () => {
      asked.push([await client.process.state(), client.host.skew.offsetMs]);
      return wallMs();
    };
    const run = start(w, [{ ...at(1), fault: 'clock', target: 'client', args: { offsetMs: 9_000 } } as PlanStep]);
    reach(w, 1);
    await w.clock.run(run.done);
    expect(asked[0]).toEqual(['running', 9_000]);
    const strike = w.notes.find(({ state }) => state === 'strike')!;
    expect(strike.targets).toEqual(['c1']);
    expect(strike).not.toHaveProperty('late');
  });

  it('is made of a client that another fault had stopped on its way there once that one is healed', async () => {
    const w = world('single');
    const run = start(w, [{ atMs: 0, fault: 'pause', target: { names: ['c1'] }, forMs: 5_000 }, at(1)]);
    await pass(w, 100);
    const client = reach(w, 1, { stops: false });
    client.process.signal = ((signal: NodeJS.Signals) => {
      // Continued, it carries out what it was about to: it stops itself.
      if (signal === 'SIGCONT') client.process.signal = Object.getPrototypeOf(client.process).signal;
      else Object.getPrototypeOf(client.process).signal.call(client.process, signal);
    }) as typeof client.process.signal;
    await pass(w, 4_000);
    expect(w.notes.map(({ step }) => step)).toEqual([0]);
    await w.clock.run(run.done);
    expect(w.notes.map(({ step, state }) => [step, state])).toEqual(
      expect.arrayContaining([
        [0, 'heal'],
        [1, 'strike'],
        [-1, 'heal'],
      ]),
    );
    expect(w.notes.every(({ late }) => late === undefined)).toBe(true);
    expect(await w.inForce()).toEqual([]);
  });

  it('leaves no client stopped where the run ends while it strikes', async () => {
    const w = world('single');
    const run = start(w, [{ ...at(1), target: 'holder' }]);
    reach(w, 1);
    await pass(w, 100);
    await w.clock.run(run.stop());
    expect(await w.inForce()).toEqual([]);
    expect(w.notes.map(({ step, state }) => [step, state])).toEqual([
      [0, 'refused'],
      [-1, 'heal'],
    ]);
  });

  it('says how often it came where it never could stop anybody', async () => {
    const w = world('single');
    const run = start(w, [at(1)]);
    reach(w, 1, { asked: false });
    await w.clock.run(run.stop());
    expect(w.notes).toMatchObject([{ state: 'refused', proof: expect.stringContaining('came too late') }]);
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
