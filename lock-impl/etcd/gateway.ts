/**
 * etcd's HTTP gateway as a lock's client sees it: one question at a time, to one member until that fails. Keys and values are
 * base64, 64-bit numbers are strings. What makes an answer doubtful is told apart from what is certainly not done.
 */
import { request } from 'node:http';
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { Endpoint } from '../../harness/vocabulary/topology.js';
import { LockNotUsableError } from '../not-usable-here.js';

/** The member answered that it did nothing of it, or was never reached: certainly not done. */
export class NotDoneError extends Error {
  override name = 'NotDoneError';
}

export interface Gateway {
  /**
   * The answer's JSON. Rejects with a NotDoneError where the question never arrived or was turned away for what it asks, with
   * another error where it may have been carried out.
   */
  ask(path: string, body: object, timeoutMs?: number): Promise<Record<string, unknown>>;
}

export function gatewayOf(access: TopologyAccess): Gateway {
  const { description, options } = access;
  if (description.kind !== 'etcd') throw new LockNotUsableError(`this lock is for etcd, not for ${description.kind}`);
  const { nodes } = description;
  let at = access.random.int(0, nodes.length - 1);
  return {
    async ask(path, body, timeoutMs = options.commandTimeoutMs) {
      const node = nodes[at]!;
      try {
        return await askMember(node, path, body, timeoutMs);
      } catch (error) {
        // Another one may know the leader.
        if (!(error instanceof AnswerError) || error.isElsewhere) at = (nodes.indexOf(node) + 1) % nodes.length;
        throw error;
      }
    },
  };
}

/** gRPC's codes for "not found", and for "not now": the member has no leader, or its proposal got lost. */
const NOT_FOUND = 5;
const UNAVAILABLE = 14;

/** The member answered with an error. */
class AnswerError extends NotDoneError {
  constructor(
    message: string,
    readonly isElsewhere: boolean,
  ) {
    super(message);
  }
}

function askMember(node: Endpoint, path: string, body: object, timeoutMs: number): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    let isSent = false;
    const asked = request(
      {
        host: node.host,
        port: node.port,
        method: 'POST',
        path: `/v3/${path}`,
        headers: { 'content-type': 'application/json' },
        // A connection of before may be dead by now, and then nobody knows whether the question arrived.
        agent: false,
        signal: AbortSignal.timeout(timeoutMs),
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('error', reject);
        response.on('end', () => answered(response.statusCode ?? 0, text));
      },
    );
    const answered = (status: number, text: string) => {
      let told: Record<string, unknown>;
      try {
        told = JSON.parse(text) as Record<string, unknown>;
      } catch {
        return reject(new Error(`${node.name}: ${path} was answered with ${status} and no JSON`));
      }
      if (status === 200) return resolve(told);
      const message = `${node.name}: ${String(told.error ?? told.message ?? status)}`;
      if (told.code === NOT_FOUND) return reject(new AnswerError(message, false));
      // A proposal that timed out may be carried out yet.
      if (told.code === UNAVAILABLE && String(told.error).includes('no leader'))
        return reject(new AnswerError(message, true));
      reject(new Error(message));
    };
    asked.on('socket', (socket) => socket.once('connect', () => (isSent = true)));
    asked.on('error', (error) => {
      const why = error.name === 'AbortError' ? `no answer within ${timeoutMs} ms` : error.message;
      const message = `${node.name}: ${why}`;
      reject(isSent ? new Error(message) : new NotDoneError(message));
    });
    asked.end(JSON.stringify(body));
  });
}

export const base64 = (text: string) => Buffer.from(text).toString('base64');
