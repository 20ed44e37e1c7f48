/**
 * What one client asked of the servers in each of its operations, beside what it said of them: what the rules for adapters are
 * made of.
 *
 * A client does one operation at a time, so a command of its own between the sending of an operation and the reading of its
 * answer is part of it, or a renewal in the background. Times are compared on the harness's clock alone: when a command was
 * read from MONITOR is after it was sent, for certain, whatever any wall clock showed.
 */
import { Evidence, OBSERVED_WITHIN_NS } from '../../harness/record/facts/evidence.js';
import { type Holds, holdsOf } from '../../harness/record/facts/holds.js';
import type { KeyWrite } from '../../harness/record/facts/key-writes.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { Operations, OpName } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';

/** One operation, as it was asked for and answered. */
export interface Operation {
  row: number;
  client: string;
  key: string;
  op: OpName;
  outcome: 'ok' | 'fail' | 'info' | 'none';
  reason: string;
  sentNs: number;
  /** Infinity: it was not answered. */
  readNs: number;
}

/** Of permits, or of holders; clients are not told apart by so few digits. */
const A_COUNT = /^-?\d{1,4}$/;

export class AdapterRecord {
  readonly evidence: Evidence;
  readonly operations: readonly Operation[];
  readonly holds: Holds;
  readonly ops: Operations;
  /** How many nodes must do something for it to be done. */
  readonly needed: number;
  /** When the first fault began; Infinity: none did. */
  readonly firstFaultNs: number;
  private readonly byClient = new Map<string, Operation[]>();

  constructor(readonly input: CheckInput) {
    this.evidence = new Evidence(input);
    this.holds = holdsOf(input.history);
    this.ops = input.history.operations;
    this.needed = this.evidence.majority ?? 1;
    const faults = input.history.rare.filter((event) => event.type === 'fault');
    this.firstFaultNs = Math.min(...faults.map(({ beganNs, atNs }) => beganNs ?? atNs));
    this.operations = Array.from({ length: this.ops.count }, (_, row) => this.operation(row));
    for (const one of this.operations) {
      const own = this.byClient.get(one.client) ?? [];
      this.byClient.set(one.client, own);
      own.push(one);
    }
  }

  private operation(row: number): Operation {
    const { ops } = this;
    const readNs = ops.readNs[row]!;
    return {
      row,
      client: ops.clients[ops.client[row]!]!,
      key: ops.keys[ops.key[row]!]!,
      op: nameOf(OP, ops.op[row]!),
      outcome: nameOf(OUTCOME, ops.outcome[row]!),
      reason: ops.reasons[ops.reason[row]!] ?? '',
      sentNs: ops.sentNs[row]!,
      readNs: Number.isNaN(readNs) ? Number.POSITIVE_INFINITY : readNs,
    };
  }

  /** Operations of a kind, in order; with this answer, if one is named. */
  answered(op: OpName, outcome?: Operation['outcome']): Operation[] {
    return this.operations.filter((one) => one.op === op && (outcome === undefined || one.outcome === outcome));
  }

  /** When the client was next asked for anything that concerns the key; Infinity: never. */
  nextAskedNs({ client, key, sentNs }: Operation): number {
    const next = this.byClient.get(client)!.find((one) => one.sentNs > sentNs && one.key === key);
    return next?.sentNs ?? Number.POSITIVE_INFINITY;
  }

  /** Whether commands of clients that name the key were seen at all: else its names on the servers are others. */
  isNamed(key: string): boolean {
    return this.evidence.nodes.some((node) =>
      this.evidence.writes(node, key).some(({ client }) => client !== undefined),
    );
  }

  /** What the client asked of a node about the key, read between the two times. */
  requests(
    node: string,
    { client, key }: { client: string; key: string },
    fromNs: number,
    untilNs: number,
  ): KeyWrite[] {
    return this.evidence
      .writes(node, key)
      .filter((write) => write.client === client && write.atNs >= fromNs && write.atNs <= untilNs);
  }

  /** The command that stored the client's owner in this operation, by node: the last one of each, where one certainly did. */
  takes(operation: Operation): KeyWrite[] {
    const { sentNs, readNs } = operation;
    const byNs = Math.min(readNs + OBSERVED_WITHIN_NS, this.nextAskedNs(operation));
    return this.evidence.nodes.flatMap((node) => {
      const last = this.requests(node, operation, sentNs, byNs).findLast(({ effect }) => effect === 'take');
      return last?.took === true && this.isOwner(last, operation) ? [last] : [];
    });
  }

  /** Whether what was stored tells who stored it: no other client ever stored the same. A count of free permits does not. */
  private isOwner({ node, value }: KeyWrite, { client, key }: Operation): boolean {
    if (value === undefined || A_COUNT.test(value)) return false;
    const writes = this.evidence.writes(node, key);
    return !writes.some((one) => one.value === value && one.client !== undefined && one.client !== client);
  }

  /** The command of the same operation from which the lease runs: that one, or one that set the key's time after it. */
  leaseFrom(take: KeyWrite, operation: Operation): KeyWrite {
    const byNs = Math.min(operation.readNs + OBSERVED_WITHIN_NS, this.nextAskedNs(operation));
    const later = this.requests(take.node, operation, take.atNs, byNs);
    return later.findLast(({ effect, observation }) => effect === 'prolong' && observation > take.observation) ?? take;
  }

  /** On which nodes what these commands stored was certainly there still at that time, stored by nothing else since. */
  stillStored(takes: readonly KeyWrite[], key: string, atNs: number): KeyWrite[] {
    return takes.filter(({ node, value, observation, atNs: takenNs }) => {
      if (!this.saw(node, Math.min(takenNs, atNs), atNs)) return false;
      const changes = this.evidence.readingOf(node)?.changes(key);
      if (changes?.storedAt(value!, atNs).truth !== 'yes') return false;
      return !this.evidence
        .writes(node, key)
        .some(
          (write) => write.observation > observation && write.atNs <= atNs && write.effect === 'take' && write.took,
        );
    });
  }

  /**
   * Whether every command that a node ran between the two times was seen: it was watched, and a later one was read, which in its
   * own order comes after all of them.
   */
  sawAll(fromNs: number, untilNs: number): boolean {
    const { evidence } = this;
    return evidence.nodes.length > 0 && evidence.nodes.every((node) => this.saw(node, fromNs, untilNs));
  }

  private saw(node: string, fromNs: number, untilNs: number): boolean {
    if (!this.evidence.watchedThroughout(node, fromNs, untilNs)) return false;
    return this.input.config.keys.some((key) => (this.evidence.writes(node, key).at(-1)?.ranNs ?? 0) > untilNs);
  }

  /** Whether the client held the key by another grant at that time. */
  holdsBeside(client: string, key: string, atNs: number, butRow: number): boolean {
    const { ops, holds } = this;
    for (let k = 0; k < holds.count; k++) {
      if (holds.row[k] === butRow || ops.clients[holds.client[k]!] !== client || ops.keys[holds.key[k]!] !== key)
        continue;
      if (holds.fromNs[k]! <= atNs && holds.untilNs[k]! >= atNs) return true;
    }
    return false;
  }
}

function nameOf<Name extends string>(codes: Readonly<Record<Name, number>>, code: number): Name {
  return (Object.keys(codes) as Name[]).find((name) => codes[name] === code)!;
}
