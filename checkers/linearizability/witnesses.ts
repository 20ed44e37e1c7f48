/** Findings of the fast procedures as witnesses: a few rows, the time in which they cannot be, and why, in one sentence. */

import { duration, listed, momentBeside, plural } from '../../harness/record/facts/words.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { Inversion } from './fences.js';
import type { Chain } from './lease.js';
import type { Together } from './section-overlaps.js';
import type { Found, ProtocolError } from './sections.js';
import { SPAN, type Spans } from './spans.js';
import type { TryInGap } from './tries.js';
import type { KeyHistory, Witness } from './types.js';

export class Witnesses {
  /** The stamps of the operations of the witness at hand: its moments are given so that these can be told apart. */
  private beside: readonly number[] = [];

  constructor(
    private readonly history: KeyHistory,
    private readonly model: LockModel,
    private readonly found: Found,
    /** When each section certainly held. */
    private readonly spans: Spans,
  ) {}

  overlap({ sections, fromNs, untilNs, tooDeep }: Together): Witness {
    this.lookAt(sections.flatMap((k) => this.rowsOf(k)));
    const own = this.model.kind !== 'semaphore' && new Set(sections.map((k) => this.client(k))).size === 1;
    // Two that are never released are together from then on, however soon the history ends.
    const long = Number.isFinite(untilNs)
      ? `for at least ${duration(untilNs - fromNs)}`
      : `from ${this.moment(fromNs)} on`;
    const count = sections.length > 2 ? `all ${sections.length}` : 'both';
    const allowed = this.allowed(tooDeep);
    return this.witness(
      own ? 'protocol' : 'overlap',
      sections.flatMap((k) => this.rowsOf(k)),
      fromNs,
      untilNs,
      `${this.helds(sections)}; ${count} at once ${long}${allowed}.`,
    );
  }

  /** `cover`: the cores that leave the window no instant. */
  window(k: number, cover: readonly number[]): Witness {
    this.lookAt([k, ...cover].flatMap((one) => this.rowsOf(one)));
    const { fromNs, untilNs } = this.spans;
    const at =
      fromNs[k] === untilNs[k]
        ? `at ${this.moment(fromNs[k]!)}`
        : `at some instant from ${this.moment(fromNs[k]!)} to ${this.moment(untilNs[k]!)}`;
    const why = `as its release ${this.isGrantKnown(k) ? 'came at once' : 'succeeded, though its acquire was never answered'}`;
    return this.witness(
      'zone-in-cores',
      [k, ...cover].flatMap((one) => this.rowsOf(one)),
      fromNs[k]!,
      untilNs[k]!,
      `${this.client(k)} must have held ${this.history.key} ${at}, ${why}; but ${this.helds(cover)}.`,
    );
  }

  chain({ sections, earliestNs }: Chain): Witness {
    this.lookAt(sections.flatMap((k) => this.rowsOf(k)));
    const last = sections.at(-1)!;
    const { callNs, returnNs } = this.found.sections;
    const first = sections[0]!;
    const between = sections.slice(1, -1).map((k) => this.client(k));
    const waited =
      between.length === 0 ? '' : `, then ${listed(between)} for a lease${between.length > 1 ? ' each' : ''}`;
    const { key } = this.history;
    return this.witness(
      'lease-chain',
      sections.flatMap((k) => this.rowsOf(k)),
      returnNs[last]!,
      earliestNs,
      `${this.client(first)} was granted ${key} at ${this.moment(callNs[first]!)} at the earliest and held it until its lease ` +
        `had run or it released it${waited}: ${key} was not free again before ${this.moment(earliestNs)}; but ` +
        `${this.client(last)} had been granted it by ${this.moment(returnNs[last]!)}, ` +
        `${duration(earliestNs - returnNs[last]!)} too early.`,
    );
  }

  inversion({ earlier, later, fromNs, untilNs }: Inversion): Witness {
    this.lookAt([...this.rowsOf(earlier), ...this.rowsOf(later)]);
    const { callNs, returnNs } = this.found.sections;
    const plain = returnNs[earlier]! < callNs[later]!;
    const order = plain
      ? `had been granted ${this.history.key} (${this.moment(returnNs[earlier]!)}) before ${this.client(later)} asked for it (${this.moment(callNs[later]!)})`
      : `was done with ${this.history.key} (${this.moment(this.spans.untilNs[earlier]!)}) before ${this.client(later)} got it (${this.moment(returnNs[later]!)})`;
    return this.witness(
      'fence-inversion',
      [...this.rowsOf(earlier), ...this.rowsOf(later)],
      fromNs,
      untilNs,
      `${this.client(earlier)} ${order}; but the token of the first is ` +
        `${this.token(earlier)} and that of the second ${this.token(later)}, which is not higher.`,
    );
  }

  tryInGap({ row, before, after }: TryInGap): Witness {
    this.lookAt([row, ...[before, after].filter((k) => k >= 0).flatMap((k) => this.rowsOf(k))]);
    const { callNs, returnNs, operations: ops, key } = this.history;
    const { callNs: calledNs } = this.found.sections;
    const bounds = [before, after].filter((k) => k >= 0);
    const since = before < 0 ? 'it had not been held before' : `${this.client(before)} ${this.overBy(before)}`;
    const next =
      after < 0
        ? 'it was not held after'
        : `${this.client(after)} asked for it at ${this.moment(calledNs[after]!)} only`;
    return this.witness(
      'try-in-free-gap',
      [row, ...bounds.flatMap((k) => this.rowsOf(k))],
      callNs[row]!,
      returnNs[row]!,
      `${ops.clients[ops.client[row]!]} was refused ${key} between ${this.moment(callNs[row]!)} and ${this.moment(returnNs[row]!)} ` +
        `because somebody held it; but ${since}, and ${next}.`,
    );
  }

