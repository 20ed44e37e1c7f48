/** Processes stopped and killed: what is told of them, counted, and what becomes of one that stops or dies by itself. */
import { beforeEach, describe, expect, it } from 'vitest';
import { EndedMeanwhile } from '../../../../nemesis/levers/basics.js';
import { type World, world } from '../fakes.js';

let w: World;
beforeEach(() => {
  w = world('sentinel');
});

describe('a pause', () => {
  const pause = () => w.clock.run(w.levers.pause.pause('r1', w.node('r1').process));

  it('is told with whom it stops and since when, and how many others keep it stopped', async () => {
    await w.clock.run(w.clock.sleep(20));
    const first = await pause();
    expect(first.effects).toEqual([{ kind: 'stopped', who: ['r1'], sinceNs: 20e6 }]);
    // A second one sends no signal: a process that stops anew would have run for a moment.
    const signals: string[] = [];
    const { process } = w.node('r1');
    const send = process.signal.bind(process);
    process.signal = (signal) => {
      signals.push(signal);
      return send(signal);
    };
    await pause();
    expect(signals).toEqual([]);
    expect(await w.clock.run(first.heal())).toBe('r1 is kept stopped by another fault');
  });

  it('of what is not running is no pause, and no failure of the nemesis', async () => {
    w.node('r1').process.signal('SIGKILL');
    await expect(pause()).rejects.toThrow(new EndedMeanwhile('r1 is not running'));
  });

  it('under which it dies is none either; one that goes on all the same is a failure', async () => {
    const { process } = w.node('r1');
    const send = process.signal.bind(process);
    process.signal = () => send('SIGKILL');
    await expect(pause()).rejects.toThrow(EndedMeanwhile);
    const other = w.node('r2').process;
    const sent: string[] = [];
    other.signal = (signal) => void sent.push(signal);
    const paused = w.clock.run(w.levers.pause.pause('r2', other));
    await expect(paused).rejects.not.toBeInstanceOf(EndedMeanwhile);
    // It may stop yet, when nobody would wake it.
    expect(sent).toEqual(['SIGSTOP', 'SIGCONT']);
  });

  it('is over where the process, which had said so, has stopped itself since', async () => {
    const { process } = w.node('r1');
    const grip = await pause();
    const over = w.levers.pause.announce(process);
    process.signal = () => {};
    expect(await w.clock.run(grip.heal())).toBe(`r1 (pid ${process.pid}) got SIGCONT, and has stopped itself since`);
    over();
    await expect(w.clock.run((await pause()).heal())).rejects.toThrow('got SIGCONT but is still stopped');
  });
});

describe('what has stopped itself', () => {
  it('is told, and is no pause until a fault makes one', async () => {
    const { process } = w.node('r1');
    process.signal('SIGSTOP');
    const grip = (await w.levers.pause.keepStanding('r1', process))!;
    expect(grip.proof).toBe(`r1 (pid ${process.pid}) has stopped itself`);
    expect(grip.effects).toEqual([{ kind: 'stopped', who: ['r1'], sinceNs: 0 }]);
    expect(w.levers.pause.isPaused(process)).toBe(false);
    const paused = await w.clock.run(w.levers.pause.pause('r1', process));
    expect(w.levers.pause.isPaused(process)).toBe(true);
    await w.clock.run(paused.heal());
    expect(await process.state()).toBe('stopped');
  });
});

describe('a kill', () => {
  const kill = () => w.clock.run(w.levers.kill.kill(w.node('r1')));

  it('is told with whom it killed and since when, and how many others keep it down', async () => {
    const first = await kill();
    expect(first.effects).toEqual([{ kind: 'killed', who: ['r1'], sinceNs: w.clock.nowNs() }]);
    await kill();
    expect(await w.clock.run(first.heal())).toBe('r1 is kept down by another fault');
    expect(w.levers.kill.isDown(w.node('r1'))).toBe(true);
  });

  it('of what is dead already is refused', async () => {
    w.node('r1').process.signal('SIGKILL');
    await expect(kill()).rejects.toThrow('r1 is not running');
  });

  it('does not start what is running again already', async () => {
    const node = w.node('r1');
    const grip = await kill();
    await node.start();
    node.start = async () => {
      throw new Error('started twice');
    };
    expect(await w.clock.run(grip.heal())).toContain('r1 runs again');
  });

  it('has a log mended that may be damaged, if the server refuses it, and no other', async () => {
    const node = w.node('r1');
    const start = node.start.bind(node);
    let isDamaged = true;
    node.start = async () => {
      if (isDamaged) throw new Error('Bad file format');
      await start();
    };
    node.mendLog = async () => {
      isDamaged = false;
      return 'cut off 12 bytes';
    };
    const grip = await kill();
    await expect(w.clock.run(grip.heal())).rejects.toThrow('Bad file format');
    w.levers.kill.expectDamage(node);
    expect(await w.clock.run(grip.heal())).toMatch(
      /^r1 refused to start \(Bad file format\), and its log was mended \(cut off 12 bytes\); r1 runs again/,
    );
    // It was mended once: what is wrong with it later is not the power cut's.
    const again = await kill();
    isDamaged = true;
    await expect(w.clock.run(again.heal())).rejects.toThrow('Bad file format');
  });

  it('expects no damage any more of a server that started', async () => {
    const node = w.node('r1');
    w.levers.kill.expectDamage(node);
    await w.clock.run((await kill()).heal());
    const grip = await kill();
    node.start = async () => {
      throw new Error('Bad file format');
    };
    node.mendLog = async () => {
      throw new Error('mended');
    };
    await expect(w.clock.run(grip.heal())).rejects.toThrow('Bad file format');
  });
});
