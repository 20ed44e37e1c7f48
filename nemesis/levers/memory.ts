/**
 * Which nodes lost their memory lately, so that never more than a minority forgets at once.
 *
 * "At once" is one lease: a lock granted just before the first loss still counts until its lease has run out, and the
 * algorithms promise nothing when a majority of its grantors has forgotten it by then.
 */
import type { Clock } from '../../harness/vocabulary/time.js';
import { words } from './basics.js';

/** Leases are measured from when the request left the client, a little before a server starts to count. */
const MARGIN_MS = 200;

interface Loss {
  node: string;
  /** Infinity while it goes on (a node that is down, or that is still to be set forward). */
  untilNs: number;
}

/** A loss that was counted. */
export interface CountedLoss {
  /** The last instant of it is now: it counts for one more lease. */
  end(): void;
  /** It did not happen after all. */
  cancel(): void;
}

export class MemoryLedger {
  private losses: Loss[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly leaseMs: number,
    /** The most nodes that may forget within one lease; undefined: no limit. */
    readonly limit: number | undefined,
  ) {}

  /** Nodes whose loss still counts. */
  forgetful(): string[] {
    const now = this.clock.nowNs();
    this.losses = this.losses.filter((loss) => loss.untilNs > now);
    return [...new Set(this.losses.map((loss) => loss.node))];
  }

  /** Why these nodes must not forget now, or undefined. */
  objection(nodes: readonly string[]): string | undefined {
    if (this.limit === undefined) return undefined;
    const before = this.forgetful();
    const all = new Set([...before, ...nodes]);
    if (all.size <= this.limit) return undefined;
    const since = before.length > 0 ? ` (${words(before)} forgot within the last lease)` : '';
    return `${words(nodes)} would make ${all.size} nodes forget within one lease; at most ${this.limit} may${since}`;
  }

  /** Counts the loss, which goes on until `end`. Ask for objections first. */
  count(nodes: readonly string[]): CountedLoss {
    const added = nodes.map((node): Loss => ({ node, untilNs: Number.POSITIVE_INFINITY }));
    this.losses.push(...added);
    return {
      end: () => {
        for (const loss of added) loss.untilNs = this.clock.nowNs() + (this.leaseMs + MARGIN_MS) * 1e6;
      },
      cancel: () => {
        this.losses = this.losses.filter((loss) => !added.includes(loss));
      },
    };
  }
}
