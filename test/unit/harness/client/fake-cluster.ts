/** Nodes of a Redis Cluster that answer what a test wants, to see what a client does about it. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Endpoint } from '../../../../harness/vocabulary/topology.js';

/** What a node answers to a command of a lock; undefined: nothing. */
export type Responder = (argv: string[], socket: Socket) => string | undefined;

export interface FakeClusterNode extends AsyncDisposable {
  readonly endpoint: Endpoint;
  /** Commands of locks that arrived, without those that ioredis gives by itself. */
  readonly received: string[][];
  answer: Responder;
  /** How often somebody asked who serves what. */
  asked: number;
  /** Closes every connection and takes no more. */
  stop(): Promise<void>;
}

/** Starts nodes among which the slots are shared by `owner`, which names the index of the node that has them all. */
export async function startFakeCluster(count: number, owner = () => 0): Promise<FakeClusterNode[]> {
  const nodes: FakeClusterNode[] = [];
  const slots = () => {
    const { host, port } = nodes[owner()]!.endpoint;
    const entry = (at: { host: string; port: number }) =>
      `*3\r\n${bulk(at.host)}:${at.port}\r\n${bulk(`id-${at.port}`)}`;
    const replicas = nodes.filter((node) => node.endpoint.port !== port).map(({ endpoint }) => entry(endpoint));
    return `*1\r\n*${3 + replicas.length}\r\n:0\r\n:16383\r\n${entry({ host, port })}${replicas.join('')}`;
  };
  for (let n = 0; n < count; n++) nodes.push(await startNode(`r${n + 1}`, slots));
  return nodes;
}

async function startNode(name: string, slots: () => string): Promise<FakeClusterNode> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    let rest = '';
    socket.on('data', (chunk) => {
      rest += chunk.toString();
      for (;;) {
        const parsed = takeCommand(rest);
        if (!parsed) return;
        rest = rest.slice(parsed.length);
        const reply = respond(parsed.argv, socket);
        if (reply !== undefined && !socket.destroyed) socket.write(reply);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((done) => server.close(done));
  };
  const node: FakeClusterNode = {
    endpoint: { name, host: '127.0.0.1', port },
    received: [],
    answer: () => '+OK\r\n',
    asked: 0,
    stop,
    [Symbol.asyncDispose]: stop,
  };
  const respond = (argv: string[], socket: Socket): string | undefined => {
    switch (argv[0]!.toUpperCase()) {
      case 'HELLO':
        return "-ERR unknown command 'HELLO'\r\n";
      case 'INFO':
        return bulk('redis_version:7.0.0\r\nloading:0\r\n');
      case 'READONLY':
      case 'READWRITE':
      case 'CLIENT':
        return '+OK\r\n';
      case 'CLUSTER':
        node.asked++;
        return slots();
      default:
        node.received.push(argv);
        return node.answer(argv, socket);
    }
  };
  return node;
}

const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;

/** The first command in `text`, if it is whole. */
function takeCommand(text: string): { argv: string[]; length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (!head) return undefined;
  const argv: string[] = [];
  let at = head[0].length;
  for (let n = 0; n < Number(head[1]); n++) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at));
    if (!size) return undefined;
    const from = at + size[0].length;
    const until = from + Number(size[1]);
    if (text.length < until + 2) return undefined;
    argv.push(text.slice(from, until));
    at = until + 2;
  }
  return { argv, length: at };
}
