/** The lock by etcd's own Lock API, over a member that answers as a test says. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { TopologyAccess } from '../../../../harness/vocabulary/lock.js';
import lock from '../../../../lock-impl/etcd/etcd-lock-api.js';

const nowNs = () => Math.round(performance.now() * 1e6);
const NEVER = new AbortController().signal;

it('keeps its session alive while it waits, and its lease begins with what was confirmed last', async () => {
  let waiting: ServerResponse | undefined;
  let aliveNs: number | undefined;
  const answer = (response: ServerResponse, body: object) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const server = createServer((request, response) => {
    request.resume();
    switch (request.url) {
      case '/v3/lease/grant':
        return answer(response, { ID: '7', TTL: '5' });
      case '/v3/lock/lock':
        // Granted once the session has been kept alive: never, where nobody does so in the queue.
        waiting = response;
        return;
      case '/v3/lease/keepalive':
        answer(response, { result: { ID: '7', TTL: '5' } });
        aliveNs ??= nowNs();
        if (waiting) answer(waiting, { key: Buffer.from('k/7').toString('base64') });
        waiting = undefined;
        return;
      case '/v3/kv/range':
        return answer(response, { kvs: [{ create_revision: '9' }] });
      default:
        return answer(response, {});
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const client = await lock.connect({
      description: { kind: 'etcd', nodes: [{ name: 'e1', host: '127.0.0.1', port }] },
      options: { commandTimeoutMs: 4_000 },
      random: { int: () => 0, float: () => 0 },
      nowNs,
      sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {}),
      step: async () => {},
      renewed: () => {},
    } as unknown as TopologyAccess);
    const beganNs = nowNs();
    const hold = await client.acquire('k', { leaseMs: 4_700, waitMs: 20_000, signal: NEVER });
    expect(hold).toMatchObject({ token: 9 });
    expect(hold!.grantSentNs).toBeGreaterThan(beganNs);
    expect(hold!.grantSentNs).toBeLessThanOrEqual(aliveNs!);
    await hold!.release();
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
