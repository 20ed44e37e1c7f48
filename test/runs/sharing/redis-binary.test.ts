/**
 * Fetching redis-server from the distribution, for real: on a machine whose PATH has all but a redis-server.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RedisBinary } from '../../../harness/vocabulary/topology.js';

let folder: string;
let tools: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'redis-binary-test-'));
  chmodSync(folder, 0o755); // for the ordinary user below
  tools = join(folder, 'tools');
  mkdirSync(tools);
  for (const place of process.env.PATH!.split(':').filter(existsSync)) {
    for (const name of readdirSync(place)) {
      if (name !== 'redis-server' && !existsSync(join(tools, name))) symlinkSync(join(place, name), join(tools, name));
    }
  }
  // A process of its own, because it is to be killed.
  await build({
    stdin: {
      contents: `
        import { findRedis } from './redis-binary.ts';
        const [cacheFolder, explicit] = process.argv.slice(2);
        findRedis({ cacheFolder, explicit, say: (line) => console.log('say ' + line) }).then(
          (found) => console.log('found ' + JSON.stringify(found)),
          (error) => console.log('error ' + error.message),
        );`,
      resolveDir: fileURLToPath(new URL('../../../harness/machine', import.meta.url)),
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    outfile: join(folder, 'find.cjs'),
  });
});

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

interface Outcome {
  said: string[];
  found?: RedisBinary;
  error?: string;
}

function start(
  cache: string,
  before: string[] = [],
  server: string[] = [],
): { child: ChildProcess; outcome: Promise<Outcome> } {
  const [command, ...args] = [...before, process.execPath, join(folder, 'find.cjs'), cache, ...server];
  const child = spawn(command!, args, {
    env: { HOME: folder, PATH: tools },
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let text = '';
  child.stdout!.setEncoding('utf8').on('data', (more) => {
    text += more;
  });
  const outcome = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code !== 0 && code !== null) reject(new Error(`the search ended with exit status ${code}`));
      const tell = (kind: string) =>
        text.split('\n').flatMap((line) => (line.startsWith(`${kind} `) ? [line.slice(kind.length + 1)] : []));
      const [found] = tell('found');
      resolve({ said: tell('say'), ...(found ? { found: JSON.parse(found) } : {}), error: tell('error')[0] });
    });
  });
  return { child, outcome };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

const inFolder = (path: string) => (existsSync(path) ? readdirSync(path) : []);
const DOWNLOADING = 'downloading redis-server from the distribution (first run)…';

async function pings(redis: RedisBinary): Promise<string> {
  const socket = join(folder, 'ping.sock');
  const [program, ...args] = [...(redis.loader ?? []), redis.path, '--port', '0', '--unixsocket', socket, '--save', ''];
  const server = spawn(program!, args, {
    env: { ...process.env, ...redis.env },
    stdio: 'ignore',
    cwd: folder,
  });
  const client = new Redis({ path: socket, retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on('error', () => {}); // until it listens
  try {
    return await client.ping();
  } finally {
    client.disconnect();
    server.kill('SIGKILL');
  }
}

describe('a machine without redis-server', () => {
  it('downloads one that runs, even if two ask at once, and again only when it does not run any more', async () => {
    const cache = join(folder, 'twice');
    const [one, other] = await Promise.all([start(cache).outcome, start(cache).outcome]);
    expect(one.error).toBeUndefined();
    expect(one.found).toMatchObject({ origin: 'downloaded', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
    expect(other.found).toEqual(one.found);
    expect(inFolder(join(cache, 'redis'))).toHaveLength(1);
    expect(await pings(one.found!)).toBe('PONG');
    expect(await start(cache).outcome).toEqual({ said: [], found: one.found });

    // Such as after an upgrade of the machine: it is there, but does not run any more.
    rmSync(one.found!.path);
    expect(await start(cache).outcome).toEqual({ said: [DOWNLOADING], found: one.found });
    expect(inFolder(join(cache, 'redis'))).toHaveLength(1);
  });

  it('killed at any stage leaves no process, and the next start succeeds and tidies up', async () => {
    const cache = join(folder, 'killed');
    const listing = (scratch: string) => inFolder(join(scratch, 'lists', 'partial')).length > 0;
    const downloading = (scratch: string) => existsSync(join(scratch, 'archives-1'));
    const unpacking = (scratch: string) => existsSync(join(scratch, 'root', 'usr'));
    for (const reached of [listing, downloading, unpacking]) {
      const { child, outcome } = start(cache);
      const there = until(() => inFolder(join(cache, 'redis')).some((name) => reached(join(cache, 'redis', name))));
      await Promise.race([there, outcome]);
      child.kill('SIGKILL');
      expect(await outcome).toEqual({ said: [DOWNLOADING] });
      await until(() => commandLines().every((line) => !line.includes(cache)));
      // Its own, and nothing of the one before it.
      expect(inFolder(join(cache, 'redis'))).toEqual([expect.stringMatching(`^tmp-\\d+-${child.pid}-`)]);
    }
    const { found, said } = await start(cache).outcome;
    expect(said).toEqual([DOWNLOADING]);
    expect(found?.origin).toBe('downloaded');
    expect(inFolder(join(cache, 'redis'))).toEqual([expect.not.stringMatching(/^tmp-/)]);
  });

  it('downloads it for an ordinary user too', { tags: ['root'] }, async () => {
    const cache = join(folder, 'user');
    mkdirSync(cache, { mode: 0o777 });
    chmodSync(cache, 0o777);
    const { found, error } = await start(cache, ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'])
      .outcome;
    expect(error).toBeUndefined();
    expect(found?.origin).toBe('downloaded');
  });

  it('downloads a server by its name, and says which there are if a version is gone', async () => {
    const cache = join(folder, 'named');
    const gone = await start(cache, [], ['redis@1']).outcome;
    expect(gone.error).toMatch(
      /^redis@1 could not be downloaded: the distribution has .*: name another version, or give/,
    );
    // The newest suite's comes last.
    const name = gone.error!.match(/(redis|valkey)@[\d.]+/g)!.at(-1)!;
    const { found, error } = await start(cache, [], [name]).outcome;
    expect(error).toBeUndefined();
    expect(found).toMatchObject({ asked: name, version: name.split('@')[1], origin: 'downloaded' });
    expect(await pings(found!)).toBe('PONG');
    expect(await start(cache, [], [name]).outcome).toEqual({ said: [], found });
  });

  it('says why and what to do where the distribution cannot be reached', async () => {
    const cache = join(folder, 'offline');
    const privateNetwork =
      process.geteuid?.() === 0 ? ['unshare', '--net'] : ['unshare', '--user', '--map-root-user', '--net'];
    const { found, error } = await start(cache, privateNetwork).outcome;
    expect(found).toBeUndefined();
    expect(error).toMatch(/could not be downloaded: .*Failed to fetch.*: install Redis 6\.2 or newer/);
    expect(inFolder(join(cache, 'redis'))).toEqual([]);
  });

  it('says what to do where there is no apt', async () => {
    const bare = join(folder, 'bare');
    mkdirSync(bare);
    const { error } = await start(join(folder, 'no-apt'), ['env', `PATH=${bare}`]).outcome;
    expect(error).toMatch(/^there is no redis-server on PATH, .*: install Redis 6\.2 or newer/);
  });
});

/** Of all processes that are not yet dead. */
function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return ''; // it ended while we looked
      }
    });
}
