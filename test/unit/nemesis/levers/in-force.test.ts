/** What a strike has done, undone as a whole. */
import { describe, expect, it } from 'vitest';
import { effectsBefore, InForce, LeftInForce } from '../../../../nemesis/levers/in-force.js';
import type { EffectSeen } from '../../../../nemesis/levers/network.js';

/** Something in force that notes its healing; `refuses`: how often its healing fails before it succeeds. */
function grip(name: string, healed: string[], refuses = 0) {
  let left = refuses;
  const effects: EffectSeen[] = [{ kind: 'stopped', who: [name], sinceNs: 7 }];
  return {
    effects,
    heal: async () => {
      healed.push(name);
      if (left-- > 0) throw new Error(`${name} stays`);
      return `${name} is back`;
    },
  };
}

describe('what is in force', () => {
  it('is healed last first, one after the other, and says so', async () => {
    const healed: string[] = [];
    const inForce = new InForce();
    await inForce.add(grip('first', healed));
    await inForce.addAll([Promise.resolve(grip('second', healed)), Promise.resolve(grip('third', healed))]);
    expect(await inForce.heal()).toBe('third is back; second is back; first is back');
    expect(healed).toEqual(['third', 'second', 'first']);
  });

  it('is healed in all its parts also where one cannot be', async () => {
    const healed: string[] = [];
    const inForce = new InForce();
    for (const one of [grip('first', healed), grip('second', healed, 1)]) await inForce.add(one);
    await expect(inForce.heal()).rejects.toThrow(/^second stays$/);
    expect(healed).toEqual(['second', 'first']);
  });
});

describe('a strike that fails half-way', () => {
  const strike = (...refusals: number[]) => {
    const healed: string[] = [];
    const striking = InForce.strike(async (inForce) => {
      for (const [n, refuses] of refusals.entries()) await inForce.add(grip(`r${n + 1}`, healed, refuses));
      throw new Error('the next did not stop');
    });
    return { healed, failure: striking.catch((error: unknown) => error) };
  };

  it('is undone last first, and tells what had been in force and is over', async () => {
    const { healed, failure } = strike(0, 0);
    expect(await failure).toMatchObject({ message: 'the next did not stop' });
    expect(healed).toEqual(['r2', 'r1']);
    expect(effectsBefore(await failure)).toEqual([
      { kind: 'stopped', who: ['r1'], sinceNs: 7, untilNs: 7 },
      { kind: 'stopped', who: ['r2'], sinceNs: 7, untilNs: 7 },
    ]);
  });

  it('is left to be healed where it cannot be undone at once', async () => {
    const { failure } = strike(1);
    const left = (await failure) as LeftInForce;
    expect(left).toBeInstanceOf(LeftInForce);
    expect(left.message).toBe('the next did not stop; and it could not be undone: r1 stays');
    expect(effectsBefore(left)).toEqual([{ kind: 'stopped', who: ['r1'], sinceNs: 7 }]);
    expect(await left.heal()).toBe('r1 is back');
  });
});
