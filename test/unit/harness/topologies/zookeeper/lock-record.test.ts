/** Who is first in line, by the transaction logs of three servers. */
import { expect, it } from 'vitest';
import { LockRecord } from '../../../../../harness/topologies/zookeeper/lock-record.js';
import type { NodeChange, Transaction } from '../../../../../harness/topologies/zookeeper/transaction-log.js';
import type { ServiceNews } from '../../../../../harness/vocabulary/topology.js';

const made = (zxid: number, session: bigint, owner: string): Transaction =>
  change(zxid, session, { type: 'created', path: place(owner, zxid), data: owner, isEphemeral: true });
const gone = (zxid: number, owner: string, madeAt: number): Transaction =>
  change(zxid, 0n, { type: 'deleted', path: place(owner, madeAt) });
const closed = (zxid: number, session: bigint, isAsked: boolean): Transaction => ({
  ...change(zxid, session, { type: 'session-closed' }),
  isAsked,
});
const place = (owner: string, number: number) => `/k/${owner}-${String(number).padStart(10, '0')}`;

function change(zxid: number, session: bigint, one: NodeChange): Transaction {
  return { zxid, session, isAsked: true, changes: [one] };
}

/** What each server tells, in short: `1 c1:a`, `2 nobody`. */
function threeServers() {
  const record = new LockRecord(3);
  const told: Record<string, string[]> = { z1: [], z2: [], z3: [] };
  const hear = (node: string) =>
    record.listen(node, ['k'], ({ position, owner = 'nobody', how }: ServiceNews) =>
      told[node]!.push([position, owner, how].filter((word) => word !== undefined).join(' ')),
    );
  for (const node of Object.keys(told)) hear(node);
  const take = (nodes: string, ...transactions: Transaction[]) => {
    for (const n of nodes) record.take(`z${n}`, { transactions, isAnew: false });
  };
  return { record, told, take, hear };
}

it('is the one whose place was made first, and then the next', () => {
  const { told, take } = threeServers();
  take('123', made(1, 7n, 'c1:a'), made(2, 8n, 'c2:b'), gone(3, 'c1:a', 1), gone(4, 'c2:b', 2));
  expect(told.z1).toEqual(['1 c1:a', '3 nobody', '3.5 c2:b', '4 nobody']);
  expect(told.z3).toEqual(told.z1);
});

it('counts once a majority has written it, and is told by each server that has', () => {
  const { told, take } = threeServers();
  take('1', made(1, 7n, 'c1:a'));
  expect(told).toEqual({ z1: [], z2: [], z3: [] });
  take('2', made(1, 7n, 'c1:a'));
  expect(told).toEqual({ z1: ['1 c1:a'], z2: ['1 c1:a'], z3: [] });
  take('3', made(1, 7n, 'c1:a'));
  expect(told.z3).toEqual(['1 c1:a']);
});

it('does not count what a leader wrote that nobody followed', () => {
  const { told, take, record } = threeServers();
  take('123', made(1, 7n, 'c1:a'));
  take('1', gone(2, 'c1:a', 1));
  take('23', made(100, 8n, 'c2:b'));
  expect(told.z2).toEqual(['1 c1:a']);
  // It comes back, and drops it.
  record.take('z1', { transactions: [made(1, 7n, 'c1:a'), made(100, 8n, 'c2:b')], isAnew: true });
  expect(told.z1).toEqual(['1 c1:a']);
  take('123', gone(101, 'c1:a', 1));
  expect(told.z1).toEqual(['1 c1:a', '101 nobody', '101.5 c2:b']);
});

it('counts what stands before what a majority has, though it was read late', () => {
  const { told, take } = threeServers();
  take('1', made(1, 7n, 'c1:a'), gone(2, 'c1:a', 1));
  // Was sent a copy of what there was before.
  take('3', gone(2, 'c1:a', 1));
  expect(told.z1).toEqual(['1 c1:a', '2 nobody']);
  expect(told.z3).toEqual(['2 nobody']);
});

it('says that a session was ended for its silence, and not that its client ended it', () => {
  const { told, take } = threeServers();
  take('123', made(1, 7n, 'c1:a'), made(2, 8n, 'c2:b'), closed(3, 7n, false), closed(4, 8n, true));
  expect(told.z1).toEqual(['1 c1:a', '3 nobody timed-out', '3.5 c2:b', '4 nobody']);
});

it('tells who listens later what is there by then', () => {
  const { told, take, hear } = threeServers();
  take('123', made(1, 7n, 'c1:a'));
  told.z1 = [];
  hear('z1');
  expect(told.z1).toEqual(['1 c1:a']);
  take('123', gone(2, 'c1:a', 1));
  expect(told.z1).toEqual(['1 c1:a', '2 nobody']);
});
