/**
 * The oracle for histories recorded elsewhere: whether any order of the events' operations, and any choice of what became of
 * those without an outcome, explains them, found by trying all. It reads the events themselves, and shares nothing with the
 * importer or with `checkers/`.
 *
 * All times are whole numbers. So time goes 0, 1, 2, ...; at each instant any operation whose interval has it may take effect,
 * one after another, and a lease that has run may end its hold.
 */

export interface RecordedOp {
  process: string;
  /** Who holds what it acquires; absent: the process. */
  owner?: string;
  op: 'acquire' | 'release';
  mode?: 'read' | 'write';
  call: number;
  /** Infinity where the outcome is not known. */
  ret: number;
  outcome: 'ok' | 'fail' | 'info';
  /** Of a failure. */
  error?: 'held' | 'not-owner' | 'unreachable';
  token?: number;
}

export type OracleModel =
  | { kind: 'mutex' | 'fenced' | 'read-write' }
  | { kind: 'reentrant'; depth: number }
  /** Tokens rise when it was free; the owner that takes it again may be given the one that it has. */
  | { kind: 'reentrant-fenced'; depth: number }
  | { kind: 'semaphore'; permits: number }
  /** So many permits, which any process may give back. */
  | { kind: 'ownerless'; permits: number };

export interface OracleReading {
  failedReleaseEnds: boolean;
  triesInform: boolean;
  /** How long every lease runs; undefined: none ends. */
  lease: number | undefined;
}

interface Hold {
  owner: string;
  reads: boolean;
  until: number;
}

export function isExplainable(ops: readonly RecordedOp[], model: OracleModel, reading: OracleReading): boolean {
  return new Trial(ops, model, reading).from(0, 0, [], Number.NEGATIVE_INFINITY);
}

class Trial {
  private readonly tried = new Set<string>();
  private readonly last: number;

  constructor(
    private readonly ops: readonly RecordedOp[],
    private readonly model: OracleModel,
    private readonly reading: OracleReading,
  ) {
    this.last = Math.max(0, ...ops.flatMap(({ call, ret }) => [call, ret]).filter(Number.isFinite));
  }

  /** Whether the rest can be explained when those in `taken` have taken effect by `time`. */
  from(time: number, taken: number, holds: readonly Hold[], token: number): boolean {
    const { ops } = this;
    const isTaken = (place: number) => (taken & (1 << place)) !== 0;
    if (ops.every((op, place) => isTaken(place) || op.outcome === 'info')) return true;
    if (time > this.last) return false;
    const held = holds.map((hold) => Object.values(hold).join()).sort();
    const state = `${time} ${taken} ${token} ${held.join(' ')}`;
    if (this.tried.has(state)) return false;
    this.tried.add(state);
    for (let place = 0; place < ops.length; place++) {
      const op = ops[place]!;
      // A process asks for one thing after the other.
      const waits = ops.some(
        (other, before) => before < place && other.process === op.process && isBefore(other, before),
      );
      if (isTaken(place) || op.call > time || op.ret < time || waits) continue;
      for (const [after, given] of this.effects(op, time, holds, token))
        if (this.from(time, taken | (1 << place), after, given)) return true;
    }
    for (const hold of holds)
      if (hold.until <= time && this.from(time, taken, without(holds, hold), token)) return true;
    const isLate = ops.some((op, place) => !isTaken(place) && op.ret <= time);
    return !isLate && this.from(time + 1, taken, holds, token);

    function isBefore(other: RecordedOp, place: number): boolean {
      return other.outcome !== 'info' && !isTaken(place);
    }
  }

  private effects(op: RecordedOp, time: number, holds: readonly Hold[], token: number): [readonly Hold[], number][] {
    if (op.op === 'release') return this.releases(op, holds).map((after) => [after, token]);
    const refused = this.refuses(op, holds);
    if (op.outcome === 'fail') {
      const informs = this.reading.triesInform && op.error === 'held';
      return informs && !refused ? [] : [[holds, token]];
    }
    const isFenced = this.model.kind.endsWith('fenced') && op.token !== undefined;
    const isAgain = this.model.kind === 'reentrant-fenced' && holds.length > 0;
    if (refused || (isFenced && (isAgain ? op.token! < token : op.token! <= token))) return [];
    const until = this.reading.lease === undefined ? Number.POSITIVE_INFINITY : time + this.reading.lease;
    // A free lock that is granted gives a higher token, also where that was not recorded: half a step more.
    const unknown = holds.length === 0 ? Math.floor(token) + 0.5 : token;
    return [[[...holds, { owner: ownerOf(op), reads: op.mode === 'read', until }], isFenced ? op.token! : unknown]];
  }

  private releases(op: RecordedOp, holds: readonly Hold[]): (readonly Hold[])[] {
    const anybody = this.model.kind === 'ownerless';
    const mine = holds.filter(
      ({ owner, reads }) =>
        (anybody || owner === ownerOf(op)) && (op.mode === undefined || reads === (op.mode === 'read')),
    );
    if (op.outcome !== 'fail') return mine.map((hold) => without(holds, hold));
    const ends = this.reading.failedReleaseEnds && op.error !== 'unreachable';
    return [ends ? holds.filter((hold) => !mine.includes(hold)) : holds];
  }

  private refuses(op: RecordedOp, holds: readonly Hold[]): boolean {
    const { model } = this;
    const others = holds.filter(({ owner }) => owner !== ownerOf(op));
    switch (model.kind) {
      case 'semaphore':
      case 'ownerless':
        return holds.length >= model.permits;
      case 'reentrant':
      case 'reentrant-fenced':
        return others.length > 0 || holds.length >= model.depth;
      case 'read-write':
        return op.mode === 'read' ? others.some(({ reads }) => !reads) : holds.length > 0;
      default:
        return holds.length > 0;
    }
  }
}

function ownerOf({ owner, process }: RecordedOp): string {
  return owner ?? process;
}

function without(holds: readonly Hold[], hold: Hold): readonly Hold[] {
  return holds.filter((one) => one !== hold);
}
