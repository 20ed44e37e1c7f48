import { expect, test } from 'vitest';
import { type Actor, SimWorld } from '../../../../../harness/runtimes/sim/world.js';

const actor = (name: string): Actor => ({
  name,
  address: '10.77.0.3',
  random: {
    fork: () => actor(name).random,
    float: () => 0,
    int: () => 0,
    pick: ([first]) => first!,
  } as Actor['random'],
  lateNs: () => 0,
  aheadMs: () => 0,
  nowNs: () => 0,
  moment: () => {},
  acts: (act) => act(),
  turn: (run) => run(),
  opened: () => {},
  crash: () => {},
});

test('in one happening there is one turn: what follows it by promises is that one’s', async () => {
  const world = new SimWorld(1);
  const [one, other] = [actor('c1'), actor('c2')];
  const seen: string[] = [];
  const turns = (who: Actor) => () =>
    world.inTurnOf(who, () => void Promise.resolve().then(() => seen.push(`${who.name}: ${world.actor.name}`)));
  await world.run(
    () =>
      new Promise<void>((resolve) => {
        world.timeline.at(0, turns(one));
        world.timeline.at(0, turns(other));
        world.forHarness(world.timeline.nowNs + 1, resolve);
      }),
  );
  expect(seen).toEqual(['c1: c1', 'c2: c2']);
  const together = () => {
    turns(one)();
    turns(other)();
  };
  await expect(
    world.run(
      () =>
        new Promise<void>((_resolve, reject) => {
          world.timeline.at(0, () => {
            try {
              together();
            } catch (error) {
              reject(error);
            }
          });
        }),
    ),
  ).rejects.toThrow('a turn of c2 in the midst of one of c1');
});

test('chance is the same in every world until a deployment is ready, and then each one’s own', () => {
  const drawn = (seed: number, isReady: boolean) => {
    const world = new SimWorld(seed);
    const draws = world.draws('anything');
    if (isReady) world.ready();
    return [draws(0), world.harness.random.float()];
  };
  expect(drawn(1, false)).toEqual(drawn(2, false));
  expect(drawn(1, true)).not.toEqual(drawn(2, true));
  expect(drawn(1, true)).toEqual(drawn(1, true));
});
