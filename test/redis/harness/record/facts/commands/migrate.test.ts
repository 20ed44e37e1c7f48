/** Keys that go from one server to another, read from what MONITOR prints on both, against what both have then. */
import { createConnection } from 'node:net';
import { describe, expect, test } from 'vitest';
import { ServerReading } from '../../../../../../harness/record/facts/commands/server-reading.js';
import { ABSENT, type StoredState } from '../../../../../../harness/record/facts/commands/state.js';
import { monitor } from '../../../../../../harness/topologies/monitor.js';
import type { MonitoredCommand } from '../../../../../../harness/vocabulary/topology.js';
import { ownServers } from '../../../../../support/file-servers.js';
import { type TestRedis, until } from '../../../../../support/redis-server.js';

const OWNER = 'a92f3dfd61392389c4542f72b6f3b706230d60de';

class Followed {
  private readonly lines: MonitoredCommand[] = [];
  private marks = 0;

  static async from(server: TestRedis): Promise<Followed> {
    const followed = new Followed(server);
    const { port, host } = server.endpoint;
    await monitor(createConnection(port, host), (line) => followed.lines.push(line));
    return followed;
  }

  private constructor(readonly server: TestRedis) {}

  /** The state of `k` after all that the server has done. */
  async state(): Promise<StoredState> {
    const mark = `mark ${this.marks++}`;
    await this.server.redis.echo(mark);
    await until('everything is printed', async () => this.lines.some(({ argv }) => argv[1] === mark));
    const reading = new ServerReading({ follows: () => true, isWhole: true, start: ABSENT });
    for (const [line, command] of this.lines.entries()) reading.command({ ...command, line, atNs: line });
    return reading.state('k');
  }
}

async function two() {
  const servers = await ownServers(2);
  const [source, target] = (await Promise.all(servers.nodes.map(Followed.from))) as [Followed, Followed];
  const { port, host } = target.server.endpoint;
  const migrate = (...options: string[]) =>
    source.server.redis
      .call('MIGRATE', host, port, '', 0, 1_000, ...options, 'KEYS', 'k')
      .catch((error: Error) => error);
  return { servers, source, target, migrate };
}

const there = (value: string) => ({ exists: 'yes', held: { type: 'string', value } });

describe('MIGRATE', () => {
  test('may have taken the key; whether it came a plain RESTORE does not say', async () => {
    const { servers, source, target, migrate } = await two();
    await using _ = servers;
    await source.server.redis.set('k', OWNER, 'PX', 60_000, 'NX');
    expect(await migrate()).toBe('OK');
    expect(await source.state()).toMatchObject({ exists: 'unknown' });
    expect(await target.state()).toMatchObject({ exists: 'unknown', held: { type: 'string', value: OWNER } });
    expect(await source.server.redis.exists('k')).toBe(0);
    expect(await target.server.redis.get('k')).toBe(OWNER);
  });

  test('copies, and takes nothing', async () => {
    const { servers, source, migrate } = await two();
    await using _ = servers;
    await source.server.redis.set('k', OWNER);
    expect(await migrate('COPY')).toBe('OK');
    expect(await source.state()).toMatchObject(there(OWNER));
  });

  test('is refused where there is one by that name: both have their own', async () => {
    const { servers, source, target, migrate } = await two();
    await using _ = servers;
    await source.server.redis.set('k', OWNER);
    await target.server.redis.set('k', 'another');
    expect(String(await migrate())).toContain('BUSYKEY');
    expect(await source.state()).toMatchObject({ exists: 'unknown' });
    expect(await target.state()).toMatchObject(there('another'));
  });
});

describe('RESTORE-ASKING, as servers send it', () => {
  const dumped = async (value: string) => {
    await using servers = await ownServers(1);
    const [{ redis }] = servers.nodes as [TestRedis];
    await redis.set('k', value);
    return (await redis.dumpBuffer('k'))!;
  };

  test.each([
    ['60000', []],
    ['4000000000000', ['ABSTTL']],
  ])('stores the owner with its time to live: %s %j', async (ttl, options) => {
    const { servers, target } = await two();
    await using _ = servers;
    await target.server.redis.call('RESTORE-ASKING', 'k', ttl, await dumped(OWNER), ...options);
    const state = await target.state();
    expect(state).toMatchObject(there(OWNER));
    const endsMs = Date.now() + (await target.server.redis.pttl('k'));
    expect(state.expires.fromMs).toBeLessThanOrEqual(endsMs + 1_000);
    expect(state.expires.untilMs).toBeGreaterThanOrEqual(endsMs - 1_000);
  });

  test('of something that is not kept as it is: it is there, and no more is known', async () => {
    const { servers, target } = await two();
    await using _ = servers;
    await target.server.redis.call('RESTORE-ASKING', 'k', 0, await dumped('12345'));
    expect(await target.state()).toMatchObject({ exists: 'yes', held: undefined, expires: { fromMs: Infinity } });
    expect(await target.server.redis.get('k')).toBe('12345');
  });

  test('changes nothing where there is one, unless it replaces that', async () => {
    const { servers, target } = await two();
    await using _ = servers;
    await target.server.redis.set('k', 'another');
    const dump = await dumped(OWNER);
    await expect(target.server.redis.call('RESTORE-ASKING', 'k', 0, dump)).rejects.toThrow('BUSYKEY');
    expect(await target.state()).toMatchObject(there('another'));
    await target.server.redis.call('RESTORE-ASKING', 'k', 0, dump, 'REPLACE');
    expect(await target.state()).toMatchObject(there(OWNER));
  });
});
