/**
 * Since when a client has had nothing more to do with a value that it stored: it died, gave up, or released what it held.
 *
 * Promises: said only where the record shows that end, and that no client named the value to a server since. One that still
 * names it may be waiting in that place, or hold by it.
 */

import { storedBy } from '../../harness/record/facts/commands/changes.js';
import type { Origin } from '../../harness/record/facts/commands/state.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import { acquiresOf, runKeyOf } from './asks.js';

export interface Gone {
  /** When, ns since the epoch, and the history line that tells. */
  readonly atNs: number;
  readonly line: number;
  /** `c3 gave up`. */
  readonly text: string;
}

/** A command is read by the harness so long after it ran, and after its client has gone on. */
const READ_LATE_NS = 1e9;

export class Departures {
  constructor(
    private readonly input: CheckInput,
    private readonly key: string,
  ) {}

  /**
   * The command of a client by which the value came to the servers, if it came to this one by replication; undefined as well where
   * several clients store the same: one of them may be gone, and it be the other's.
   */
  storedBy(by: Origin, value: string, evidence: Evidence): (Origin & { client: string }) | undefined {
    if (by.client !== undefined) return by as Origin & { client: string };
    const origins = evidence.nodes.flatMap((node) => {
      const reading = evidence.readingOf(node);
      const changes = [...(reading?.keys() ?? [])].flatMap((name) => reading!.changes(name).list);
      return changes.flatMap(({ after, atNs }) => {
        const origin = storedBy(after, value);
        const isItsOwn = origin?.client !== undefined && atNs <= by.atNs + READ_LATE_NS;
        return isItsOwn ? [origin as Origin & { client: string }] : [];
      });
    });
    const last = origins.reduce<(typeof origins)[number] | undefined>(
      (one, other) => (one && one.atNs > other.atNs ? one : other),
      undefined,
    );
    return origins.every(({ client }) => client === last?.client) ? last : undefined;
  }

  /**
   * When the client that stored the value was gone, if that was by `byNs` and the value was not named for this key until
   * `untilNs`. What its own client sends of it without asking for the key is a renewal that nothing ended.
   */
  ofOwner(by: Origin & { client: string }, value: string, byNs: number, untilNs: number): Gone | undefined {
    const { client, atNs } = by;
    const gone = this.death(client) ?? this.end(client, atNs);
    if (!gone || gone.atNs > byNs) return undefined;
    const { history, observations, config } = this.input;
    const keys = [...new Set([...config.keys, ...history.operations.keys])];
    const acquireAt = acquiresOf(history, this.key);
    for (const [, command] of observations.commands(gone.atNs, untilNs)) {
      if (command.client === undefined || !command.argv.includes(value)) continue;
      if (!command.argv.slice(1).some((word) => runKeyOf(word, keys) === this.key)) continue;
      const row = acquireAt(command.client, command.atNs);
      if (command.client !== client || (row !== undefined && intervalsOf(history).callNs[row]! >= gone.atNs))
        return undefined;
    }
    return gone;
  }

  private death(client: string): Gone | undefined {
    const down = this.input.history.rare.find((event) => event.type === 'client-down' && event.client === client);
    return down?.type === 'client-down' ? { atNs: down.endNs, line: down.i, text: `${client} was gone` } : undefined;
  }

  /** The end of the acquire that it was in the midst of, or of the hold that came of it. */
  private end(client: string, atNs: number): Gone | undefined {
    const { history } = this.input;
    const { operations: ops } = history;
    const { callNs, returnNs } = intervalsOf(history);
    const who = ops.clients.indexOf(client);
    const rows: number[] = [];
    for (let row = 0; row < ops.count; row++) if (ops.client[row] === who) rows.push(row);
    const row = rows[firstIndex(rows.length, (at) => callNs[rows[at]!]! > atNs) - 1];
    if (row === undefined || ops.op[row] !== OP.acquire || ops.keys[ops.key[row]!] !== this.key) return undefined;
    if (ops.outcome[row] === OUTCOME.fail)
      return { atNs: returnNs[row]!, line: ops.completionLine[row]!, text: `${client} gave up` };
    const holds = holdsOf(history);
    const k = holds.ofRow[row]!;
    if (k < 0) return undefined;
    // One that was never answered returned at no time.
    const released = rows.find((one) => ops.op[one] === OP.release && ops.hold[one] === row);
    if (released === undefined) return undefined;
    // Of one that failed nobody knows whether it came to the server.
    const did = ops.outcome[released] === OUTCOME.ok ? 'had released it' : 'had tried to release it';
    return { atNs: returnNs[released]!, line: ops.completionLine[released]!, text: `${client} ${did}` };
  }
}
