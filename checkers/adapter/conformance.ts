/**
 * Whether what an adapter says is what the servers did. It judges the program between a lock and this tool, never the lock: a lock
 * that is granted to two clients passes, an adapter that says "renewed" of what was refused does not.
 *
 * Promises: a mistake is told only where the record shows it; what is not seen is not told. It cannot see stamps that are too
 * early, which accuse nobody, nor what an adapter knows and keeps to itself.
 */
import { missingObservations } from '../../harness/record/facts/missing-observations.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import { answerRules } from './answers.js';
import { claimRules } from './claims.js';
import type { AdapterFinding } from './finding.js';
import { AdapterRecord } from './record.js';
import { stampRules } from './stamps.js';

export interface Conformance {
  /** Mistakes first. */
  findings: AdapterFinding[];
  /** Why nothing can be concluded from nothing having been found; empty: it can. */
  open: string[];
  /** How many grants were looked at, and how many other answers. */
  grants: number;
  answers: number;
}

/** So many grants show what an adapter says; of fewer it may have said too little to be wrong. */
const ENOUGH_GRANTS = 10;

export function conformance(input: CheckInput): Conformance {
  const record = new AdapterRecord(input);
  const findings = [...answerRules(record), ...stampRules(record), ...claimRules(record)];
  const grants = record.operations.filter(({ op, outcome }) => op === 'acquire' && outcome === 'ok').length;
  const ended = input.history.rare.some((event) => event.type === 'phase' && event.phase === 'end');
  const missing = missingObservations(input);
  const notDone = input.history.rare.flatMap((event) =>
    event.type === 'fault' && (event.state === 'refused' || event.state === 'failed')
      ? [`${event.fault} was not done: ${event.proof}`]
      : [],
  );
  return {
    findings: [...findings].sort((a, b) => Number(a.weight === 'advice') - Number(b.weight === 'advice')),
    open: [
      ...(grants < ENOUGH_GRANTS ? [`${grants} grants are too few to judge by (${ENOUGH_GRANTS} are enough)`] : []),
      ...(ended ? [] : ['the run was cut short']),
      ...(missing === undefined ? [] : [missing]),
      ...notDone,
    ],
    grants,
    answers: record.operations.filter(({ outcome }) => outcome !== 'none').length - grants,
  };
}
