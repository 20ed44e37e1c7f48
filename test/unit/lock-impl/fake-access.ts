/** A `TopologyAccess` in virtual time, over nodes that answer as a test says. */

import type { Redis } from 'ioredis';
import { createRandom } from '../../../harness/runtimes/random.js';
import type { AcquireOptions, TopologyAccess } from '../../../harness/vocabulary/lock.js';

/** What a node does with a command: an answer (after `afterMs`), an error, or silence. */
export type FakeReply = { reply: unknown; afterMs?: number } | { error: Error } | 'silence';

export interface FakeNode {
  /** Commands it was given: `['set', 'k', ...]`. */
  readonly commands: unknown[][];
  /** `nth` counts this node's commands of that name from 0. */
  answer(name: string, nth: number): FakeReply;
}

export class FakeAccess {
  nowMs = 1_000;
  /** Step points that were reached. */
  readonly steps: string[] = [];
  /** What else happens at one. */
  atStep: (name: string) => void = () => {};
  /** Who listens, by channel; call them to publish. */
  readonly listeners = new Map<string, Set<(message: string) => void>>();
  listenFails: Error | undefined;
  readonly #sleepers: { atMs: number; wake: () => void }[] = [];
  #values = 0;

  constructor(readonly nodes: readonly FakeNode[]) {}

  /** Lets virtual time pass until `promise` settles. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = () => {
      settled = true;
    };
    promise.then(done, done);
    for (;;) {
      for (let i = 0; i < 50; i++) await Promise.resolve();
      if (settled) return promise;
      const next = this.#sleepers.sort((a, b) => a.atMs - b.atMs)[0];
      if (!next) throw new Error('everybody waits for nothing');
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.wake();
    }
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const sleeper = { atMs: this.nowMs + ms, wake };
      const sleepers = this.#sleepers;
      function wake(): void {
        const at = sleepers.indexOf(sleeper);
        if (at >= 0) sleepers.splice(at, 1);
        signal?.removeEventListener('abort', wake);
        resolve();
      }
      sleepers.push(sleeper);
      signal?.addEventListener('abort', wake);
    });
  }

  get access(): TopologyAccess {
    const clients = this.nodes.map((node) => this.#client(node));
    return {
      nowNs: () => Math.round(this.nowMs * 1e6),
      wallMs: () => this.nowMs,
      sleep: (ms: number, signal?: AbortSignal) => this.sleep(ms, signal),
      step: async (name: string) => {
        this.steps.push(name);
        this.atStep(name);
      },
      listen: async (channel: string, heard: (message: string) => void) => {
        if (this.listenFails) throw this.listenFails;
        const all = this.listeners.get(channel) ?? new Set();
        this.listeners.set(channel, all.add(heard));
        return () => void all.delete(heard);
      },
      random: createRandom(1),
      ownerValue: () => `c1:${(this.#values++).toString(16)}`,
      randomValue: () => (this.#values++).toString(16).padStart(40, '8'),
      redis: async () => clients[0]!,
      nodes: async () => clients,
    } as Partial<TopologyAccess> as TopologyAccess;
  }

  #client(node: FakeNode): Redis {
    const send =
      (name: string) =>
      async (...args: unknown[]): Promise<unknown> => {
        const nth = node.commands.filter((command) => command[0] === name).length;
        node.commands.push([name, ...args]);
        const answer = node.answer(name, nth);
        if (answer === 'silence') return new Promise(() => {});
        if ('error' in answer) throw answer.error;
        if (answer.afterMs) await this.sleep(answer.afterMs);
        return answer.reply;
      };
    const named = Object.fromEntries(['set', 'eval', 'del', 'exists'].map((name) => [name, send(name)]));
    const call = (name: string, ...args: unknown[]) => send(name)(...args);
    return { ...named, call } as unknown as Redis;
  }
}

export function node(answer: (name: string, nth: number) => FakeReply): FakeNode {
  return { commands: [], answer };
}

/** Grants, releases and extends whatever it is asked to. */
export const willing = () => node((name) => ({ reply: name === 'set' ? 'OK' : 1 }));
/** Somebody else holds there. */
export const taken = () => node((name) => ({ reply: name === 'set' ? null : 0 }));
export const silent = () => node(() => 'silence');
export const unreachable = () => node(() => ({ error: named('NeverSentError', 'not sent') }));

export function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

export function options(leaseMs: number, waitMs = 0): AcquireOptions {
  return { leaseMs, waitMs, signal: new AbortController().signal };
}
