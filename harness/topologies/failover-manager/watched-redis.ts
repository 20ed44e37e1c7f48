/**
 * One Redis server as its failover manager reaches it: over TCP at its own address, as anybody else, so that a fault that cuts
 * the manager off is felt here. Every command is bounded; nothing is queued or sent twice.
 */
import { Redis } from 'ioredis';
import { unforgiving } from '../unforgiving.js';
import type { Saying } from './decide.js';
import type { Order } from './messages.js';
import { WatchedServer } from './watched.js';

const COMMAND_TIMEOUT_MS = 300;

export class WatchedRedis extends WatchedServer {
  private redis: Promise<Redis> | undefined;

  constructor(
    endpoint: Order['servers'][number],
    private readonly password: string | undefined,
    private readonly ca: string | undefined,
  ) {
    super(endpoint);
  }

  /** PING, because a server that is loading answers INFO, too. */
  protected async saying(): Promise<Saying> {
    const [pong, info] = await this.commands(['PING'], ['INFO', 'replication']);
    if (pong !== 'PONG') throw new Error(`PING was answered with ${String(pong)}`);
    return sayingOf(String(info));
  }

  /** Makes it a primary; rejects unless it then says so itself. */
  async promote(): Promise<void> {
    await this.become(['REPLICAOF', 'NO', 'ONE'], ([role]) => role === 'master');
  }

  /** Makes it a replica of `primary`; rejects unless it then says so itself. */
  async follow(primary: Order['servers'][number]): Promise<'done'> {
    const replicaOf = ['REPLICAOF', primary.host, String(primary.port)];
    await this.become(replicaOf, ([role, host]) => role === 'slave' && host === primary.host);
    return 'done';
  }

  /** So that it comes back as what it is now, not as what it was started as. */
  async keepRole(): Promise<void> {
    await this.commands(['CONFIG', 'REWRITE']);
  }

  private async become(order: string[], done: (role: unknown[]) => boolean): Promise<void> {
    const [, role] = await this.commands(order, ['ROLE']);
    if (!Array.isArray(role) || !done(role)) throw new Error(`${this.endpoint.name} says that it is ${String(role)}`);
    await this.check();
  }

  /** Sent together; rejects with the first that failed. */
  private async commands(...all: string[][]): Promise<unknown[]> {
    this.redis ??= this.connect();
    const redis = this.redis;
    try {
      const connected = await redis;
      return await Promise.all(all.map(([name, ...args]) => connected.call(name!, ...args)));
    } catch (error) {
      // What follows on a connection that has lost an answer would be taken for something else: the next one is fresh.
      if (!(error instanceof Error && error.name === 'ReplyError') && this.redis === redis) {
        this.redis = undefined;
        redis.then((dead) => dead.disconnect()).catch(() => {});
      }
      throw error;
    }
  }

  private async connect(): Promise<Redis> {
    const { host, port } = this.endpoint;
    const redis = new Redis({
      host,
      port,
      ...(this.password !== undefined && { password: this.password }),
      ...(this.ca !== undefined && { tls: { ca: this.ca } }),
      ...unforgiving(COMMAND_TIMEOUT_MS),
    });
    redis.on('error', () => {}); // told by the command that meets it
    try {
      await redis.connect();
    } catch (error) {
      redis.disconnect();
      throw error;
    }
    return redis;
  }
}

/** What `INFO replication` tells; rejects what is not that. */
export function sayingOf(info: string): Saying {
  const facts = new Map(
    info.split('\n').map((line) => {
      const [name = '', ...value] = line.trim().split(':');
      return [name, value.join(':')] as const;
    }),
  );
  const role = facts.get('role');
  const stream = facts.get('master_replid');
  if ((role !== 'master' && role !== 'slave') || !stream) throw new Error('no role in what it says of itself');
  const former = facts.get('master_replid2');
  const handsOver = facts.get('master_failover_state');
  // ROLE would tell an offset of -1 as soon as the link is down: just when it matters.
  const offset = Number(facts.get(role === 'slave' ? 'slave_repl_offset' : 'master_repl_offset') ?? -1);
  return {
    role: role === 'master' ? 'primary' : 'replica',
    ...(role === 'slave' && { follows: facts.get('master_host') ?? '' }),
    offset,
    stream,
    ...(handsOver !== undefined && handsOver !== 'no-failover' && { handsOver: true }),
    ...(former !== undefined && !/^0*$/.test(former) && { formerStream: former }),
  };
}
