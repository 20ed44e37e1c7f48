/** Locks that clients wait for, as the run's events have it: what their holders release is taken at once, and held. */
import type { ClientTarget } from '../../harness/vocabulary/faults.js';
import type { NemesisContext } from './context.js';

export class AwaitedLocks {
  /** By client, what it asks for and until when it goes on. */
  private readonly asked = new Map<string, { id: number; key: string; untilNs: number }>();
  private readonly unsubscribe: () => void;

  constructor(private readonly context: Pick<NemesisContext, 'subscribe' | 'clock' | 'clients' | 'levers'>) {
    this.unsubscribe = context.subscribe((event) => {
      if (event.type === 'invoke' && event.op === 'acquire') {
        const { client, id, key, waitMs = 0, atNs } = event;
        this.asked.set(client, { id, key, untilNs: atNs + waitMs * 1e6 });
      } else if ((event.type === 'ok' || event.type === 'fail' || event.type === 'info') && event.op === 'acquire') {
        if (this.asked.get(event.client)?.id === event.id) this.asked.delete(event.client);
      } else if (event.type === 'client-down') this.asked.delete(event.client);
    });
  }

  /** Clients that no fault has stopped, and that hold what another client will wait for so much longer. */
  holders(leastMs: number): ClientTarget[] {
    const { clock, clients, levers } = this.context;
    const awaited = new Set(
      [...this.asked.values()].filter(({ untilNs }) => untilNs - clock.nowNs() >= leastMs * 1e6).map(({ key }) => key),
    );
    return clients().filter(
      ({ holding, process }) => holding.some((key) => awaited.has(key)) && !levers.pause.isPaused(process),
    );
  }

  async heal(): Promise<string> {
    this.unsubscribe();
    return '';
  }
}
