import { expect, it } from 'vitest';
import { availability } from '../../../../checkers/measures/availability.js';
import { acquire, checkInput, clientDown, fault, KEY, ns, release, type Told } from '../literal.js';

const measured = (told: (Told | Told[])[]) => {
  const result = availability.check(checkInput(told.flat()));
  expect(result).toMatchObject({ verdict: 'valid', notes: [], violations: [] });
  return result.measurements!;
};
/** Milliseconds for which the one key could not be acquired. */
const unavailableMs = (...told: (Told | Told[])[]) => measured(told)[0]!.values.unavailableMs;

const failed = (client: string, id: number, at: number, until: number, reason = 'unreachable') =>
  acquire(client, id, { at, until, type: 'fail', reason });
const unknown = (client: string, id: number, at: number, until: number) =>
  acquire(client, id, { at, until, type: 'info', reason: 'timeout' });
const turn = (client: string, id: number, from: number, until: number) => [
  ...acquire(client, id, { at: from, until: from }),
  ...release(client, id + 1, { at: until, until, hold: id }),
];

it('a key is unavailable while tries fail without a proper answer', () => {
  const [whole] = measured([
    turn('c1', 1, 0, 1),
    failed('c2', 1, 2, 3),
    unknown('c3', 1, 3.5, 4),
    turn('c1', 3, 10, 11),
  ]);
  expect(whole).toEqual({
    name: 'availability',
    of: 'the whole run',
    key: KEY,
    fromNs: 0,
    untilNs: ns(10),
    // From 2 s to 4 s: no client had a proper answer between the two.
    values: { availablePercent: 80, unavailableMs: 2_000, outages: 1, longestOutageMs: 2_000 },
    evidence: [6, 7],
  });
});

it('a refusal because another client holds, or is queued, is a proper answer', () => {
  expect(unavailableMs(turn('c1', 1, 0, 1), failed('c2', 1, 2, 3, 'held'), turn('c1', 3, 9, 10))).toBe(0);
  expect(unavailableMs(turn('c1', 1, 0, 1), failed('c2', 1, 2, 3, 'queued-behind'), turn('c1', 3, 9, 10))).toBe(0);
  const between = [failed('c2', 1, 2, 4), failed('c3', 1, 3, 3.5, 'held'), failed('c2', 2, 5, 6)];
  // From 3.5 s to 6 s: no client had a proper answer between the end of the one and the beginning of the other.
  expect(unavailableMs(turn('c1', 1, 0, 1), between.flat(), turn('c1', 3, 9, 10))).toBe(2_500);
});

it('a proper answer ends an outage', () => {
  const twice = [turn('c1', 1, 0, 1), failed('c2', 1, 2, 3), failed('c3', 1, 3.5, 4, 'held'), failed('c2', 2, 5, 6)];
  expect(measured(twice)[0]!.values).toMatchObject({ unavailableMs: 2_000, outages: 2, longestOutageMs: 1_000 });
});

it('a client that alone cannot reach it shows no more than the time since others were last answered', () => {
  expect(
    unavailableMs(
      failed('c2', 1, 0.5, 9),
      ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map((at) => turn('c1', 10 + 2 * at, at, at + 0.9)),
    ),
  ).toBeCloseTo(100); // 8.9 s to 9 s
});

it('is available while a client certainly holds it under a running lease', () => {
  expect(unavailableMs(turn('c1', 1, 0, 4), failed('c2', 1, 1, 3))).toBe(0);
  expect(unavailableMs(turn('c1', 1, 0, 4), failed('c2', 1, 1, 6))).toBe(2_000);
  // The lease ends at 5 s, whatever the holder believes.
  expect(unavailableMs(turn('c1', 1, 0, 9), failed('c2', 1, 1, 6))).toBe(1_000);
});

