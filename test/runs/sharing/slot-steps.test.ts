/** Steps that move slots beside each other, on real servers: each is told and healed by itself; and what cannot be beside a slot on its way is refused. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { namedServerHere } from '../../support/named-server.js';
import { freshFolder, historyOf, start } from '../../support/torture.js';

const owner = { names: ['r1'] };
/**
 * Each is due while the one before moves its slot, and strikes after it: timers of one instant come in any order. The last stays on its
 * way. Whoever comes after that waits for 6 s.
 */
const STEPS = {
  moving: [
    { atMs: 300, fault: 'move-slot', target: owner, forMs: 24_000 },
    { atMs: 400, fault: 'move-slot', target: owner, forMs: 24_000, args: { until: 'keys' } },
  ],
  late: [
    { atMs: 2_000, fault: 'move-slot', target: owner, forMs: 1_000 },
    { atMs: 2_000, fault: 'cluster-failover', target: { names: ['r2'] }, forMs: 1_000 },
  ],
};
const AT_ONCE = { atMs: 200, fault: 'migrate-slots', target: owner, forMs: 24_000 };

describe('steps that move slots', () => {
  const BESIDE = 'beside each other: each has a slot of its own, and is healed, server';
  it(`${BESIDE} valkey@9`, ({ skip }) => beside('valkey@9', [AT_ONCE, ...STEPS.moving], skip));
  // It has all of these steps but one.
  it(`${BESIDE} PATH`, { tags: ['night'] }, ({ skip }) => beside('PATH', STEPS.moving, skip));

  async function beside(
    server: string,
    moving: readonly { fault: string }[],
    skip: (why: string) => void,
  ): Promise<void> {
    if (server !== 'PATH' && !(await namedServerHere(server))) skip(`${server} cannot be had here`);
    const file = join(freshFolder(), 'plan.json');
    writeFileSync(file, JSON.stringify({ version: 1, seed: 1, steps: [...moving, ...STEPS.late] }));
    const flags = ['--topology', 'cluster', '--plan', file, '--keys', '4', '--time-limit', '32s'];
    const run = start([...flags, ...(server === 'PATH' ? [] : ['--server', server])]);
    expect((await run.ended).code, run.output()).not.toBe(1);
    const history = historyOf(run);
    const records = history.filter((event) => event.type === 'fault');
    const told = records.map(({ step, fault, state, proof }) => `${step} ${fault} ${state}: ${proof}`).join('\n');
    const of = (state: string) =>
      records.filter((record) => record.state === state).sort((one, other) => one.step - other.step);
    const strikes = of('strike');
    expect(
      strikes.map(({ fault }) => fault),
      told,
    ).toEqual(moving.map(({ fault }) => fault));
    const moves = strikes.map(({ effects }) => effects.flatMap((one) => (one.kind === 'slot-moves' ? [one] : [])));
    expect(moves, told).toEqual(strikes.map(({ targets }) => [expect.objectContaining({ who: targets })]));
    const slots = moves.map(([one]) => one!.slot);
    expect(new Set(slots).size, told).toBe(moving.length);
    expect(of('heal'), told).toEqual(
      strikes.map(({ step, targets }, n) =>
        expect.objectContaining({
          step,
          proof: expect.stringContaining(`slot ${slots[n]} belongs to ${targets[1]}`),
        }),
      ),
    );
    expect(of('refused'), told).toEqual(
      STEPS.late.map(({ fault }) =>
        expect.objectContaining({
          fault,
          proof: expect.stringMatching(
            new RegExp(`^the servers were not whole: .*slots on their way: ${slots.at(-1)}`),
          ),
        }),
      ),
    );
    expect(of('failed'), told).toEqual([]);
    expect(history.find((event) => event.type === 'recovered')).toMatchObject({ missing: [] });
  }
});
