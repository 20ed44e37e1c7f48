/**
 * A session with ZooKeeper, over one connection after another: when one ends, the next server is asked to go on with it.
 *
 * It promises that `over` aborts when a server says that the session has ended, and when nobody has heard of it for as long as a
 * session lasts. What was asked when a connection ended is in doubt, and is not asked again: that is for who asked.
 */
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import { randomPauseMs } from '../attempts.js';
import { refused } from '../define-lock.js';
import { LockNotUsableError } from '../not-usable-here.js';
import { ConnectionLossError, ZooConnection } from './connection.js';
import { closeSession, NO_SESSION, ping, type SessionIdentity, type ZooQuestion } from './protocol.js';

export interface SessionOptions {
  /** The server ends it when it has heard nothing of it for so long. */
  timeoutMs: number;
  /** Whether a session that has ended is silently replaced by a new one, and nobody hears of it: `zk-no-session-check`. */
  replacesEnded?: boolean;
}

const RECONNECT = { minMs: 10, maxMs: 40 };

export class ZooSession {
  private readonly ending = new AbortController();
  /** Aborts when it is over, with the reason. */
  readonly over = this.ending.signal;
  private connection: ZooConnection | undefined;
  private identity: SessionIdentity = NO_SESSION;
  private seenZxid = 0n;
  /** When what was last answered had been sent. */
  private aliveNs: number;
  private at: number;
  /** Who waits for word of a path. */
  private readonly watchers = new Map<string, () => void>();
  private readonly comeBack = new Set<() => void>();

  private constructor(
    private readonly access: TopologyAccess,
    private readonly options: SessionOptions,
  ) {
    this.aliveNs = access.nowNs();
    this.at = access.random.int(0, nodesOf(access).length - 1);
  }

  /** Rejects with a refusal where no server begins one. A session alone grants nothing. */
  static async open(access: TopologyAccess, options: SessionOptions): Promise<ZooSession> {
    const session = new ZooSession(access, options);
    for (let tries = nodesOf(access).length; tries > 0; tries--) {
      if (await session.connect().catch(() => false)) {
        void session.stayConnected();
        void session.keepAlive();
        return session;
      }
    }
    session.ending.abort('it never began');
    throw refused('unreachable');
  }

  /** Rejects with a ZooError where it was certainly not done, with a ConnectionLossError where that is not known. */
  async ask<Answer>(question: ZooQuestion<Answer>): Promise<Answer> {
    const { connection } = this;
    if (!connection || this.over.aborted) throw new ConnectionLossError('not connected', false);
    const sentNs = this.access.nowNs();
    const answer = await connection.ask(question);
    this.aliveNs = Math.max(this.aliveNs, sentNs);
    return answer;
  }

  /** Resolves with whether it is connected, at the latest then. */
  async connected(untilNs: number): Promise<boolean> {
    if (!this.connection && !this.over.aborted) {
      const came = new AbortController();
      const wake = () => came.abort();
      this.comeBack.add(wake);
      const leftMs = (untilNs - this.access.nowNs()) / 1e6;
      await this.access.sleep(Math.max(0, leftMs), AbortSignal.any([came.signal, this.over]));
      this.comeBack.delete(wake);
    }
    return this.connection !== undefined && !this.over.aborted;
  }

  /** Aborts when a watch on this path is told, or the connection ends, with which watches go. One watch for a path. */
  changed(path: string): AbortSignal {
    const told = new AbortController();
    this.watchers.set(path, () => told.abort());
    return told.signal;
  }

  /** Nothing keeps it alive any more; where a server can be told so, it ends at once. */
  end(): void {
    if (this.over.aborted) return;
    const { connection } = this;
    this.ending.abort('we ended it');
    connection?.ask(closeSession).then(
      () => connection.end('the session was closed'),
      () => {},
    );
  }

  private async stayConnected(): Promise<void> {
    const { access, over } = this;
    for (;;) {
      const ended = AbortSignal.any([this.connection!.ended, over]);
      await new Promise<void>((resolve) => {
        if (ended.aborted) resolve();
        else ended.addEventListener('abort', () => resolve(), { once: true });
      });
      this.connection = undefined;
      this.wake(this.watchers.values());
      this.watchers.clear();
      while (!this.connection) {
        if (over.aborted) return;
        if (!this.options.replacesEnded && access.nowNs() - this.aliveNs > this.options.timeoutMs * 1e6)
          return this.ending.abort('nothing was heard of the servers for as long as it lasts');
        if (!(await this.connect().catch(() => false))) await access.sleep(randomPauseMs(access, RECONNECT), over);
      }
      this.wake(this.comeBack);
    }
  }

  /** False: not now. */
  private async connect(): Promise<boolean> {
    const { access, options } = this;
    const nodes = nodesOf(access);
    const node = nodes[this.at]!;
    this.at = (this.at + 1) % nodes.length;
    const sentNs = access.nowNs();
    const { connection, welcome } = await ZooConnection.open(
      access,
      node,
      { session: this.identity, timeoutMs: options.timeoutMs, seenZxid: this.seenZxid },
      {
        changed: (path) => {
          this.wake([this.watchers.get(path) ?? (() => {})]);
          this.watchers.delete(path);
        },
        seen: (zxid) => {
          if (zxid > this.seenZxid) this.seenZxid = zxid;
        },
      },
    );
    if (welcome.timeoutMs <= 0) {
      connection.end('the session is over');
      if (options.replacesEnded) this.identity = NO_SESSION;
      else this.ending.abort('the server says that it is over');
      return false;
    }
    this.identity = { id: welcome.id, password: welcome.password };
    this.aliveNs = Math.max(this.aliveNs, sentNs);
    this.connection = connection;
    return true;
  }

  /** A word every third of its time, with whichever server there is. What holds by it asks for more than that. */
  private async keepAlive(): Promise<void> {
    const { access, over, options } = this;
    while (!over.aborted) {
      await access.sleep(options.timeoutMs / 3, over);
      if (!over.aborted) await this.ask(ping).catch(() => {});
    }
  }

  private wake(those: Iterable<() => void>): void {
    for (const wake of those) wake();
  }
}

function nodesOf({ description }: TopologyAccess) {
  if (description.kind !== 'zookeeper')
    throw new LockNotUsableError(`this lock is for ZooKeeper, not for ${description.kind}`);
  return description.nodes;
}
