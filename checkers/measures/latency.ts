/**
 * Measures how long operations took, by their clients' own stamps: by operation and outcome, and where faults struck also
 * apart for what ran before the first of them, while any was in force, and after. Never decides.
 *
 * Quantiles are exact. Excludes operations without believable stamps of the client's own (`unstamped`: those that were never
 * answered, above all), readings of clocks, and what the harness and its pipes added.
 */

import { faultsInForce } from '../../harness/record/facts/faults.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { trustedClients } from '../../harness/record/facts/operations.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History, OpName } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Measurement } from '../../harness/vocabulary/verdict.js';
import { summaryOfNs } from './quantiles.js';

const QUANTILES = { p50: 0.5, p95: 0.95, p99: 0.99, p999: 0.999 };

const NOUNS: Partial<Record<OpName, readonly [many: string, ok: string]>> = {
  acquire: ['acquires', 'granted'],
  release: ['releases', 'carried out'],
  extend: ['extensions', 'carried out'],
  read: ['reads', 'answered'],
  write: ['writes', 'acknowledged'],
};

const PHASES = ['before any fault', 'while a fault was in force', 'after a fault was healed'] as const;
const OPS = Object.keys(OP) as OpName[];
const OUTCOMES = 3;

function measureLatency({ history }: CheckInput): CheckerFindings {
  const measured = measure(history);
  const measurements: Measurement[] = [];
  for (const [code, op] of OPS.entries()) {
    for (let outcome = 0; outcome < OUTCOMES; outcome++) {
      const phases = measured.ofPhases[code * OUTCOMES + outcome]!;
      const of = nameOf(op, outcome);
      if (of === undefined) continue;
      add(measurements, of, joined(phases));
      if (measured.faults) for (const [n, phase] of PHASES.entries()) add(measurements, `${of}, ${phase}`, phases[n]!);
    }
  }
  return {
    verdict: 'valid',
    notes: [],
    violations: [],
    stats: { unstamped: measured.unstamped },
    measurements,
  };
}

export const latency: Checker = {
  name: 'latency',
  summary: 'measures how long operations took, by outcome, before, under and after faults',
  properties: [],
  judges: { models: 'all', plays: false },
  check: measureLatency,
};

function add(measurements: Measurement[], of: string, lengthsNs: Float64Array): void {
  const values = summaryOfNs(lengthsNs, QUANTILES);
  if (values) measurements.push({ name: 'latency', of, values, evidence: [] });
}

function nameOf(op: OpName, outcome: number): string | undefined {
  const noun = NOUNS[op];
  if (!noun) return undefined;
  const [many, ok] = noun;
  if (outcome === OUTCOME.info) return `${many} of unknown outcome`;
  return `${many} that were ${outcome === OUTCOME.ok ? ok : 'refused'}`;
}

/** The lengths of all operations that are stamped, by operation and outcome and in each by phase. */
function measure(history: History): { ofPhases: Float64Array[][]; unstamped: number; faults: boolean } {
  const { operations: ops } = history;
  const trusted = trustedClients(history);
  const inForce = new InForce(history);
  const groups = OPS.length * OUTCOMES * PHASES.length;
  /** By row: operation, outcome and phase in one number; -1 where it is not measured. */
  const group = new Int8Array(ops.count);
  const sizes = new Int32Array(groups);
  let unstamped = 0;
  for (let row = 0; row < ops.count; row++) {
    group[row] = -1;
    if (ops.op[row] === OP.clock) continue;
    if (!trusted[ops.client[row]!] || !(ops.endedNs[row]! >= ops.beganNs[row]!)) {
      unstamped++;
      continue;
    }
    const phase = inForce.phase(ops.beganNs[row]!, ops.endedNs[row]!);
    group[row] = (ops.op[row]! * OUTCOMES + ops.outcome[row]!) * PHASES.length + phase;
    sizes[group[row]!]!++;
  }
  const lengthsNs = Array.from(sizes, (size) => new Float64Array(size));
  const filled = new Int32Array(groups);
  for (let row = 0; row < ops.count; row++) {
    const of = group[row]!;
    if (of >= 0) lengthsNs[of]![filled[of]!++] = ops.endedNs[row]! - ops.beganNs[row]!;
  }
  const ofPhases = Array.from({ length: OPS.length * OUTCOMES }, (_, n) =>
    lengthsNs.slice(n * PHASES.length, (n + 1) * PHASES.length),
  );
  return { ofPhases, unstamped, faults: inForce.any };
}

function joined(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** When any fault was in force: times that do not touch, in order. */
class InForce {
  private readonly fromNs: number[] = [];
  private readonly untilNs: number[] = [];

  constructor(history: History) {
    for (const fault of faultsInForce(history).sort((a, b) => a.fromNs - b.fromNs)) {
      const last = this.untilNs.length - 1;
      if (last >= 0 && fault.fromNs <= this.untilNs[last]!)
        this.untilNs[last] = Math.max(this.untilNs[last]!, fault.untilNs);
      else {
        this.fromNs.push(fault.fromNs);
        this.untilNs.push(fault.untilNs);
      }
    }
  }

  get any(): boolean {
    return this.fromNs.length > 0;
  }

  /** Index into PHASES. An operation during any part of which a fault was in force ran while it was. */
  phase(beganNs: number, endedNs: number): number {
    const begun = firstIndex(this.fromNs.length, (at) => this.fromNs[at]! > endedNs);
    if (begun === 0) return 0;
    return this.untilNs[begun - 1]! >= beganNs ? 1 : 2;
  }
}
