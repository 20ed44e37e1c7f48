/** Holds back what clients and servers say to each other about the lock, message by message, until it is told to let one come. */
import type { Gate, GatedMessage } from '../../../harness/runtimes/sim/wire.js';

/** The first message that waits, of one direction of a connection. */
export interface WaitingMessage {
  /** `c1 > r1 #2`: the second about the lock that way. */
  name: string;
  client: string;
  isAnswer: boolean;
  from: string;
  to: string;
}

interface Way {
  name: string;
  client: string;
  counted: number;
  queue: { message: GatedMessage; matters: boolean }[];
}

export class OrderGate implements Gate {
  private readonly ways = new Map<string, Way>();
  private readonly connections = new Map<string, number[]>();
  /** Connections on which an answer is due. */
  private readonly asked = new Set<number>();

  /** `key`: what a request about the lock has in it. */
  constructor(
    private readonly clients: ReadonlySet<string>,
    private readonly key: string,
  ) {}

  takes(message: GatedMessage): boolean {
    const { from, to, isBack, connection, bytes } = message;
    const client = isBack ? to : from;
    if (!this.clients.has(client)) return false;
    const matters = bytes !== undefined && (isBack ? this.asked.has(connection) : bytes.includes(this.key));
    const way = this.wayOf(client, message);
    // Nothing overtakes what was sent before it on the same way.
    if (!matters && way.queue.length === 0) return false;
    way.queue.push({ message, matters });
    return true;
  }

  /** In an order that does not hang on what was played before. */
  waiting(): WaitingMessage[] {
    return [...this.ways.values()]
      .filter(({ queue }) => queue.length > 0)
      .map(({ name, client, counted, queue }) => {
        const { from, to, isBack } = queue[0]!.message;
        return { name: `${name} #${counted + 1}`, client, isAnswer: isBack, from, to };
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Lets the first that waits there come, with what follows it and is not about the lock. */
  letCome(name: string): void {
    const way = this.named(name);
    const { message } = way.queue[0]!;
    if (message.isBack) this.asked.delete(message.connection);
    else this.asked.add(message.connection);
    this.pass(way);
    while (way.queue.length > 0 && !way.queue[0]!.matters) this.pass(way, false);
  }

  /** Loses it, and its connection: both ends hear of that. */
  lose(name: string): void {
    const way = this.named(name);
    const { message } = way.queue[0]!;
    way.counted++;
    for (const one of this.ways.values())
      if (one.queue[0]?.message.connection === message.connection) one.queue.length = 0;
    message.lose();
  }

  /** Lets everything come, and holds nothing back any more. */
  open(): void {
    this.takes = () => false;
    for (const way of this.ways.values()) while (way.queue.length > 0) this.pass(way);
  }

  private pass(way: Way, counts = true): void {
    if (counts) way.counted++;
    way.queue.shift()!.message.come();
  }

  private named(name: string): Way {
    const way = [...this.ways.values()].find(
      (one) => `${one.name} #${one.counted + 1}` === name && one.queue.length > 0,
    );
    if (!way) throw new Error(`no message ${name} waits`);
    return way;
  }

  /** Connections have the numbers of their client's: those of all hang on who was first. */
  private wayOf(client: string, { connection, from, to, isBack }: GatedMessage): Way {
    const id = `${connection} ${isBack}`;
    const known = this.ways.get(id);
    if (known) return known;
    const own = this.connections.get(client) ?? [];
    this.connections.set(client, own);
    if (!own.includes(connection)) own.push(connection);
    const nth = own.indexOf(connection);
    const way: Way = {
      name: `${from} > ${to}${nth === 0 ? '' : ` (connection ${nth + 1})`}`,
      client,
      counted: 0,
      queue: [],
    };
    this.ways.set(id, way);
    return way;
  }
}
