/** Which member leads, by what each says. */
import { expect, it } from 'vitest';
import { leaderShard, missingOf } from '../../../../../harness/topologies/etcd/etcd.js';
import type { MemberStatus } from '../../../../../harness/topologies/etcd/gateway.js';
import type { ServerNode } from '../../../../../harness/vocabulary/topology.js';

const nodes = ['e1', 'e2', 'e3'].map((name) => ({ name }) as ServerNode);
const says = (memberId: string, leaderId: string, raftTerm: number): MemberStatus => ({
  ...{ memberId, leaderId, raftTerm },
  version: '3.4.23',
});
const silent = new Error('no answer within 1000 ms');
const leader = (...answers: (MemberStatus | Error)[]) => leaderShard(nodes, answers)[0]?.primary.name;

it('is the one that takes itself for it, in the newest term, with a majority', () => {
  expect(leader(says('1', '1', 2), says('2', '1', 2), says('3', '1', 2))).toBe('e1');
  // The old leader does not know yet.
  expect(leader(says('1', '1', 2), says('2', '2', 3), says('3', '2', 3))).toBe('e2');
  expect(leader(silent, says('2', '2', 3), says('3', '2', 3))).toBe('e2');
});

it('is nobody where no majority follows, or the leader itself was not heard', () => {
  expect(leader(says('1', '1', 2), silent, silent)).toBeUndefined();
  expect(leader(silent, says('2', '1', 2), says('3', '1', 2))).toBeUndefined();
  expect(leader(says('1', '0', 2), says('2', '0', 2), says('3', '0', 2))).toBeUndefined();
  expect(leader(says('1', '1', 2), says('2', '0', 3), says('3', '0', 3))).toBeUndefined();
});

it('says what is missing, in words', () => {
  expect(missingOf(nodes, [says('1', '1', 2), says('2', '1', 2), says('3', '1', 2)])).toEqual([]);
  expect(missingOf(nodes, [says('1', '1', 2), says('2', '1', 2), says('3', '0', 2)])).toEqual([
    'e3 does not follow e1',
  ]);
  expect(missingOf(nodes, [says('1', '1', 2), says('2', '1', 2), silent])).toEqual([
    'e3 does not answer (no answer within 1000 ms)',
  ]);
  expect(missingOf(nodes, [says('1', '0', 2), says('2', '0', 2), says('3', '0', 2)])).toEqual([
    'no member is the leader of a majority',
  ]);
});
