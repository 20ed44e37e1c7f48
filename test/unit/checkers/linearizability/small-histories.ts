/**
 * Random small histories: a correct lock is simulated on a coarse grid of instants (so that ties are common), its operations
 * get intervals around them, some outcomes are lost, and in half of the histories something is then changed.
 *
 * Everything is drawn from a list of numbers, which fast-check can shrink.
 */
import fc from 'fast-check';
import type { KeyHistory } from '../../../../checkers/linearizability/types.js';
import { MODE, OP, OUTCOME } from '../../../../harness/record/history-table.js';
import type { Operations } from '../../../../harness/vocabulary/history.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import type { SmallOp } from './brute-force.js';

export const MODELS: readonly LockModel[] = [
  { kind: 'mutex' },
  { kind: 'reentrant', depth: 2 },
  { kind: 'read-write' },
  { kind: 'semaphore', permits: 2 },
  { kind: 'fenced' },
  { kind: 'fair' },
];

export interface Drawing {
  /** Operations at most. */
  most: number;
  /** Whether holds have leases. */
  leases: boolean;
}

export function smallHistories(model: LockModel, drawing: Drawing): fc.Arbitrary<SmallOp[]> {
  return fc
    .array(fc.nat(9_999), { minLength: 8, maxLength: 10 * drawing.most, size: 'max' })
    .map((numbers) => new Simulation(model, drawing, numbers).history());
}

interface Holding {
  place: number;
  client: string;
  read: boolean;
  until: number;
}

interface Client {
  name: string;
  incarnation: number;
  slot: number;
  freeAt: number;
  /** Places of acquires that it may want to release. */
  mine: number[];
}

class Simulation {
  private readonly ops: SmallOp[] = [];
  private holding: Holding[] = [];
  private readonly clients: Client[];
  private token = 0;
  private at = 0;
  /** Whether the lock is broken: it grants what is held, and lets leases end early. */
  private readonly isBroken: boolean;

  constructor(
    private readonly model: LockModel,
    private readonly drawing: Drawing,
    private readonly numbers: readonly number[],
  ) {
    // Several permits hide much of what is broken.
    this.isBroken = this.chance(model.kind === 'semaphore' ? 85 : 50);
    const count = (model.kind === 'semaphore' ? 4 : 2) + this.below(4);
    this.clients = Array.from({ length: count }, (_, slot) => ({
      name: `c${slot + 1}`,
      incarnation: 1,
      slot,
      freeAt: 0,
      mine: [],
    }));
  }

  history(): SmallOp[] {
    let now = 0;
    const count = 4 + this.below(this.drawing.most - 3);
    while (this.ops.length < count && this.at < this.numbers.length) {
      now += [0, 1, 1, 2][this.below(4)]!;
      const free = this.clients.filter(({ freeAt }) => freeAt <= now);
      if (free.length > 0) this.operate(free[this.below(free.length)]!, now);
    }
    const changes = this.model.kind === 'semaphore' ? 5 : 3;
    if (this.chance(60)) for (let n = this.below(changes); n >= 0; n--) this.change();
    return inOrderOfCalls(this.ops);
  }

  private operate(client: Client, now: number): void {
    if (client.mine.length > 0 && this.chance(70)) this.release(client, now);
    else this.acquire(client, now);
  }

  private acquire(client: Client, now: number): void {
    const read = this.model.kind === 'read-write' && this.chance(60);
    const op: SmallOp = { ...this.interval(client, now), op: 'acquire', client: client.name, outcome: 'ok' };
    if (this.model.kind === 'read-write') op.mode = read ? 'read' : 'write';
    if (this.drawing.leases && this.chance(85)) op.lease = 1 + this.below(this.chance(30) ? 2 : 12);
    const early = this.isBroken ? this.below(12) : 0;
    this.holding = this.holding.filter(({ until }) => until > now + early || this.chance(30));
    const place = this.ops.push(op) - 1;
    const isLost = this.chance(12);
    if (isLost && this.chance(50)) {
      this.lose(client, op);
      if (this.chance(20) && client.name === op.client) client.mine.push(place);
      return;
    }
    if (this.refuses(client.name, read) && !(this.isBroken && this.chance(50))) {
      op.outcome = 'fail';
      op.reason = this.chance(85) ? 'held' : 'no-quorum';
      if (isLost) this.lose(client, op);
      return;
    }
    if (this.model.kind === 'fenced' && this.chance(85)) op.token = ++this.token;
    const until = op.lease === undefined ? Number.POSITIVE_INFINITY : now + op.lease;
    this.holding.push({ place, client: client.name, read, until });
    if (isLost) {
      delete op.token;
      this.lose(client, op);
      if (this.chance(50) && client.name === op.client) client.mine.push(place);
    } else {
      client.mine.push(place);
    }
  }