  protocol({ kind, rows, fromNs, untilNs }: ProtocolError): Witness {
    this.lookAt(rows);
    const { operations: ops, callNs, returnNs, key } = this.history;
    const [first, second, third] = rows;
    const last = rows.at(-1)!;
    const who = ops.clients[ops.client[last]!];
    const at = (row: number) => `(${this.moment(callNs[row]!)} to ${this.moment(returnNs[row]!)})`;
    const proof = {
      'released-without-hold': `${who}'s release of ${key} ${at(first!)} succeeded without an acquire that it could end.`,
      'released-twice': `${who} released one hold of ${key} successfully twice: ${at(second ?? last)} and ${at(third ?? last)}.`,
      'released-after-denial':
        `${who} was told ${at(second ?? last)} that its hold of ${key} was over, and ` +
        `then released it successfully ${at(third ?? last)}.`,
    }[kind];
    return this.witness('protocol', rows, fromNs, untilNs, proof);
  }

  search(rows: readonly number[]): Witness {
    const { callNs, returnNs, key, operations: ops } = this.history;
    const fromNs = rows.reduce((ns, row) => Math.min(ns, callNs[row]!), Number.POSITIVE_INFINITY);
    const untilNs = rows.reduce((ns, row) => Math.max(ns, this.finite(returnNs[row]!)), fromNs);
    const clients = [...new Set(rows.map((row) => ops.clients[ops.client[row]!]!))];
    return this.witness(
      'search',
      rows,
      fromNs,
      untilNs,
      `No order of these ${plural(rows.length, 'operation')} of ${listed(clients)} on ${key} explains them all: ` +
        'every one that is possible within their times was tried.',
    );
  }

  /**
   * The acquire and the release that ended it, as far as there is one; and of a write lock that must have come before its
   * own client's read lock, that one too.
   */
  rowsOf(k: number): number[] {
    const { acquire, endRow, returnNs } = this.found.sections;
    const rows = endRow[k]! >= 0 ? [acquire[k]!, endRow[k]!] : [acquire[k]!];
    const read = this.spans.ownRead?.[k] ?? -1;
    const isEarlier = this.spans.kind[k] === SPAN.core && this.spans.fromNs[k]! < returnNs[k]!;
    return read >= 0 && isEarlier ? [...rows, ...this.rowsOf(read)] : rows;
  }

  private lookAt(rows: readonly number[]): void {
    const { callNs, returnNs } = this.history;
    this.beside = rows.flatMap((row) => [callNs[row]!, returnNs[row]!]);
  }

  private moment(ns: number): string {
    return momentBeside(ns, this.beside);
  }

  private witness(kind: Witness['kind'], rows: readonly number[], from: number, until: number, proof: string): Witness {
    const { callNs, key } = this.history;
    const inOrder = [...new Set(rows)].sort((a, b) => callNs[a]! - callNs[b]! || a - b);
    return { kind, key, rows: inOrder, fromNs: from, untilNs: this.finite(until), proof };
  }

  /** "c1 (token 4) certainly held lock:0 from 1.000 s to 2.000 s; c2 certainly held it from 1.500 s on". */
  private helds(sections: readonly number[]): string {
    const { fromNs, untilNs } = this.spans;
    return sections
      .map((k, at) => {
        const what = at === 0 ? this.history.key : 'it';
        const until =
          untilNs[k] === Number.POSITIVE_INFINITY ? 'on, never to release it' : `to ${this.moment(untilNs[k]!)}`;
        return `${this.client(k)} certainly held ${what} from ${this.moment(fromNs[k]!)} ${until}`;
      })
      .join('; ');
  }

  private overBy(k: number): string {
    const { endReturnNs } = this.found.sections;
    return endReturnNs[k] === Number.POSITIVE_INFINITY
      ? 'was done with it before the next was granted it'
      : `had released it by ${this.moment(endReturnNs[k]!)}`;
  }

  private allowed(tooDeep: boolean): string {
    const { model } = this;
    if (model.kind === 'semaphore')
      return `, and there ${model.permits === 1 ? 'is' : 'are'} ${plural(model.permits, 'permit')}`;
    if (model.kind === 'reentrant' && tooDeep) return `, which is more often than ${model.depth}`;
    return '';
  }

  /** With its token, where it got one. */
  private client(k: number): string {
    const { operations: ops } = this.history;
    const { acquire, client } = this.found.sections;
    const name = ops.clients[client[k]!]!;
    return Number.isNaN(ops.token[acquire[k]!]!) ? name : `${name} (token ${this.token(k)})`;
  }

  private token(k: number): number {
    return this.history.operations.token[this.found.sections.acquire[k]!]!;
  }

  private isGrantKnown(k: number): boolean {
    return this.found.sections.returnNs[k] !== Number.POSITIVE_INFINITY;
  }

  /** What has no end is given as lasting until the last stamp of the key. */
  private finite(ns: number): number {
    return ns === Number.POSITIVE_INFINITY ? this.found.lastNs : ns;
  }
}
