/** The locks granted since a moment, as the history tells: what a composite fault waits for before it strikes. */
import type { FaultContext } from '../../harness/vocabulary/faults.js';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';
import { Interrupted } from '../levers/basics.js';

export interface Grant {
  client: string;
  id: number;
  key: string;
  /** When the harness heard of it. */
  atNs: number;
}

/** A hold that has lasted this part of its lease is rarely one of the short ones, and so will last a while longer. */
const SETTLED_PARTS = 0.1;
/** How long to wait for a second settled hold once there is one: two are lost as easily as one, and show more. */
const SECOND_PARTS = 0.06;
const POLL_MS = 25;

export class GrantWatch implements Disposable {
  private readonly invokedNs = new Map<string, number>();
  private readonly holds = new Map<string, Grant>();
  private readonly waiting = new Set<(grant: Grant) => void>();
  private readonly unsubscribe: () => void;

  /** Watches grants whose granted attempt left the client after `sinceNs`. */
  constructor(
    private readonly context: Pick<FaultContext, 'subscribe' | 'clock' | 'signal' | 'leaseMs'>,
    private readonly sinceNs: number,
  ) {
    this.unsubscribe = context.subscribe((event) => this.see(event));
  }

  /** Grants that are held now, as far as the harness knows, oldest first. */
  held(): Grant[] {
    return [...this.holds.values()];
  }

  /** The next grant; undefined when none comes in time. Rejects with Interrupted when the run (or `signal`) ends. */
  async next(timeoutMs: number, signal: AbortSignal = this.context.signal): Promise<Grant | undefined> {
    if (signal.aborted) throw new Interrupted('while waiting for a lock to be granted');
    const done = new AbortController();
    const end = () => done.abort();
    signal.addEventListener('abort', end, { once: true });
    let granted: Grant | undefined;
    const take = (grant: Grant) => {
      granted ??= grant;
      end();
    };
    this.waiting.add(take);
    await this.context.clock.sleep(timeoutMs, done.signal);
    this.waiting.delete(take);
    signal.removeEventListener('abort', end);
    if (!granted && signal.aborted) throw new Interrupted('while waiting for a lock to be granted');
    return granted;
  }

  /**
   * The good moment to strike: some locks are held that were granted in this time, have been for a while, and `fits`.
   * Resolves with those; with what there is, perhaps nothing, when the time is over. `atOnce`: with the first, because
   * what is found is found for a moment only.
   */
  async settled(
    byNs: number,
    fits: (grant: Grant) => Promise<boolean>,
    { signal = this.context.signal, atOnce = false }: { signal?: AbortSignal; atOnce?: boolean } = {},
  ): Promise<Grant[]> {
    const { clock, leaseMs } = this.context;
    let firstNs: number | undefined;
    for (;;) {
      const held = this.held();
      const fitting = await Promise.all(held.map(fits));
      const now = clock.nowNs();
      const found = held.filter((grant, at) => fitting[at] && this.holds.has(holdKey(grant.client, grant.id)));
      const settled = found.filter((grant) => now - grant.atNs >= SETTLED_PARTS * leaseMs * 1e6);
      if (settled.length > 0) firstNs ??= now;
      const waitedEnough = atOnce || (firstNs !== undefined && now - firstNs >= SECOND_PARTS * leaseMs * 1e6);
      if (settled.length > 1 || (settled.length > 0 && waitedEnough)) return settled;
      if (now >= byNs) return found;
      if (signal.aborted) throw new Interrupted('while waiting for a lock to be granted');
      await clock.sleep(POLL_MS, signal);
    }
  }

  [Symbol.dispose](): void {
    this.unsubscribe();
  }

  private see(event: HistoryEvent): void {
    if (event.type === 'invoke') {
      if (event.op === 'acquire') this.invokedNs.set(holdKey(event.client, event.id), event.atNs);
      if (event.op === 'release' && event.hold !== undefined) this.holds.delete(holdKey(event.client, event.hold));
    } else if (event.type === 'ok' && event.op === 'acquire') {
      this.granted(event);
    } else if (event.type === 'fail' || event.type === 'info') {
      this.invokedNs.delete(holdKey(event.client, event.id));
    } else if (event.type === 'lost') {
      this.holds.delete(holdKey(event.client, event.hold));
    } else if (event.type === 'client-down') {
      for (const [key, grant] of this.holds) if (grant.client === event.client) this.holds.delete(key);
    }
  }

  private granted(event: Extract<HistoryEvent, { type: 'ok' | 'fail' | 'info' }>): void {
    const key = holdKey(event.client, event.id);
    const sentNs = event.grantSentNs ?? event.beganNs ?? this.invokedNs.get(key);
    this.invokedNs.delete(key);
    // An attempt that nobody can date may have been made before.
    if (sentNs === undefined || sentNs < this.sinceNs) return;
    const grant = { client: event.client, id: event.id, key: event.key, atNs: event.atNs };
    this.holds.set(key, grant);
    for (const take of [...this.waiting]) take(grant);
  }
}

const holdKey = (client: string, id: number) => `${client}/${id}`;
