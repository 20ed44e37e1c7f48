/**
 * Random small histories as other tools record them: a lock that knows only owners is played on a coarse grid of instants, some
 * outcomes are lost, and in some histories answers are then changed. Processes go on after an outcome that is not known.
 */
import fc from 'fast-check';
import type { OracleModel, RecordedOp } from './owner-oracle.js';

/** Drawn from a list of numbers, which fast-check can shrink. */
export function recordedHistories(model: OracleModel, most: number): fc.Arbitrary<RecordedOp[]> {
  return fc
    .array(fc.nat(9_999), { minLength: 8, maxLength: 12 * most, size: 'max' })
    .map((numbers) => new Play(model, most, numbers).history());
}

interface Hold {
  process: string;
  reads: boolean;
}

class Play {
  private readonly ops: RecordedOp[] = [];
  private holds: Hold[] = [];
  /** Operations that the server carries out later, if at all. */
  private late: RecordedOp[] = [];
  private token = 0;
  private at = 0;

  constructor(
    private readonly model: OracleModel,
    private readonly most: number,
    private readonly numbers: readonly number[],
  ) {}

  history(): RecordedOp[] {
    const processes = 2 + this.below(2);
    const freeAt = new Array<number>(processes).fill(0);
    const count = 4 + this.below(this.most - 3);
    const isBroken = this.chance(35);
    for (let now = 0; this.ops.length < count && this.at < this.numbers.length; now += this.below(3)) {
      const process = this.below(processes);
      if (freeAt[process]! > now) continue;
      const call = Math.max(freeAt[process]!, now - this.below(3));
      const ret = now + this.below(3);
      // Ties are common, but for one process's own operations: in which order those came is known to the process alone.
      freeAt[process] = ret + 1;
      while (this.late.length > 0 && this.chance(40)) this.carryOut(this.late.shift()!);
      this.operate(`p${process}`, call, ret, isBroken);
    }
    if (this.chance(25)) this.change();
    return this.ops;
  }

  private operate(process: string, call: number, ret: number, isBroken: boolean): void {
    const mine = this.mine(process);
    const releases = mine.length > 0 ? this.chance(65) : this.chance(12);
    const hasModes = this.model.kind === 'read-write';
    const mode = hasModes ? (releases ? this.modeOfRelease(mine) : this.chance(60) ? 'read' : 'write') : undefined;
    const op: RecordedOp = { process, op: releases ? 'release' : 'acquire', call, ret, outcome: 'ok' };
    if (mode !== undefined) op.mode = mode;
    this.ops.push(op);
    if (this.chance(25)) {
      op.outcome = 'info';
      op.ret = Number.POSITIVE_INFINITY;
      if (this.chance(50)) this.carryOut(op);
      else this.late.push(op);
      return;
    }
    const isAgain = this.model.kind === 'reentrant-fenced' && mine.length > 0 && this.chance(80);
    if (this.carryOut(op) || (isBroken && this.chance(50))) {
      if (this.model.kind.endsWith('fenced') && !releases && this.chance(85))
        op.token = isAgain ? this.token : ++this.token;
      return;
    }
    op.outcome = 'fail';
    op.error = this.chance(15) ? 'unreachable' : releases ? 'not-owner' : 'held';
  }

  /** Whether it took effect. */
  private carryOut(op: RecordedOp): boolean {
    if (op.op === 'acquire') {
      if (this.refuses(op)) return false;
      this.holds.push({ process: op.process, reads: op.mode === 'read' });
      return true;
    }
    const hold = this.mine(op.process).findLast(({ reads }) => op.mode === undefined || reads === (op.mode === 'read'));
    if (hold === undefined) return false;
    this.holds = this.holds.filter((one) => one !== hold);
    return true;
  }

  private mine(process: string): Hold[] {
    if (this.model.kind === 'ownerless') return this.holds;
    return this.holds.filter((hold) => hold.process === process);
  }

  private modeOfRelease(mine: readonly Hold[]): RecordedOp['mode'] {
    if (this.chance(30)) return undefined;
    return mine.at(-1)?.reads === true ? 'read' : 'write';
  }

  private refuses(op: RecordedOp): boolean {
    const { model, holds } = this;
    const others = holds.filter(({ process }) => process !== op.process);
    if (model.kind === 'semaphore' || model.kind === 'ownerless') return holds.length >= model.permits;
    if (model.kind === 'reentrant' || model.kind === 'reentrant-fenced')
      return others.length > 0 || holds.length >= model.depth;
    if (model.kind === 'read-write' && op.mode === 'read') return others.some(({ reads }) => !reads);
    return holds.length > 0;
  }

  /** An answer that the lock need not have given. */
  private change(): void {
    const op = this.ops[this.below(Math.max(1, this.ops.length))];
    if (op === undefined || op.outcome === 'info') return;
    op.outcome = op.outcome === 'ok' ? 'fail' : 'ok';
    delete op.error;
    delete op.token;
    if (op.outcome === 'fail') op.error = op.op === 'acquire' ? 'held' : 'not-owner';
  }

  private chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  /** The next number of the list, below `bound`; 0 when they are used up. */
  private below(bound: number): number {
    return (this.numbers[this.at++] ?? 0) % bound;
  }
}
