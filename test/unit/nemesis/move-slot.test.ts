/** Faults that move a slot, on servers that may lack one of the commands which they take, and beside faults that replace or stop servers. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanStep } from '../../../harness/vocabulary/faults.js';
import { migrateSlots } from '../../../nemesis/faults/migrate-slots.js';
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
/** Who answers nothing. */
let silent: Set<FakeNode>;
/** Whether an owner does what it is asked for by `MIGRATESLOTS`, and not only says so. */
let isMovedAtOnce: boolean;

beforeEach(() => {
  w = world('redlock', { nodes: 3 });
  const [r1, r2] = [w.node('r1'), w.node('r2')];
  [owner, lacking, told, silent, isMovedAtOnce] = [r1, new Map(), [], new Set(), true];
  const opened = new Map<FakeNode, { slot: number; from: string } | { slot: number; to: string }>();
  const keys = new Map([[r1, ['lock:0']]]);
  for (const node of w.nodes) {
    node.command = async (...argv) => {
      const [name, ...args] = argv.map(String);
      const what = name === 'CLUSTER' ? args[0]! : name!;
      if (what === 'COMMAND') return [lacking.get(node.name) === args[1] ? null : [args[1], -2]];
      if (what === 'GETKEYSINSLOT') return keys.get(node) ?? [];
      told.push(`${node.name} ${argv.slice(0, 4).join(' ')}`);
      if (what === 'MIGRATESLOTS' && isMovedAtOnce) owner = w.node(args[5]!.replace('id of ', ''));
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
      async view(node: FakeNode) {
        if (silent.has(node)) throw new Error('Command timed out');
        return {
          id: `id of ${node.name}`,
          moving: opened.has(node) ? [opened.get(node)] : [],
          ownerOf: () => owner.host.address,
        };
      },
    },
    shards: async () => [
      { primary: r1, replicas: [], serves: () => owner === r1 },
      { primary: r2, replicas: [], serves: () => owner === r2 },
    ],
    missing: async () => [...opened].map(([{ name }, { slot }]) => `${name} has slots on their way: ${slot}`),
  });
});

const strike = (fault = moveSlot, args?: PlanStep['args']) => {
  const step = { atMs: 0, fault: fault.name, target: { names: ['r1'] }, forMs: 1_000, ...(args && { args }) };
  return w.clock.run(fault.strike(step, w.nemesis));
};

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

const ASKED = `r1 CLUSTER MIGRATESLOTS SLOTSRANGE ${SLOT}`;
const CALLED_OFF = 'r1 CLUSTER CANCELSLOTMIGRATIONS';

it('moves the slot at once: all name the new owner, and healing asks nobody anything', async () => {
  const active = await strike(migrateSlots);
  expect(told).toEqual([ASKED]);
  expect(active.record).toMatchObject({
    targets: ['r1', 'r2'],
    proof: `CLUSTER NODES of r1, r2 and all others: slot ${SLOT} belongs to r2`,
    effects: [{ kind: 'slot-moves', who: ['r1', 'r2'], slot: SLOT }],
  });
  expect(await w.clock.run(active.heal())).toBe(active.record.proof);
  expect(told).toEqual([ASKED]);
});

it('fails where the servers only say that they move it, and calls it off', async () => {
  isMovedAtOnce = false;
  await expect(strike(migrateSlots)).rejects.toThrow(
    `slot ${SLOT} does not belong to r2 after 8000 ms: 1 owners are named`,
  );
  expect(told).toEqual([ASKED, CALLED_OFF]);
});

it('is refused in one line where a server cannot move it at once, and tells nobody anything', async () => {
  lacking.set('r1', 'cluster|migrateslots');
  await expect(strike(migrateSlots)).rejects.toMatchObject({
    refused: true,
    message: 'r1 does not know CLUSTER|MIGRATESLOTS: --server valkey@9 does',
  });
  expect(told).toEqual([]);
});

it.each([moveSlot, migrateSlots])(
  '$name: what is done stays done when the new owner has been replaced',
  async (fault) => {
    const active = await strike(fault);
    const before = [...told];
    const [r1, r2, r3] = [w.node('r1'), w.node('r2'), w.node('r3')];
    owner = r3;
    w.topology.shards = async () => [
      { primary: r1, replicas: [], serves: () => false },
      { primary: r3, replicas: [r2], serves: () => true },
    ];
    expect(await w.clock.run(active.heal())).toBe(`CLUSTER NODES of r1, r3 and all others: slot ${SLOT} belongs to r3`);
    expect(told).toEqual(before);
  },
);

it.each([moveSlot, migrateSlots])(
  '$name: who is stopped by another fault is named; its new owner must answer',
  async (fault) => {
    const active = await strike(fault);
    silent.add(w.node('r1'));
    expect(await w.clock.run(active.heal())).toBe(
      `CLUSTER NODES of all but r1, which did not answer: slot ${SLOT} belongs to r2`,
    );
    silent.add(w.node('r2'));
    await expect(w.clock.run(active.heal())).rejects.toThrow(
      `slot ${SLOT} belongs to nobody after 8000 ms: 1 owners are named, and r1, r2 did not answer`,
    );
  },
);

describe('beside another step that moves a slot', () => {
  it.each([moveSlot, migrateSlots])('$name: finds what that one has done, however soon after it', async (fault) => {
    const [one, other] = await Promise.allSettled([strike(moveSlot), strike(fault)]);
    expect(one).toMatchObject({ value: { record: { did: `moved slot ${SLOT} (lock:0) from r1 to r2` } } });
    expect(other).toMatchObject({ reason: { refused: true, message: 'r1 serves no lock of the run' } });
    expect(told).toHaveLength(5);
  });

  it.each([moveSlot, migrateSlots])(
    '$name: is refused in one line while a slot is on its way, and tells nobody anything',
    async (fault) => {
      const first = await strike(moveSlot, { until: 'migrating' });
      const before = [...told];
      await expect(strike(fault)).rejects.toMatchObject({
        refused: true,
        message: `the servers were not whole: r2 has slots on their way: ${SLOT}; r1 has slots on their way: ${SLOT}`,
      });
      expect(told).toEqual(before);
      expect(await w.clock.run(first.heal())).toContain(`slot ${SLOT} belongs to r2`);
    },
  );

  it('is not struck where the run ends before its turn', async () => {
    const r2 = w.node('r2');
    const { command } = r2;
    r2.command = async (...argv) => {
      w.interrupt.abort();
      return command(...argv);
    };
    const [one, other] = await Promise.allSettled([strike(), strike()]);
    expect(one.status).toBe('fulfilled');
    expect(other).toMatchObject({ reason: { message: 'the run ended before its turn had come' } });
    expect(told).toHaveLength(5);
  });
});
