/** The fault `move-slot`, on servers that may lack one of the commands which it takes. */
import { beforeEach, expect, it } from 'vitest';
import { moveSlot } from '../../../nemesis/faults/move-slot.js';
import { type FakeNode, type World, world } from './fakes.js';

const SLOT = 7_495;

let w: World;
/** What servers do not know, by name: `migrate`. */
let lacking: Map<string, string>;
/** Who has the slot, as everybody says. */
let owner: FakeNode;
/** What servers were told that changes anything. */
let told: string[];

beforeEach(() => {
  w = world('redlock', { nodes: 3 });
  const [r1, r2] = [w.node('r1'), w.node('r2')];
  [owner, lacking, told] = [r1, new Map(), []];
  const opened = new Map<FakeNode, { slot: number; from: string } | { slot: number; to: string }>();
  const keys = new Map([[r1, ['lock:0']]]);
  for (const node of w.nodes) {
    node.command = async (...argv) => {
      const [name, ...args] = argv.map(String);
      const what = name === 'CLUSTER' ? args[0]! : name!;
      if (what === 'COMMAND') return [lacking.get(node.name) === args[1] ? null : [args[1], -2]];
      if (what === 'GETKEYSINSLOT') return keys.get(node) ?? [];
      told.push(`${node.name} ${argv.slice(0, 4).join(' ')}`);
      if (what === 'MIGRATE') keys.set(r2, keys.get(node)!).delete(node);
      else if (args[2] === 'IMPORTING') opened.set(node, { slot: SLOT, from: args[3]! });
      else if (args[2] === 'MIGRATING') opened.set(node, { slot: SLOT, to: args[3]! });
      else if (args[2] === 'NODE') {
        owner = w.node(args[3]!.replace('id of ', ''));
        opened.delete(node);
      }
      return 'OK';
    };
  }
  Object.assign(w.topology, {
    slots: {
      of: () => SLOT,
      view: async (node: FakeNode) => ({
        id: `id of ${node.name}`,
        moving: opened.has(node) ? [opened.get(node)] : [],
        ownerOf: () => owner.host.address,
      }),
    },
    shards: async () => [
      { primary: r1, replicas: [], serves: () => true },
      { primary: r2, replicas: [], serves: () => false },
    ],
  });
});

const strike = () =>
  w.clock.run(moveSlot.strike({ atMs: 0, fault: 'move-slot', target: { names: ['r1'] }, forMs: 1_000 }, w.nemesis));

it('moves the slot in its four steps', async () => {
  const active = await strike();
  expect(told).toEqual([
    `r2 CLUSTER SETSLOT ${SLOT} IMPORTING`,
    `r1 CLUSTER SETSLOT ${SLOT} MIGRATING`,
    'r1 MIGRATE 10.77.0.3 6379 ',
    `r2 CLUSTER SETSLOT ${SLOT} NODE`,
    `r1 CLUSTER SETSLOT ${SLOT} NODE`,
  ]);
  expect(active.record.did).toBe(`moved slot ${SLOT} (lock:0) from r1 to r2`);
  expect(await w.clock.run(active.heal())).toContain(`slot ${SLOT} belongs to r2`);
});

it.each([
  ['r2', 'cluster|setslot', 'r2 does not know CLUSTER|SETSLOT'],
  ['r1', 'cluster|setslot', 'r1 does not know CLUSTER|SETSLOT'],
  ['r1', 'migrate', 'r1 does not know MIGRATE'],
])('is refused in one line where %s lacks %s, and tells nobody anything', async (who, command, line) => {
  lacking.set(who, command);
  await expect(strike()).rejects.toMatchObject({ refused: true, message: line });
  expect(told).toEqual([]);
});
