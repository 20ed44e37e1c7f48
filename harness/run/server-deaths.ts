/**
 * Records servers that end without anybody here having ended them: of a bug, for want of memory or disk. It is no fault of
 * the plan, and they are not started again, so the run must say so: what follows is another deployment than was meant.
 */

import { RedisServer } from '../topologies/redis-server.js';
import { ServiceServer } from '../topologies/service-server.js';
import type { FaultEffect, HistoryBody } from '../vocabulary/history.js';
import type { Clock } from '../vocabulary/time.js';
import type { ServerNode } from '../vocabulary/topology.js';

export interface ServerWatch extends AsyncDisposable {
  /** Aborts when a server has ended by itself: the deployment will not be whole again. */
  readonly incomplete: AbortSignal;
}

/** Starts watching; disposing stops, and resolves when everything that was seen is recorded. */
export function watchServers(
  nodes: readonly ServerNode[],
  clock: Clock,
  record: (body: HistoryBody) => void,
): ServerWatch {
  const incomplete = new AbortController();
  const telling = new Set<Promise<void>>();
  const servers = nodes.filter((node) => node instanceof RedisServer || node instanceof ServiceServer);
  for (const server of servers) {
    server.onOwnEnd = (exit) => {
      const sinceNs = clock.nowNs();
      const at = `${(sinceNs / 1e9).toFixed(3)} s`;
      const told = server.obituary(exit).then((how) => {
        const proof = `at ${at} ${server.name} ended by itself: ${how}`;
        const targets = [server.name];
        const effects: FaultEffect[] = [{ kind: 'killed', who: targets, sinceNs }];
        const what = { step: -1, fault: 'server', state: 'failed', targets, did: how, proof } as const;
        record({ type: 'fault', ...what, effects, mishap: 'server' });
        telling.delete(told);
      });
      telling.add(told);
      incomplete.abort();
    };
  }
  return {
    incomplete: incomplete.signal,
    async [Symbol.asyncDispose]() {
      for (const server of servers) server.onOwnEnd = () => {};
      await Promise.all(telling);
    },
  };
}