  private release(client: Client, now: number): void {
    const at = this.chance(80) ? client.mine.length - 1 : this.below(client.mine.length);
    const hold = client.mine[at]!;
    const op: SmallOp = { ...this.interval(client, now), op: 'release', client: client.name, outcome: 'ok', hold };
    this.ops.push(op);
    if (this.chance(92)) client.mine.splice(at, 1);
    const isLost = this.chance(12);
    if (isLost && this.chance(50)) {
      this.lose(client, op);
      return;
    }
    if (!this.holding.some(({ place }) => place === hold)) {
      op.outcome = 'fail';
      op.reason = this.chance(80) ? 'not-owner' : 'unreachable';
    } else if (this.chance(8)) {
      op.outcome = 'fail';
      op.reason = 'unreachable';
    } else {
      this.holding = this.holding.filter(({ place }) => place !== hold);
    }
    if (isLost) this.lose(client, op);
  }

  /** How it ended is unknown; its client comes back under a new name, or sometimes goes on. */
  private lose(client: Client, op: SmallOp): void {
    op.outcome = 'info';
    op.ret = Number.POSITIVE_INFINITY;
    delete op.reason;
    if (this.chance(40)) return;
    client.incarnation++;
    client.name = `c${client.slot + 1}.${client.incarnation}`;
    client.mine = [];
  }

  private interval(client: Client, now: number): { call: number; ret: number } {
    const call = Math.max(client.freeAt, now - this.below(4));
    const ret = now + this.below(3);
    client.freeAt = ret;
    return { call, ret };
  }

  private refuses(client: string, read: boolean): boolean {
    const { model, holding } = this;
    switch (model.kind) {
      case 'semaphore':
        return holding.length >= model.permits;
      case 'reentrant':
        return holding.some((one) => one.client !== client) || holding.length >= model.depth;
      case 'read-write':
        return read ? holding.some((one) => !one.read && one.client !== client) : holding.length > 0;
      default:
        return holding.length > 0;
    }
  }

  /** Something that a correct lock need not have done. */
  private change(): void {
    const place = this.below(Math.max(1, this.ops.length));
    const op = this.ops[place];
    if (!op) return;
    const [before, after] = neighbours(this.ops, place);
    const last = Math.min(after, (Number.isFinite(op.ret) ? op.ret : op.call) + 3);
    switch (this.below(6)) {
      case 0:
        // Elsewhere, as short as nothing.
        op.call = before + this.below(Math.max(1, last - before + 1));
        if (Number.isFinite(op.ret)) op.ret = op.call;
        break;
      case 1:
        if (op.outcome === 'info') break;
        op.outcome = op.outcome === 'ok' ? 'fail' : 'ok';
        if (op.outcome === 'fail') op.reason = op.op === 'acquire' ? 'held' : 'not-owner';
        else delete op.reason;
        break;
      case 2:
        if (op.token !== undefined) op.token = 1 + this.below(this.token + 1);
        break;
      case 3:
        if (op.op === 'release') op.hold = this.chance(10) ? -1 : this.earlierAcquire(place, op.hold!);
        break;
      case 4:
        if (op.mode) op.mode = op.mode === 'read' ? 'write' : 'read';
        if (op.lease && this.chance(50)) op.lease += 6;
        else delete op.lease;
        break;
      default:
        if (op.outcome !== 'info') break;
        op.outcome = 'ok';
        op.ret = Math.min(after, op.call + this.below(3));
        if (op.ret < op.call) op.ret = op.call;
    }
  }

