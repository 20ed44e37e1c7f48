/**
 * Evidence for one overlap after another, with the commands of a stretch of time in memory instead of the whole run's, of
 * which there may be millions. Cheap where overlaps are asked for earliest first; right in any order.
 *
 * A stretch begins several leases before the first grant of an overlap, because what was stored then has to be worked out
 * from what was seen. Say c1's key is refused to c2 at 60 s: was it c1's own, from a take at 58 s, or c3's, renewed at 56 s?
 * The owner of the key has taken or renewed it within a lease, or it has expired; and to know what the server's clock said
 * then takes a command more. Further back counts only who stored a value that is still about: a client that was stopped for
 * some leases, and releases with it what is another's by now.
 */

import { ALL_TIME, Evidence, type Window } from '../../harness/record/facts/evidence.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';

/** A run with no more than these is looked at as a whole. */
const MOST_COMMANDS_AT_ONCE = 50_000;
const LEASES_BEFORE = 5;
const AT_LEAST_BEFORE_NS = 10e9;
/** A grant is looked for until so long after the client had the answer (see `evidence.ts`), and commands are read late. */
const AFTER_NS = 3e9;

export class EvidenceWindows {
  private evidence: Evidence | undefined;

  constructor(
    private readonly input: CheckInput,
    private readonly mostAtOnce = MOST_COMMANDS_AT_ONCE,
  ) {}

  around({ first, second, others }: Overlap): Evidence {
    return this.aroundHolds([first, second, ...others]);
  }

  aroundHolds(holds: readonly Hold[]): Evidence {
    const { observations } = this.input;
    const needed = observations.commandCount <= this.mostAtOnce ? ALL_TIME : this.needed(holds);
    if (!this.evidence || !covers(this.evidence.window, needed))
      this.evidence = new Evidence(this.input, {
        fromNs: needed.fromNs,
        untilNs: needed.untilNs + this.aheadNs(needed),
      });
    return this.evidence;
  }

  /**
   * How far on it is read, since the next overlap may be near: as far as there are about as many commands as are looked at
   * at once, and at least half as long again. However dense the overlaps lie, no command is read more than three times.
   */
  private aheadNs({ fromNs, untilNs }: Window): number {
    const { history, observations } = this.input;
    return Math.max((untilNs - fromNs) / 2, (this.mostAtOnce / observations.commandCount) * history.endNs);
  }

  private needed(holds: readonly Hold[]): Window {
    const leaseMs = Math.max(this.input.config.leaseMs, ...holds.map((hold) => hold.leaseMs));
    const beforeNs = Math.max(AT_LEAST_BEFORE_NS, LEASES_BEFORE * leaseMs * 1e6);
    return {
      fromNs: Math.min(...holds.map((hold) => Math.min(hold.grantSentNs, hold.fromNs))) - beforeNs,
      untilNs: Math.max(...holds.map((hold) => hold.fromNs)) + AFTER_NS,
    };
  }
}

function covers(window: Window, needed: Window): boolean {
  return window.fromNs <= needed.fromNs && window.untilNs >= needed.untilNs;
}
