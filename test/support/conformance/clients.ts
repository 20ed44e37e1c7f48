/** The client processes of one lock, started when they are asked for. */
import type { TopologyDescription } from '../../../harness/vocabulary/topology.js';
import { LockClientProcess } from '../lock-client.js';

/** Disposing kills them all; a later caller gets new ones. */
export class Clients implements AsyncDisposable {
  #shared: Promise<LockClientProcess>[] = [];
  #all: LockClientProcess[] = [];

  constructor(
    private readonly argv: readonly string[],
    private readonly topology: TopologyDescription,
  ) {}

  /** The `n`th of those that several checks share, from 0. */
  get(n: number): Promise<LockClientProcess> {
    this.#shared[n] ??= this.start();
    return this.#shared[n];
  }

  /** One that no other caller gets. */
  async start(): Promise<LockClientProcess> {
    const client = new LockClientProcess(this.argv);
    this.#all.push(client);
    const hello = await client.init(this.topology, { client: `c${this.#all.length}`, commandTimeoutMs: 2_000 });
    if (hello.type !== 'ok') throw new Error(`handshake: ${hello.reason}`);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = this.#all;
    this.#all = [];
    this.#shared = [];
    await Promise.all(all.map((client) => client[Symbol.asyncDispose]()));
  }
}
