import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { enter } from '../../../../../harness/runtimes/sim/current-world.js';
import { lockModule } from '../../../../../harness/runtimes/sim/modules.js';
import { SimWorld } from '../../../../../harness/runtimes/sim/world.js';

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

test.each(['node:worker_threads', 'child_process', 'zlib', 'http', 'cluster', './not-there'])(
  '%s is refused by its name, in one line',
  (name) => {
    const load = instance(`require('${name}');`);
    expect(() => load(own)).toThrow(`the simulated world does not have the module ${name}, which this lock wants`);
  },
);

test('a package that is not there is what Node says of one, whenever it is asked for', () => {
  const look = "try { require('not-there'); } catch (error) { return error.code; }";
  const load = instance(`exports.early = (() => { ${look} })(); exports.late = () => { ${look} };`);
  const { early, late } = load(own) as { early: string; late(): string };
  expect([early, late()]).toEqual(['MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);
});

test('all that a module of Node has is its own, as what TypeScript makes of `import *` takes it', () => {
  const copied = `const copied = (name) => ({ ...require(name) });
    exports.have = ['crypto', 'os', 'net', 'perf_hooks', 'tty'].map((name) => Object.keys(copied(name)));
    exports.isTerminal = copied('tty').isatty(2);`;
  const { have, isTerminal } = instance(copied)(own) as { have: string[][]; isTerminal: boolean };
  const wanted = ['randomUUID', 'EOL', 'connect', 'performance', 'isatty'];
  expect(have.map((keys, n) => keys.includes(wanted[n]!))).toEqual(wanted.map(() => true));
  expect(isTerminal).toBe(false);
});

test('its listeners are its own, and nothing tells it where on the machine it is', () => {
  const load = instance(`
    const os = require('os');
    let heard = 0;
    process.on('beforeExit', () => heard++).on('exit', () => heard++);
    exports.emit = () => (process.emit('exit'), heard);
    exports.machine = [process.cwd(), process.execPath, os.homedir(), os.userInfo().username, os.cpus().length, os.loadavg()];
    process.exitCode = 3;
  `);
  const before = process.listenerCount('exit');
  const [one, other] = [load(own), load(own)] as { emit(): number; machine: unknown }[];
  expect([one!.emit(), one!.emit(), other!.emit()]).toEqual([1, 2, 1]);
  expect(process.listenerCount('exit')).toBe(before);
  expect(process.exitCode).toBeUndefined();
  expect(one!.machine).toEqual(['/data', '/usr/bin/node', '/root', 'lock', 4, [0, 0, 0]]);
});

describe('what is asked of the machine ends the run, whatever the lock makes of the error', () => {
  const swallowed = (call: string) =>
    instance(`exports.call = async () => { try { await (${call}); } catch {} return 'went on'; };`)(own) as {
      call(): Promise<string>;
    };

  test.each([
    ["require('crypto').pbkdf2('a', 'b', 1, 8, 'sha1', () => {})", 'crypto.pbkdf2'],
    ["new (require('dns').Resolver)()", 'dns.Resolver'],
    ["require('dns').promises.lookup('redis')", 'dns.promises.lookup'],
    ["require('node:dns/promises').lookup('redis')", 'dns/promises.lookup'],
    ["require('tls').connect(6379)", 'tls.connect'],
    ["require('net').createServer()", 'net.createServer'],
    ["process.kill(1, 'SIGTERM')", 'process.kill'],
    ["require('fs').readFileSync('/etc/hostname')", 'fs.readFileSync'],
    ["require('node:fs').promises.readFile('/etc/hostname')", 'fs.promises.readFile'],
    ["require('zlib')", 'the module zlib'],
  ])('%s', async (call, what) => {
    const world = new SimWorld(1);
    const leave = enter(world);
    try {
      const { call: called } = swallowed(call);
      const run = world.run(
        () =>
          new Promise<void>((resolve) => {
            world.forHarness(world.timeline.nowNs + 1, () => void called());
            world.forHarness(world.timeline.nowNs + 1e9, resolve);
          }),
      );
      await expect(run).rejects.toThrow(`the simulated world does not have ${what}, which this lock wants`);
    } finally {
      leave();
    }
  });
});

test('a module that is loaded in case it is there may be missing', () => {
  const load = instance("try { exports.zlib = require('zlib'); } catch { exports.zlib = 'none'; }");
  expect(load(own).zlib).toBe('none');
});

test('files are there as long as nothing is done with them, as ioredis 5 loads them', () => {
  const load = instance(
    "const { promises, constants } = require('fs'); exports.read = promises.readFile; exports.flag = constants.O_RDONLY;",
  );
  expect(load(own)).toEqual({ read: expect.any(Function), flag: 0 });
});

test('what computes only is there', () => {
  const load = instance(`
    const { createHash, pbkdf2Sync } = require('crypto');
    exports.sums = [createHash('sha1').update('a').digest('hex').length, pbkdf2Sync('a', 'b', 1, 8, 'sha1').length];
    exports.isIP = require('net').isIP('10.77.0.2');
  `);
  expect(load(own)).toMatchObject({ sums: [40, 8], isIP: 4 });
});
