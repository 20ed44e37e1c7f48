/** A clock that was moved is believed to be only where its program says so, and as far as the answer is exact. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Interrupted } from '../../../../nemesis/levers/basics.js';
import { ClockLever, exactOffsetOf, type ReadWallMs } from '../../../../nemesis/levers/clock.js';
import { FakeClock, FakeHost } from '../fakes.js';

let clock: FakeClock;
let host: FakeHost;
let lever: ClockLever;
const interrupt = () => new AbortController();

beforeEach(() => {
  clock = new FakeClock();
  host = new FakeHost('r1', '10.0.0.1', clock);
  lever = new ClockLever(clock);
});

/** What a program says that reads the host's clock: `wrongMs` beside it, after `tookMs`. */
const program =
  ({ wrongMs = 0, tookMs = 0 }: { wrongMs?: number; tookMs?: number }): ReadWallMs =>
  async () => {
    await clock.sleep(tookMs / 2);
    const said = clock.wallMs() + host.aheadMs() + wrongMs;
    await clock.sleep(tookMs / 2);
    return said;
  };

describe('a jump', () => {
  const skew = (offsetMs: number, read: ReadWallMs) => clock.run(lever.skew(host, offsetMs, read));

  it('is told with whom it moved, by how much and since when', async () => {
    await clock.run(clock.sleep(30));
    const { proof, effects } = await skew(6_000, program({}));
    expect(effects).toEqual([{ kind: 'clock-jumped', who: ['r1'], offsetMs: 6_000, sinceNs: 30e6 }]);
    expect(proof).toBe("r1's program says it is +6000 ms off the machine's clock");
    expect(lever.moved()).toEqual(['r1']);
  });

  it('is none where its program goes by another clock, and is taken back then', async () => {
    await expect(skew(6_000, async () => clock.wallMs())).rejects.toThrow(
      'r1: its clock was set to +6000 ms, but its program is 0 ms off',
    );
    expect(host.skew).toEqual({ offsetMs: 0, ratePpm: 0 });
  });

  // An answer at once may be 1 ms off, and a program reads whole milliseconds.
  it.each([
    [6, true],
    [-6, true],
    [7, false],
    [-7, false],
  ])('may be %d ms beside where it should be: %s', async (wrongMs, isBelieved) => {
    const skewed = skew(6_000, program({ wrongMs }));
    if (isBelieved) await skewed;
    else await expect(skewed).rejects.toThrow(`its program is +${6_000 + wrongMs} ms off`);
  });

  // Of 20 ms the answer may be half off, with the 6 ms from above: 16 of a move of 32 do not tell it from none.
  it.each([
    [33, true],
    [32, false],
    [-33, true],
    [-32, false],
  ])('of %d ms is shown by an answer after 20 ms: %s', async (offsetMs, isShown) => {
    const skewed = skew(offsetMs, program({ tookMs: 20 }));
    if (isShown) await skewed;
    else await expect(skewed).rejects.toThrow(`give or take 16 ms, which does not tell a move of ${offsetMs} ms`);
  });

  it('is asked again, for a while, where it cannot be believed yet', async () => {
    let asked = 0;
    await skew(6_000, () => program({ wrongMs: ++asked < 10 ? 50 : 0 })());
    expect(asked).toBe(10);
    asked = 0;
    await expect(skew(1_000, () => program({ wrongMs: ++asked < 11 ? 50 : 0 })())).rejects.toThrow('+7050 ms off');
    expect(asked).toBe(10);
  });

  it('is none where no program answers, and healed all the same where none does any more', async () => {
    const read = async () => undefined;
    await expect(skew(6_000, read)).rejects.toThrow(
      'its program cannot tell the time, so nothing shows what its clock does',
    );
    expect(host.skew.offsetMs).toBe(0);
    let tells = true;
    const { heal } = await skew(6_000, async () => (tells ? program({})() : undefined));
    tells = false;
    expect(await clock.run(heal())).toContain("r1's clock is set to 0 ms; no program there can be asked");
  });

  it('is not healed where the program says that it is not', async () => {
    let wrongMs = 0;
    const { heal } = await skew(6_000, () => program({ wrongMs })());
    wrongMs = 6_000;
    await expect(clock.run(heal())).rejects.toThrow('its clock was set to 0 ms, but its program is +6000 ms off');
  });
});

describe('a clock to and fro', () => {
  it('is told before it moves', () => {
    expect(lever.strobe(host, 6_000, program({})).effects).toEqual([
      { kind: 'clock-strobes', who: ['r1'], offsetMs: 6_000, sinceNs: 0 },
    ]);
  });
});

describe('a drift', () => {
  const drift = (ratePpm: number, read: ReadWallMs, signal = interrupt().signal) =>
    clock.run(lever.drift(host, ratePpm, read, signal));

  it('is told with its rate, what it had gained by then, and the two readings', async () => {
    const { proof, effects } = await drift(500_000, program({}));
    const ms = clock.nowNs() / 1e6;
    expect(effects).toEqual([
      { kind: 'clock-drifts', who: ['r1'], ratePpm: 500_000, gainedMs: ms / 2, sinceNs: ms * 1e6 },
    ]);
    expect(proof).toBe(
      `r1's program was 0 and then +${Math.round(ms / 2)} ms off the machine's clock, ${ms} ms later: +50 % of drift`,
    );
  });

  it('is none where the program goes by another clock, or at another rate', async () => {
    await expect(drift(500_000, async () => clock.wallMs())).rejects.toThrow(
      /^r1: its clock was set to drift by \+50 %, but its program was 0 and then 0 ms off .*: 0 %, give or take \+\d/,
    );
    expect(host.skew).toEqual({ offsetMs: 0, ratePpm: 0 });
    await expect(drift(500_000, async () => clock.wallMs() + host.aheadMs() / 2)).rejects.toThrow('+25 %, give or');
    await expect(drift(-500_000, async () => clock.wallMs() - host.aheadMs())).rejects.toThrow('drift by -50 %');
  });

  it('of little is waited for until two readings tell it, and no longer than 5 s', async () => {
    await drift(50_000, program({}));
    // Twice 1 ms and the program's 5, of a quarter of 5 %: 560 ms.
    expect(clock.nowNs() / 1e6).toBeGreaterThanOrEqual(560);
    expect(clock.nowNs() / 1e6).toBeLessThan(600);
    const beganMs = clock.nowNs() / 1e6;
    await expect(drift(1_000, program({}))).rejects.toThrow('give or take +0.1 %');
    expect(clock.nowNs() / 1e6 - beganMs).toBeGreaterThanOrEqual(5_000);
    expect(clock.nowNs() / 1e6 - beganMs).toBeLessThan(5_100);
  });

  it('is given up when the run ends before it could be seen', async () => {
    const over = interrupt();
    over.abort();
    await expect(drift(500_000, program({}), over.signal)).rejects.toThrow(Interrupted);
    expect(host.skew.ratePpm).toBe(0);
  });
});

it('a clock is read again until the answer is exact, and the last answer stands', async () => {
  let asked = 0;
  const slow = (times: number) => () => program({ tookMs: ++asked < times ? 20 : 2 })();
  const offset = (times: number) => clock.run(exactOffsetOf(slow(times), clock, 3));
  expect(await offset(4)).toMatchObject({ offsetMs: 0, errorMs: 2 });
  expect(asked).toBe(4);
  asked = 0;
  expect(await offset(20)).toMatchObject({ errorMs: 11 });
  expect(asked).toBe(10);
  expect(await exactOffsetOf(async () => undefined, clock, 3)).toBeUndefined();
});