  private earlierAcquire(place: number, otherwise: number): number {
    const found = this.ops.findIndex(
      ({ op, client }, at) => at < place && op === 'acquire' && client === this.ops[place]!.client,
    );
    return found < 0 ? otherwise : found;
  }

  private chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  /** The next number of the list, below `bound`; 0 when they are used up. */
  private below(bound: number): number {
    return (this.numbers[this.at++] ?? 0) % bound;
  }
}

/** When the client's operation before this one was over, and when its next one began. */
function neighbours(ops: readonly SmallOp[], place: number): [before: number, after: number] {
  const { client } = ops[place]!;
  const own = ops.map((op, at) => ({ op, at })).filter(({ op }) => op.client === client);
  const before = own.filter(({ at }) => at < place).map(({ op }) => (Number.isFinite(op.ret) ? op.ret : op.call));
  const after = own.filter(({ at }) => at > place).map(({ op }) => op.call);
  return [Math.max(0, ...before), Math.min(1_000, ...after)];
}

export function inOrderOfCalls(ops: readonly SmallOp[]): SmallOp[] {
  const order = ops.map((op, at) => ({ op, at })).sort((a, b) => a.op.call - b.op.call || a.at - b.at);
  const placeOf = new Map(order.map(({ at }, place) => [at, place]));
  return order.map(({ op }) => (op.hold === undefined ? op : { ...op, hold: placeOf.get(op.hold) ?? -1 }));
}

/** Row n is the n-th operation. Made by hand, as a table for a million events costs more than all else here. */
export function keyHistory(ops: readonly SmallOp[]): KeyHistory {
  const clients = [...new Set(ops.map(({ client }) => client))];
  const reasons = [...new Set(ops.flatMap(({ reason }) => (reason === undefined ? [] : [reason])))];
  const ints = (of: (op: SmallOp, row: number) => number) => Int32Array.from(ops, of);
  const floats = (of: (op: SmallOp, row: number) => number) => Float64Array.from(ops, of);
  const nothing = floats(() => Number.NaN);
  const callNs = floats(({ call }) => call);
  const returnNs = floats(({ ret }) => ret);
  const operations: Operations = {
    count: ops.length,
    clients,
    keys: ['lock:0'],
    reasons,
    client: ints(({ client }) => clients.indexOf(client)),
    key: ints(() => 0),
    op: Uint8Array.from(ops, ({ op }) => OP[op]),
    mode: Uint8Array.from(ops, ({ mode }) => (mode === undefined ? MODE.exclusive : MODE[mode])),
    outcome: Uint8Array.from(ops, ({ outcome }) => OUTCOME[outcome]),
    reason: ints(({ reason }) => (reason === undefined ? -1 : reasons.indexOf(reason))),
    hold: ints(({ hold }) => hold ?? -1),
    invokeLine: ints((_, row) => row),
    completionLine: ints((_, row) => ops.length + row),
    id: floats((_, row) => row),
    sentNs: callNs,
    readNs: returnNs,
    beganNs: nothing,
    endedNs: nothing,
    leaseFromNs: nothing,
    leaseMs: nothing,
    waitMs: nothing,
    validForMs: nothing,
    token: floats(({ token }) => token ?? Number.NaN),
    value: nothing,
    version: nothing,
    cancelledNs: nothing,
  };
  const rows = ints((_, row) => row);
  const leaseNs = floats(({ lease }) => lease ?? Number.POSITIVE_INFINITY);
  return { key: 'lock:0', operations, rows, callNs, returnNs, leaseNs };
}

/** These operations alone; a release whose acquire is not among them names none. */
export function only(ops: readonly SmallOp[], rows: readonly number[]): SmallOp[] {
  const sorted = [...rows].sort((a, b) => a - b);
  return sorted.map((row) => {
    const op = ops[row]!;
    return op.hold === undefined ? op : { ...op, hold: sorted.indexOf(op.hold) };
  });
}
