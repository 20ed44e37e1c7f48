/** A TCP proxy between a lock client and its Redis, to lose what a network can lose. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Endpoint } from '../../harness/vocabulary/topology.js';

export interface TcpProxy extends AsyncDisposable {
  readonly endpoint: Endpoint;
  /**
   * What happens to bytes from now on: `pass`; `no-replies`: the server gets everything, the client nothing; `cut`:
   * everything is swallowed both ways, for ever on connections that exist now, and new ones get no answer.
   */
  mode: 'pass' | 'no-replies' | 'cut';
  /** Bytes that the server was given. */
  readonly forwarded: Buffer[];
  /** Connections that clients opened so far. */
  readonly opened: number;
  /** Closes every connection. */
  closeAll(): void;
}

export async function startProxy(target: Endpoint): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const forwarded: Buffer[] = [];
  let mode: TcpProxy['mode'] = 'pass';
  let opened = 0;
  const server = createServer((client) => {
    opened += 1;
    const upstream = connect(target.port, target.host);
    let cut = false;
    const swallowed = () => {
      cut ||= mode === 'cut';
      return cut;
    };
    client.on('data', (bytes) => {
      if (swallowed()) return;
      forwarded.push(bytes);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!swallowed() && mode === 'pass') client.write(bytes);
    });
    for (const [one, other] of [[client, upstream] as const, [upstream, client] as const]) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        if (!cut) other.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const closeAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    endpoint: { name: target.name, host: '127.0.0.1', port },
    get mode() {
      return mode;
    },
    set mode(next) {
      mode = next;
    },
    forwarded,
    get opened() {
      return opened;
    },
    closeAll,
    async [Symbol.asyncDispose]() {
      closeAll();
      server.close();
      await once(server, 'close');
    },
  };
}
