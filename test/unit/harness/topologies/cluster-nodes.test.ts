import { describe, expect, test } from 'vitest';
import { countOf, includesSlot, ownerOf, parseClusterNodes } from '../../../../harness/topologies/cluster-nodes.js';

const SIX_TWO = `07c3 10.77.0.5:6379@16379 slave e7d1 0 1426238317239 4 connected
67ed 10.77.0.3:6379@16379 master - 0 1426238316232 2 connected 5461-10922
292f :0@0 master,fail,noaddr - 1426238316232 1426238316000 3 disconnected
e7d1 10.77.0.2:6379@16379 myself,master - 0 0 1 connected 0-2730 13654-16383 [77->-67ed] [78-<-67ed]
`;
const SEVEN = 'e7d1 10.77.0.2:6379@16379,host-1,shard-id=69bc myself,master - 0 0 1 connected 3 5-6\r\n';

describe('what a node believes', () => {
  test('members with address, flags, primary, link and slots', () => {
    const [replica, primary, lost, self] = parseClusterNodes(SIX_TWO);
    expect(replica).toEqual({
      id: '07c3',
      address: '10.77.0.5',
      flags: new Set(['slave']),
      primaryId: 'e7d1',
      linked: true,
      slots: [],
      moving: [],
    });
    expect(primary).toMatchObject({ primaryId: undefined, slots: [{ from: 5_461, to: 10_922 }] });
    expect(lost).toMatchObject({ address: '', flags: new Set(['master', 'fail', 'noaddr']), linked: false });
    // Slots on their way are still among those that are listed without brackets.
    expect(self!.slots).toEqual([
      { from: 0, to: 2_730 },
      { from: 13_654, to: 16_383 },
    ]);
  });

  test('later versions give a host name and more beside the address', () => {
    expect(parseClusterNodes(SEVEN)).toMatchObject([
      {
        address: '10.77.0.2',
        slots: [
          { from: 3, to: 3 },
          { from: 5, to: 6 },
        ],
      },
    ]);
  });

  test('anything else is not guessed at', () => {
    expect(() => parseClusterNodes('ERR this instance has cluster support disabled')).toThrow('not a line of CLUSTER');
    expect(parseClusterNodes('')).toEqual([]);
  });
});

test('an owner of a slot, and how many it has', () => {
  const members = parseClusterNodes(SIX_TWO);
  const own = [
    { from: 0, to: 2_730 },
    { from: 13_654, to: 16_383 },
  ];
  expect([0, 13_654, 5_461, 3_000].map((slot) => ownerOf(slot, members)?.id)).toEqual([
    'e7d1',
    'e7d1',
    '67ed',
    undefined,
  ]);
  expect(countOf(own)).toBe(5_461);
  expect([2_730, 2_731, 13_653, 13_654].map((slot) => includesSlot(own, slot))).toEqual([true, false, false, true]);
});

test('slots on their way: to whom, and from whom', () => {
  const line = 'e7d1 10.77.0.2:6379@16379 myself,master - 0 0 1 connected 0-100 [93->-67ed] [77-<-07c3]';
  expect(parseClusterNodes(line)[0]).toMatchObject({
    slots: [{ from: 0, to: 100 }],
    moving: [
      { slot: 93, to: '67ed' },
      { slot: 77, from: '07c3' },
    ],
  });
});
