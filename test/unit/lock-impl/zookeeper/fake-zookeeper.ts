/** A ZooKeeper server for tests: one, in memory, which loses connections and ends sessions when a test says so. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TopologyAccess } from '../../../../harness/vocabulary/lock.js';
import { JuteReader, JuteWriter } from '../../../../lock-impl/zookeeper/jute.js';
import { FrameSplitter, framed, NO_NODE, NODE_EXISTS } from '../../../../lock-impl/zookeeper/protocol.js';

/** Kinds of requests that begin with a path. */
const ABOUT_A_NODE = new Set([2, 5, 9, 12, 15]);

export class FakeZookeeper implements AsyncDisposable {
  /** By path, whose session each goes with; 0: nobody's. */
  readonly nodes = new Map<string, bigint>([['/', 0n]]);
  /** The next so many creates of places are carried out, and their connections lost before the answer. */
  losesCreates = 0;
  /** Requests that were carried out, by number of their kind. */
  readonly asked: number[] = [];
  private readonly sessions = new Set<bigint>();
  private readonly sockets = new Set<Socket>();
  private readonly watched = new Map<string, Set<Socket>>();
  private sessionCount = 0n;
  private zxid = 0n;
  private readonly server = createServer((socket) => this.serve(socket));

  static async start(): Promise<FakeZookeeper> {
    const fake = new FakeZookeeper();
    await once(fake.server.listen(0, '127.0.0.1'), 'listening');
    return fake;
  }

  /** Who stands in line for a key. */
  places(key: string): string[] {
    return [...this.nodes.keys()].filter((path) => path.startsWith(`/${key}/`));
  }

  /** Whether anybody is to hear of what becomes of who stands in line for a key. */
  isWatched(key: string): boolean {
    return this.places(key).some((path) => (this.watched.get(path)?.size ?? 0) > 0);
  }

  /** Every session ends, and every connection with it. */
  endSessions(): void {
    for (const [path, session] of this.nodes) if (session !== 0n) this.nodes.delete(path);
    this.sessions.clear();
    this.loseConnections();
  }

  loseConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  access(client = 'c1'): TopologyAccess {
    const { port } = this.server.address() as AddressInfo;
    let owners = 0;
    return {
      description: { kind: 'zookeeper', nodes: [{ name: 'z1', host: '127.0.0.1', port }] },
      options: { commandTimeoutMs: 500 },
      random: { int: () => 0, float: () => 0 },
      ownerValue: () => `${client}:${owners++}`,
      nowNs: () => Math.round(performance.now() * 1e6),
      sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {}),
      step: async () => {},
      renewed: () => {},
    } as unknown as TopologyAccess;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.loseConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private serve(socket: Socket): void {
    const splitter = new FrameSplitter();
    let session: bigint | undefined;
    this.sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('data', (chunk) => {
      for (const frame of splitter.push(chunk)) {
        if (session === undefined) session = this.welcome(socket, new JuteReader(frame));
        else this.carryOut(socket, session, frame);
      }
    });
  }

  private welcome(socket: Socket, asked: JuteReader): bigint {
    asked.int();
    asked.long();
    const timeoutMs = asked.int();
    const known = asked.long();
    const isOver = known !== 0n && !this.sessions.has(known);
    const session = known === 0n ? ++this.sessionCount : known;
    if (!isOver) this.sessions.add(session);
    const answer = new JuteWriter()
      .int(0)
      .int(isOver ? 0 : timeoutMs)
      .long(session);
    socket.write(framed(answer.buffer(Buffer.alloc(16)).bool(false).bytes()));
    return session;
  }

  private carryOut(socket: Socket, session: bigint, frame: Buffer): void {
    const asked = new JuteReader(frame);
    const [number, type] = [asked.int(), asked.int()];
    this.asked.push(type);
    const answer = (error: number, body: Buffer = Buffer.alloc(0)) =>
      socket.write(framed(Buffer.concat([new JuteWriter().int(number).long(this.zxid).int(error).bytes(), body])));
    const path = ABOUT_A_NODE.has(type) ? asked.text() : '';
    if (type === 15) return void this.create(socket, session, path, asked, answer);
    if ((type === 2 || type === 5 || type === 12) && !this.nodes.has(path)) return void answer(NO_NODE);
    if (type === 2) {
      this.nodes.delete(path);
      this.zxid++;
      const event = new JuteWriter().int(-1).long(-1n).int(0).int(2).int(3).text(path).bytes();
      for (const watcher of this.watched.get(path) ?? []) watcher.write(framed(event));
      this.watched.delete(path);
    }
    if (type === 12) {
      if (frame.at(-1) === 1) this.watched.set(path, (this.watched.get(path) ?? new Set()).add(socket));
      const names = this.places(path.slice(1)).map((place) => place.slice(path.length + 1));
      const list = new JuteWriter().int(names.length);
      for (const name of names) list.text(name);
      return void answer(0, list.bytes());
    }
    answer(0, type === 5 ? new JuteWriter().long(this.zxid).bytes() : undefined);
  }

  private create(
    socket: Socket,
    session: bigint,
    asked: string,
    rest: JuteReader,
    answer: (error: number, body?: Buffer) => unknown,
  ): void {
    const isPlace = asked.endsWith('-');
    if (!this.nodes.has(asked.slice(0, asked.lastIndexOf('/')) || '/')) return void answer(NO_NODE);
    if (this.nodes.has(asked)) return void answer(NODE_EXISTS);
    rest.text();
    this.zxid++;
    const path = isPlace ? `${asked}${String(this.zxid).padStart(10, '0')}` : asked;
    this.nodes.set(path, isPlace ? session : 0n);
    if (isPlace && this.losesCreates > 0) {
      this.losesCreates--;
      socket.destroy();
      return;
    }
    answer(0, new JuteWriter().text(path).long(this.zxid).bytes());
  }
}
