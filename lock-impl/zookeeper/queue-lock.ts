/**
 * What the locks by ephemeral sequential nodes share (`zk-lock.ts`): a node of one's own below the key's, which the server
 * numbers; who has the lowest number holds, and everybody else watches the node right before its own, so that one that goes
 * wakes one.
 */
import type { LockDefinition, LockHold } from '../../harness/vocabulary/lock.js';
import { defineLock } from '../define-lock.js';
import { keepRenewed } from '../renewal.js';
import { ConnectionLossError } from './connection.js';
import { enqueue, firstInLine, isStillThere, leave, patient, type ZooPlace } from './places.js';
import { ping } from './protocol.js';
import { ZooSession } from './session.js';

export interface QueueLock {
  name: string;
  /** Whether a node whose making was not answered is looked for, before another is made. */
  findsItsOwn: boolean;
  /** Whether its client looks if its session, and its node, are still there. */
  checksSession: boolean;
}

export const ZOOKEEPER_TOPOLOGIES = ['zookeeper', 'zookeeper-single'];

export function zooQueueLock({ name, findsItsOwn, checksSession }: QueueLock): LockDefinition {
  return defineLock({
    name,
    topologies: ZOOKEEPER_TOPOLOGIES,
    features: ['renews', 'fencing'],
    model: { kind: 'fenced' },
    lease: 'session',
    async connect(access) {
      /** By what they last for; no lock is held by them. */
      const idle = new Map<number, ZooSession[]>();
      const take = async (timeoutMs: number) => {
        const known = idle.get(timeoutMs)?.pop();
        if (known && (await known.connected(access.nowNs() + access.options.commandTimeoutMs * 1e6))) return known;
        known?.end();
        return ZooSession.open(access, { timeoutMs, replacesEnded: !checksSession });
      };
      return {
        async acquire(key, { leaseMs, waitMs, signal }) {
          const giveUpNs = access.nowNs() + waitMs * 1e6;
          const untilNs = patient(access) + waitMs * 1e6;
          const session = await take(leaseMs);
          const back = () => {
            idle.set(leaseMs, [...(idle.get(leaseMs) ?? []), session]);
          };
          let place: ZooPlace;
          try {
            place = await enqueue(access, session, key, { findsItsOwn, untilNs });
          } catch (error) {
            // A node that may be there goes with its session.
            if (error instanceof ConnectionLossError) session.end();
            else back();
            throw error;
          }
          const left = async () => {
            try {
              const wasThere = await leave(access, session, place);
              back();
              return wasThere;
            } catch (error) {
              session.end();
              throw error;
            }
          };
          let leaseFromNs = place.sentNs;
          let hold: LockHold | undefined;
          const watchdog = keepRenewed(access, {
            leaseMs,
            grantSentNs: leaseFromNs,
            renew: () => (checksSession ? isStillThere(access, session, place) : session.ask(ping).then(() => true)),
            renewed(renewedNs) {
              if (hold) access.renewed(hold, renewedNs, leaseMs);
              else leaseFromNs = renewedNs;
            },
          });
          const lost = AbortSignal.any([watchdog.lost, session.over]);
          try {
            const stop = AbortSignal.any([signal, lost]);
            await firstInLine(access, session, place, { giveUpNs, untilNs, stop });
          } catch (error) {
            watchdog.stop();
            await left();
            throw error;
          }
          hold = {
            grantSentNs: leaseFromNs,
            token: place.token,
            ...(checksSession && { lost }),
            async release() {
              watchdog.stop();
              if (!checksSession || !lost.aborted) return left();
              session.end();
              return false;
            },
          };
          return hold;
        },
      };
    },
  });
}
