/**
 * What a process released last: when a hold is over its lock may still say that it is lost, and that is recorded as well.
 *
 * Remembers the last releases only: what lags behind them is no news.
 */
const MOST = 64;

/** What has to be known of a hold to record a notice of it. */
export interface ReleasedHold {
  readonly key: string;
  readonly client: string;
  /** When the attempt left that was granted, ns since the epoch of the run. */
  readonly grantSentNs: number;
}

export class ReleasedLast {
  /** By the id of the acquire, oldest first. */
  private readonly released = new Map<number, ReleasedHold>();

  add(id: number, { key, client, grantSentNs }: ReleasedHold): void {
    this.released.set(id, { key, client, grantSentNs });
    for (const oldest of this.released.keys()) {
      if (this.released.size <= MOST) break;
      this.released.delete(oldest);
    }
  }

  find(id: number): ReleasedHold | undefined {
    return this.released.get(id);
  }
}
