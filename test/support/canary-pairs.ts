/** A canary and its twin in one situation, with servers of their own. */
import { test } from 'vitest';
import { ownServers, redlockOf } from './file-servers.js';
import { connectedClient } from './lock-client.js';
import { type LockClients, withClients } from './lock-clients.js';
import { single } from './locks-here.js';
import type { TestRedis } from './redis-server.js';

type Expected = string | number | boolean | undefined;

export interface Expectations {
  /** What the canary shows, and its mended twin in the same situation; the title prints them. */
  broken: Expected[];
  mended: Expected[];
  clients?: 1 | 2 | 3;
  /** 5 are the nodes of a Redlock. */
  servers?: 1 | 5;
  /** How long a command may take; absent: as long as usual, on several servers for longer. */
  commandTimeoutMs?: number;
}

export interface Cage extends LockClients {
  /** The first of `nodes`. */
  server: TestRedis;
  nodes: readonly TestRedis[];
}

/** Two tests, of the canary and of its mended twin. */
export function canary(
  name: string,
  title: string,
  { broken, mended, clients = 2, servers = 1, commandTimeoutMs = servers === 1 ? 1_000 : 10_000 }: Expectations,
  body: (cage: Cage, ...expected: Expected[]) => Promise<void>,
): void {
  const rows: [lock: string, ...Expected[]][] = [
    [`broken/${name}`, ...broken],
    [`broken/${name}-mended`, ...mended],
  ];
  test.concurrent.each(rows)(`%s: ${title}`, async (lock, ...expected) => {
    await using own = await ownServers(servers);
    const { nodes } = own;
    const server = nodes[0]!;
    const topology = servers === 1 ? single(server) : redlockOf(nodes);
    const connect = () => connectedClient(lock, topology, { commandTimeoutMs });
    await withClients(connect, (started) => body({ ...started, server, nodes }, ...expected), clients);
  });
}