it('a try that ended with its own client shows nothing', () => {
  const story = (endNs: number) => unavailableMs(turn('c1', 1, 0, 1), unknown('c2', 1, 2, 3), clientDown('c2', endNs));
  expect(story(2.5)).toBe(0);
  expect(story(3)).toBe(1_000); // killed because its outcome is unknown
  expect(unavailableMs(turn('c1', 1, 0, 1), acquire('c2', 1, { at: 2, type: 'none' }), turn('c1', 3, 9, 10))).toBe(0);
});

it('measures recovery to the first grant that was requested after the strike, and after the healing', () => {
  const told = [
    acquire('c1', 1, { at: 0.5, until: 1.5 }), // asked for before the blow
    fault(1, 0, 'kill', 'strike', ['r1']),
    failed('c2', 1, 1.2, 2),
    acquire('c3', 1, { at: 2, until: 3 }),
    fault(4, 0, 'kill', 'heal', ['r1']),
    acquire('c2', 2, { at: 5, until: 7 }),
    acquire('c3', 2, { at: 5.5, until: 6 }),
  ];
  const found = measured(told);
  expect(found.filter(({ name }) => name === 'recovery')).toEqual([
    {
      name: 'recovery',
      of: 'kill of r1 (step 1 of the plan)',
      key: KEY,
      fromNs: ns(1),
      untilNs: ns(4),
      values: { afterStrikeMs: 2_000, afterHealMs: 2_000 },
      evidence: [1, 6, 7, 10],
    },
  ]);
  expect(availability.check(checkInput(told.flat())).stats).toMatchObject({
    recoveryAfterStrikeMsMax: 2_000,
    recoveryAfterHealMsMax: 2_000,
    availablePercentMin: 100,
  });
  // The lease of the first grant covers what failed under the fault.
  expect(found.find(({ name, of }) => name === 'availability' && of.startsWith('kill'))).toMatchObject({
    fromNs: ns(1),
    untilNs: ns(4),
    values: { availablePercent: 100 },
  });
});

it('cuts an outage at the bounds of the fault', () => {
  const found = measured([
    turn('c1', 1, 0, 0.5),
    fault(2, 0, 'kill', 'strike'),
    failed('c2', 1, 1, 3),
    failed('c2', 2, 3, 5),
    fault(4, 0, 'kill', 'heal'),
    turn('c1', 3, 6, 7),
  ]);
  expect(found.find(({ name, of }) => name === 'availability' && of.startsWith('kill'))!.values).toEqual({
    availablePercent: 0,
    unavailableMs: 2_000,
    outages: 1,
    longestOutageMs: 2_000,
  });
  expect(found[0]!.values.unavailableMs).toBe(4_000);
});

it('says where nothing was granted any more, and is silent where no client tried', () => {
  const struck = [turn('c1', 1, 0, 1), fault(2, 0, 'kill', 'strike'), fault(3, 0, 'kill', 'heal')];
  const recovery = (told: (Told | Told[])[]) => measured(told).find(({ name }) => name === 'recovery')?.values;
  expect(recovery([...struck, failed('c2', 1, 4, 10)])).toEqual({
    noneAfterStrikeForMs: 8_000,
    noneAfterHealForMs: 7_000,
  });
  expect(recovery(struck)).toBeUndefined();
  expect(
    recovery([...struck, acquire('c2', 1, { at: 2, until: 2.1 }), acquire('c3', 1, { at: 3, until: 3.2 })]),
  ).toEqual({
    afterStrikeMs: expect.closeTo(1_200),
  });
  expect(recovery([...struck, acquire('c2', 1, { at: 2.5, until: 2.6 })])).toEqual({
    afterStrikeMs: expect.closeTo(600),
  });
});

it('the last strike of a composite fault counts, and one that did not strike does not', () => {
  const told = [
    fault(1, 0, 'failover', 'phase'),
    turn('c1', 1, 2, 3),
    fault(4, 0, 'failover', 'strike'),
    fault(4.5, 1, 'kill', 'refused'),
    turn('c1', 3, 6, 7),
  ];
  const recovery = measured(told).filter(({ name }) => name === 'recovery');
  expect(recovery).toMatchObject([{ fromNs: ns(4), untilNs: ns(7), values: { afterStrikeMs: 2_000 } }]);
});
