/** ZooKeeper's transaction log, as its servers write it. */
import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listHostFolder, readHostFile } from '../../../../../harness/runtimes/host-files.js';
import { LogTail } from '../../../../../harness/topologies/zookeeper/log-tail.js';
import { transactionsIn } from '../../../../../harness/topologies/zookeeper/transaction-log.js';
import { closedBy, createdBy, deletedBy, entry, HEADER, opened } from './log-entries.js';

const all = Buffer.concat([
  HEADER,
  entry(1, opened(7n)),
  entry(2, createdBy(7n, '/k', '', false)),
  entry(3, createdBy(7n, '/k/c1:a-0000000000', 'c1:a', true)),
  entry(4, deletedBy(7n, '/k/c1:a-0000000000')),
  entry(5, closedBy(7n, true)),
  entry(6, closedBy(8n, false)),
]);

it('is read entry by entry, up to the zeros at its end', () => {
  const { transactions, next } = transactionsIn(Buffer.concat([all, Buffer.alloc(100)]), 0);
  expect(next).toBe(all.length);
  expect(transactions).toEqual([
    { zxid: 1, session: 7n, isAsked: false, changes: [] },
    { zxid: 2, session: 7n, isAsked: true, changes: [{ type: 'created', path: '/k', data: '', isEphemeral: false }] },
    {
      zxid: 3,
      session: 7n,
      isAsked: true,
      changes: [{ type: 'created', path: '/k/c1:a-0000000000', data: 'c1:a', isEphemeral: true }],
    },
    { zxid: 4, session: 7n, isAsked: true, changes: [{ type: 'deleted', path: '/k/c1:a-0000000000' }] },
    { zxid: 5, session: 7n, isAsked: true, changes: [{ type: 'session-closed' }] },
    { zxid: 6, session: 8n, isAsked: false, changes: [{ type: 'session-closed' }] },
  ]);
});

it('is read on where the rest of an entry has come', () => {
  for (let cut = 0; cut <= all.length; cut++) {
    const first = transactionsIn(all.subarray(0, cut), 0);
    const rest = transactionsIn(all.subarray(first.next), first.next);
    const zxids = [...first.transactions, ...rest.transactions].map(({ zxid }) => zxid);
    expect(zxids, `cut at ${cut}`).toEqual([1, 2, 3, 4, 5, 6]);
  }
});

it('is no other file', () => {
  expect(() => transactionsIn(Buffer.alloc(64), 0)).toThrow('not a transaction log');
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-tail-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const tailOf = (folder: string) =>
  new LogTail(
    {
      readFile: async (path, piece) => readHostFile(folder, path, piece),
      listFolder: async (path) => listHostFolder(folder, path),
    },
    '.',
  );
const told = async (tail: LogTail) => {
  const { transactions, isAnew } = await tail.news();
  return [isAnew, transactions.map(({ zxid }) => zxid)];
};

it('is followed from file to file, the newest last', async () => {
  const tail = tailOf(folder);
  expect(await told(tail)).toEqual([false, []]);
  writeFileSync(join(folder, 'log.1'), Buffer.concat([HEADER, entry(1, opened(7n))]));
  expect(await told(tail)).toEqual([false, [1]]);
  appendFileSync(join(folder, 'log.1'), entry(2, opened(8n)));
  writeFileSync(join(folder, 'log.10'), Buffer.concat([HEADER, entry(16, opened(9n))]));
  writeFileSync(join(folder, 'snapshot.0'), 'something else');
  expect(await told(tail)).toEqual([false, [2, 16]]);
  expect(await told(tail)).toEqual([false, []]);
});

it('is told anew where some of it was cut off, or all of it has gone', async () => {
  const tail = tailOf(folder);
  const path = join(folder, 'log.1');
  const kept = Buffer.concat([HEADER, entry(1, opened(7n))]);
  writeFileSync(path, Buffer.concat([kept, entry(2, opened(8n))]));
  expect(await told(tail)).toEqual([false, [1, 2]]);
  truncateSync(path, kept.length);
  expect(await told(tail)).toEqual([true, [1]]);
  rmSync(path);
  expect(await told(tail)).toEqual([true, []]);
});
