/** What else may have made a number of holders say less than hold is not taken for what did. */
import { expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { EPOCH_WALL_MS, KEY, Story } from '../build.js';

const READERS = `{${KEY}}:readers`;

const by = (s: Story, at: number, client: string, ...argv: string[]) => s.command(at, 'r1', client, argv);
const script = (s: Story, at: number, client: string, ...calls: string[][]) =>
  calls.reduce((told, argv) => by(told, at, 'lua', ...argv), by(s, at, client, 'EVAL', 'abc', '2', KEY, READERS));

/** One server, which is watched. */
function story(model: LockModel, ...clients: string[]): Story {
  const told = clients.reduce((s, client) => s.up(client), new Story().promised(model));
  return told.deployed({ kind: 'primary' }).watch(0.1, 'r1').sample(0.5, 'r1');
}

function causeOf(told: Story) {
  const { violations } = mutualExclusion.check(told.sample(9, 'r1').input());
  const found = violations.filter(({ class: name }) => name === 'exclusion');
  expect(found).toHaveLength(1);
  return found[0]!.cause;
}

it('the readers’ number expired, and the writer’s script never asked for it', () => {
  const told = (...asks: string[][]) => {
    const s = story({ kind: 'read-write' }, 'c1', 'c3');
    script(s.grant('c1', 1, { mode: 'read' }), 0.9995, 'c1', ['INCR', READERS], ['PEXPIRE', READERS, '1000']);
    script(s.grant('c3', 3, { mode: 'write' }), 2.9995, 'c3', ...asks, ['SET', KEY, 'w', 'NX', 'PX', '5000']);
    return causeOf(s.release('c1', 4).release('c3', 4.1)).name;
  };
  expect(told(['EXISTS', READERS])).toBe('count-expired');
  expect(told()).toBe('unexplained');
});

it('the number expired, its holder’s renewal counted it anew, and then a stranger gave back, or removed it', () => {
  const told = (renews: boolean, tell: (s: Story) => Story) => {
    const s = story({ kind: 'semaphore', permits: 1 }, 'c1', 'c3');
    script(s.grant('c1', 1), 0.9995, 'c1', ['INCR', KEY], ['PEXPIRE', KEY, '500']);
    if (renews) script(s, 1.6, 'c1', ['EXISTS', KEY], ['INCR', KEY], ['PEXPIRE', KEY, '5000']);
    by(tell(s).grant('c3', 3), 2.9995, 'c3', 'INCR', KEY);
    return causeOf(s.release('c1', 4).release('c3', 4.2)).name;
  };
  const givesBack = (s: Story) => by(s, 2, 'stranger', 'DECR', KEY);
  const removes = (s: Story) => by(s, 2, 'stranger', 'DEL', KEY);
  expect(told(false, removes)).toBe('count-expired');
  expect(told(true, givesBack)).toBe('unexplained');
  expect(told(true, removes)).toBe('unexplained');
  // By something of its own it is counted that leaves open by how much.
  const another = (s: Story) => by(s, 1.7, 'c4', 'INCRBY', KEY, '2');
  expect(told(false, (s) => removes(another(s)))).toBe('count-expired');
  const own = (s: Story) => by(s, 1.7, 'c1', 'INCRBY', KEY, '2');
  expect(told(false, (s) => removes(own(s)))).toBe('unexplained');
});

/**
 * c4 is counted in a number that expires at 0.8 s, and gives back to the next one at 0.95 s, by which c3 is let in beside c1 and c2.
 * `early`: before c1 is granted; `late`: after c4 gave back.
 */
function givenBackLate(early = (s: Story) => s, late = (s: Story) => s): string {
  const s = story({ kind: 'semaphore', permits: 2 }, 'c1', 'c2', 'c3', 'c4');
  script(s.grant('c4', 0.7005), 0.7, 'c4', ['INCR', KEY], ['PEXPIRE', KEY, '100']);
  by(early(s).grant('c1', 0.9), 0.8995, 'c1', 'INCR', KEY);
  late(by(s.release('c4', [0.94, 0.96]), 0.95, 'c4', 'DECR', KEY));
  by(s.grant('c2', 1), 0.9995, 'c2', 'INCR', KEY);
  by(s.grant('c3', 3), 2.9995, 'c3', 'INCR', KEY);
  return causeOf(s.release('c1', 4).release('c2', 4.1).release('c3', 4.2)).name;
}

it('who gave back to the next number had been counted there by its renewal, and a stranger made that less', () => {
  const renews = (s: Story) => script(s, 0.85, 'c4', ['EXISTS', KEY], ['INCR', KEY], ['PEXPIRE', KEY, '5000']);
  expect(givenBackLate()).toBe('count-expired');
  expect(givenBackLate(renews, (s) => by(s, 0.97, 'stranger', 'DECR', KEY))).toBe('unexplained');
});

it('who gave back to the next number had given back to the one that expired, too, before its release began', () => {
  const counts = (s: Story) => by(s, 0.72, 'c8', 'INCR', KEY);
  expect(givenBackLate(counts)).toBe('count-expired');
  expect(givenBackLate((s) => by(counts(s), 0.75, 'c4', 'DECR', KEY))).toBe('returned-too-often');
});

it('the number was to last until a time of day, and the server’s clock was ahead when it was told so, or the client’s was off', () => {
  const told = (aheadMs: number, ...who: string[]) => {
    const s = story({ kind: 'semaphore', permits: 1 }, 'c1', 'c3');
    const effects: FaultEffect[] = [{ kind: 'clock-jumped', who, offsetMs: 3_000 }];
    if (who.length > 0) s.fault(0.6, 0, 'clock', 'strike', { effects });
    s.sample(0.7, 'r1', { skewMs: aheadMs });
    const until = String(EPOCH_WALL_MS + (aheadMs > 0 ? 5_500 : 2_500));
    s.grant('c1', 1).command(0.9995, 'r1', 'c1', ['EVAL', 'abc', '1', KEY, until], aheadMs);
    for (const argv of [
      ['INCR', KEY],
      ['PEXPIREAT', KEY, until],
    ])
      s.command(0.9995, 'r1', 'lua', argv, aheadMs);
    s.grant('c3', 3).command(2.9995, 'r1', 'c3', ['INCR', KEY], aheadMs).sample(3.2, 'r1', { skewMs: aheadMs });
    return causeOf(s.release('c1', 4).release('c3', 4.2)).name;
  };
  expect(told(0)).toBe('count-expired');
  expect(told(3_000, 'r1')).toBe('unexplained');
  expect(told(0, 'c1')).toBe('unexplained');
});

it('the clock had jumped, and the line that shows that the number was gone was read late', () => {
  const told = (lateMs: number, jumpMs = 500) => {
    const s = story({ kind: 'semaphore', permits: 1 }, 'c1', 'c2', 'c3', 'c4');
    // Each line in order: once one is late so are those after it.
    const count = (at: number, client: string, readMs: number, ...calls: string[][]) => {
      const read = at + readMs / 1_000;
      s.command(read, 'r1', client, ['EVAL', 'abc', '1', KEY], skewMs - readMs);
      for (const argv of calls) s.command(read, 'r1', 'lua', argv, skewMs - readMs);
    };
    let skewMs = 0;
    s.grant('c1', 1);
    count(0.9995, 'c1', 0, ['INCR', KEY], ['PEXPIRE', KEY, '2000']);
    skewMs = jumpMs;
    const effects: FaultEffect[] = [{ kind: 'clock-jumped', who: ['r1'], offsetMs: jumpMs }];
    s.fault(1.5, 0, 'clock', 'strike', { effects });
    s.sample(1.6, 'r1', { skewMs, keys: { [KEY]: { owner: '1', pttlMs: 900, type: 'string' } } });
    count(1.8, 'c2', 0, ['INCR', KEY]);
    count(1.81, 'c2', 0, ['DECR', KEY]);
    // c4 asks when a part of the time is left by the machine's clock.
    count(2.6, 'c4', lateMs, ['INCR', KEY]);
    count(2.605, 'c4', lateMs, ['DEL', KEY]);
    s.grant('c3', 2.9);
    count(2.8995, 'c3', lateMs, ['INCR', KEY]);
    s.sample(3.6, 'r1', { skewMs });
    return causeOf(s.release('c1', 4).release('c3', 4.2)).name;
  };
  expect(told(0)).toBe('clock-jumped');
  expect(told(600)).not.toBe('count-expired');
});

it('a client gave back for another that had died, and one who held was counted in a number that a stranger let expire', () => {
  const told = (tell: (s: Story) => Story) => {
    const s = story({ kind: 'semaphore', permits: 2 }, 'c2', 'c3', 'c4', 'c7', 'c9');
    by(s.grant('c2', 1), 0.9995, 'c2', 'INCR', KEY);
    by(s, 1.1, 'stranger', 'PEXPIRE', KEY, '100');
    by(s.grant('c3', 1.5), 1.4995, 'c3', 'INCR', KEY);
    by(tell(s).grant('c4', 3), 2.9995, 'c4', 'INCR', KEY);
    return causeOf(s.release('c2', 4).release('c3', 4.1).release('c4', 4.2)).name;
  };
  const died = (s: Story) =>
    by(by(s.acquire('c7', [1.59]), 1.5995, 'c7', 'INCR', KEY).down('c7', 1.7), 1.9, 'c9', 'DECR', KEY);
  expect(told(died)).toBe('unexplained');
  // What c9 gave back would have let c4 in as well had c2 been counted.
  expect(told((s) => by(s, 1.9, 'c9', 'DECR', KEY))).toBe('returned-too-often');
});

it('a client took what two others had taken since it read what is free, by which the number rose', () => {
  const s = story({ kind: 'semaphore', permits: 3 }, 'c1', 'c2', 'c3', 'c4', 'c5');
  const puts = (at: number, client: string, left: number) => by(s, at, client, 'SET', KEY, String(left));
  const takes = (at: number, client: string, left: number) =>
    puts(at - 0.0005, client, left).grant(client, at, { grantSent: at - 0.01 });
  by(s, 0.995, 'c1', 'GET', KEY);
  takes(1, 'c1', 2);
  by(s, 1.995, 'c2', 'GET', KEY);
  by(s, 1.996, 'c3', 'GET', KEY);
  takes(2, 'c3', 1);
  by(s, 2.001, 'c4', 'GET', KEY);
  takes(2.003, 'c4', 0);
  puts(2.004, 'c2', 1).grant('c2', 2.005, { grantSent: 1.99 }).release('c2', 2.007);
  by(s, 2.008, 'c2', 'GET', KEY);
  puts(2.01, 'c2', 2);
  by(s, 2.995, 'c5', 'GET', KEY);
  takes(3, 'c5', 1);
  s.release('c1', 4).release('c3', 4.1).release('c4', 4.2).release('c5', 4.3);
  const { violations } = mutualExclusion.check(s.sample(9, 'r1').input());
  expect(violations.map(({ cause }) => cause.name)).toEqual(['unexplained', 'unexplained']);
});

it('what was given back before was read late, as if it were how the next was granted, which went without regard to the number', () => {
  const s = story({ kind: 'semaphore', permits: 2 }, 'c1', 'c2', 'c3', 'c8', 'c9');
  // The clock was set back, and no fault tells of it: nobody knows when a command ran.
  const behind = (at: number, client: string, name: string) => s.command(at, 'r1', client, [name, KEY], -5_000);
  by(s.grant('c1', 1), 0.9995, 'c1', 'INCR', KEY);
  by(s.grant('c2', 1.1), 1.0995, 'c2', 'INCR', KEY);
  by(s, 1.15, 'c9', 'DECR', KEY);
  by(s.refused('c3', 2.89, 2.98), 2.8995, 'c3', 'INCR', KEY);
  s.grant('c3', 3, { sent: 2.985, grantSent: 2.986 });
  behind(2.99, 'c3', 'DECR');
  behind(3.01, 'c8', 'INCR');
  behind(3.02, 'c3', 'INCR');
  s.sample(3.2, 'r1', { skewMs: -5_000 });
  const cause = causeOf(s.release('c1', 4).release('c2', 4.1).release('c3', 4.2));
  expect(cause.name).toBe('unexplained');
});
it('the server was not looked at for so long that it may have followed another, and have what that had of the number', () => {
  const told = (unseenUntil: number) => {
    const s = story({ kind: 'semaphore', permits: 2 }, 'c1', 'c2', 'c3', 'c9').watch(0.1, 'r2');
    for (const [from, until] of [
      [0.6, 1.2],
      [unseenUntil, 3.1],
    ] as const) {
      s.looks(from, until, 'r1', { unseen: [KEY] });
      s.looks(from, until, 'r2', { unseen: [KEY], role: 'replica', runId: 'run-of-r2' });
    }
    by(s.grant('c1', 1), 0.9995, 'c1', 'INCR', KEY).command(1, 'r2', 'link', ['INCR', KEY]);
    // What comes now is not replicated yet when the two change their roles, and change them back.
    by(s.grant('c2', 1.1), 1.0995, 'c2', 'INCR', KEY);
    by(s, 1.15, 'c9', 'DECR', KEY);
    by(s.grant('c3', 3), 2.9995, 'c3', 'INCR', KEY);
    return causeOf(s.release('c1', 4).release('c2', 4.1).release('c3', 4.2)).name;
  };
  expect(told(1.3)).toBe('returned-too-often');
  expect(told(2.5)).toBe('unexplained');
});

it('who gave back to the next number, without which one was full, and another was lost by a stranger', () => {
  const told = (lost: boolean) => {
    const s = story({ kind: 'semaphore', permits: 2 }, 'c1', 'c2', 'c3', 'c4', 'c7');
    script(s.grant('c4', 0.7005), 0.7, 'c4', ['INCR', KEY], ['PEXPIRE', KEY, '100']);
    if (lost) by(by(s, 0.8195, 'c2', 'INCR', KEY), 0.825, 'stranger', 'DEL', KEY).grant('c2', 0.82);
    by(s.grant('c1', 0.9), 0.8995, 'c1', 'INCR', KEY);
    by(s.release('c4', [0.85, 0.96]), 0.95, 'c4', 'DECR', KEY);
    // c7 died before it had the answer.
    if (lost) by(s.acquire('c7', [0.99]).down('c7', 1.1), 0.9995, 'c7', 'INCR', KEY);
    else by(s.grant('c2', 1), 0.9995, 'c2', 'INCR', KEY);
    by(s.grant('c3', 3), 2.9995, 'c3', 'INCR', KEY);
    return causeOf(s.release('c1', 4).release('c2', 4.1).release('c3', 4.2)).name;
  };
  expect(told(false)).toBe('count-expired');
  expect(told(true)).toBe('unexplained');
});

it('the number expired, and the next put one there by a plain SET, which asks for nothing', () => {
  const told = (...asks: string[][]) => {
    const s = story({ kind: 'semaphore', permits: 1 }, 'c1', 'c3');
    by(s.grant('c1', 1), 0.9995, 'c1', 'SET', KEY, '1', 'PX', '1000');
    for (const argv of asks) by(s, 2.999, 'c3', ...argv);
    by(s.grant('c3', 3), 2.9995, 'c3', 'SET', KEY, '1', 'PX', '1000');
    return causeOf(s.release('c1', 4).release('c3', 4.2)).name;
  };
  expect(told(['GET', KEY])).toBe('count-expired');
  expect(told()).toBe('unexplained');
});

it('the writer asked before the reader was counted, and took what it had found when the number had expired', () => {
  const told = (...asks: number[]) => {
    const s = story({ kind: 'read-write' }, 'c1', 'c3');
    for (const at of asks) by(s, at, 'c3', 'EXISTS', READERS);
    script(s.grant('c1', 1, { mode: 'read' }), 0.9995, 'c1', ['INCR', READERS], ['PEXPIRE', READERS, '1000']);
    s.grant('c3', 3, { mode: 'write', grantSent: 0.98 });
    by(s, 2.9995, 'c3', 'SET', KEY, 'w', 'NX', 'PX', '5000');
    return causeOf(s.release('c1', 4).release('c3', 4.1)).name;
  };
  expect(told(0.99, 2.9)).toBe('count-expired');
  expect(told(0.99)).toBe('unexplained');
  // Nor by what it found taken.
  expect(told(1.5)).toBe('unexplained');
});
