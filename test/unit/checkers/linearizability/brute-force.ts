/**
 * The oracle: whether any order and any choice of unknown outcomes explains a small history, found by trying all of them.
 *
 * All stamps and leases are whole numbers, so if there are instants at all, there are whole ones (the constraints between
 * instants are differences). So time goes 0, 1, 2, ...; at each instant any operation whose interval has it may take effect,
 * any number of them one after another, and a lease that has run may end its hold. It shares nothing with `checkers/`.
 */
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';

export interface SmallOp {
  op: 'acquire' | 'release';
  client: string;
  call: number;
  /** Infinity where the outcome is not known. */
  ret: number;
  outcome: 'ok' | 'fail' | 'info';
  reason?: string;
  mode?: 'read' | 'write';
  token?: number;
  lease?: number;
  /** Of a release: the acquire, by its place in the list; -1: none. */
  hold?: number;
}

export interface SmallReading {
  failedReleaseEnds: boolean;
  leases: boolean;
  triesInform: boolean;
}

export function isExplainable(ops: readonly SmallOp[], model: LockModel, reading: SmallReading): boolean {
  return new Trial(ops, model, reading).explains();
}

/** Who holds: places of acquires with the instants of their grants, in the order of places. */
type Holds = readonly (readonly [place: number, grantedAt: number])[];

class Trial {
  private readonly tried = new Set<string>();
  private readonly lastTime: number;

  constructor(
    private readonly ops: readonly SmallOp[],
    private readonly model: LockModel,
    private readonly reading: SmallReading,
  ) {
    const finite = ops.flatMap(({ call, ret }) => [call, ret]).filter(Number.isFinite);
    this.lastTime = Math.max(0, ...finite);
  }

  explains(): boolean {
    return this.from(0, 0, [], Number.NEGATIVE_INFINITY);
  }

  /** Whether the rest can be explained, when the operations in `taken` have taken effect by `time`. */
  private from(time: number, taken: number, holds: Holds, token: number): boolean {
    const { ops } = this;
    if (ops.every((op, place) => taken & (1 << place) || op.outcome === 'info')) return true;
    if (time > this.lastTime) return false;
    // When they were granted matters only to leases.
    const held = this.reading.leases ? holds.join(' ') : holds.map(([place]) => place).join(' ');
    const state = `${time} ${taken} ${token} ${held}`;
    if (this.tried.has(state)) return false;
    this.tried.add(state);

    for (let place = 0; place < ops.length; place++) {
      const { call, ret } = ops[place]!;
      if (taken & (1 << place) || call > time || ret < time) continue;
      const after = this.step(place, time, taken, holds, token);
      if (after && this.from(time, taken | (1 << place), after.holds, after.token)) return true;
    }
    for (const hold of holds) {
      const [place, grantedAt] = hold;
      if (!this.reading.leases || time < grantedAt + (ops[place]!.lease ?? Number.POSITIVE_INFINITY)) continue;
      if (
        this.from(
          time,
          taken,
          holds.filter((one) => one !== hold),
          token,
        )
      )
        return true;
    }
    // Time goes on, unless something must have happened by now.
    const isLate = ops.some((op, place) => !(taken & (1 << place)) && op.ret <= time);
    return !isLate && this.from(time + 1, taken, holds, token);
  }

  private step(place: number, time: number, taken: number, holds: Holds, token: number) {
    const op = this.ops[place]!;
    if (op.op === 'release') return this.release(op, taken, holds, token);
    const refused = this.refuses(op, holds);
    if (op.outcome === 'fail') {
      const informs = this.reading.triesInform && op.reason === 'held';
      return informs && !refused ? undefined : { holds, token };
    }
    if (refused) return undefined;
    if (this.model.kind === 'fenced' && op.token !== undefined && op.token <= token) return undefined;
    const granted: Holds = [...holds, [place, time] as const].sort((a, b) => a[0] - b[0]);
    return { holds: granted, token: this.model.kind === 'fenced' ? (op.token ?? token) : token };
  }

  private release(op: SmallOp, taken: number, holds: Holds, token: number) {
    const rest = holds.filter(([place]) => place !== op.hold);
    if (op.outcome !== 'fail') return rest.length < holds.length ? { holds: rest, token } : undefined;
    // A client that was granted a hold asks for its release after that.
    const acquire = op.hold !== undefined && op.hold >= 0 ? this.ops[op.hold] : undefined;
    if (acquire?.outcome === 'ok' && !(taken & (1 << op.hold!))) return undefined;
    const ends = this.reading.failedReleaseEnds && op.reason !== 'unreachable';
    return { holds: ends ? rest : holds, token };
  }

  private refuses(op: SmallOp, holds: Holds): boolean {
    const holders = holds.map(([place]) => this.ops[place]!);
    const { model } = this;
    switch (model.kind) {
      case 'semaphore':
        return holders.length >= model.permits;
      case 'reentrant':
        return holders.some(({ client }) => client !== op.client) || holders.length >= model.depth;
      case 'read-write':
        if (op.mode !== 'read') return holders.length > 0;
        return holders.some(({ mode, client }) => mode !== 'read' && client !== op.client);
      default:
        return holders.length > 0;
    }
  }
}
