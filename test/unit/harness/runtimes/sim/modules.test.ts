import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { lockModule } from '../../../../../harness/runtimes/sim/modules.js';

const folder = mkdtempSync(join(tmpdir(), 'lock-torture-modules-'));
afterAll(() => rmSync(folder, { recursive: true }));

function instance(code: string, shared: Record<string, unknown> = {}) {
  const path = join(folder, 'lock.cjs');
  writeFileSync(path, code);
  return lockModule(path, shared);
}

const own = { pid: 2, hostname: 'c1', exit: () => {} };

test('every client has the state of its modules for itself', () => {
  const load = instance('let n = 0; exports.next = () => ++n;');
  const [one, other] = [load(own), load(own)] as { next(): number }[];
  expect([one!.next(), one!.next(), other!.next()]).toEqual([1, 2, 1]);
});

test('what is shared is the same for all', () => {
  const ioredis = { Redis: class {} };
  const load = instance("exports.ioredis = require('ioredis');", { ioredis });
  expect(load(own).ioredis).toBe(ioredis);
});

test('it sees a process and a host of its own', () => {
  const load = instance(
    "exports.is = [process.pid, require('os').hostname(), require('node:process').pid, process.env];",
  );
  expect(load(own).is).toEqual([2, 'c1', 2, {}]);
});

test.each(['fs', 'node:fs/promises', 'node:worker_threads', 'child_process', 'zlib', 'http', 'cluster', 'not-there'])(
  '%s is refused by its name, in one line',
  (name) => {
    const load = instance(`require('${name}');`);
    expect(() => load(own)).toThrow(`the simulated world does not have the module ${name}, which this lock wants`);
  },
);
