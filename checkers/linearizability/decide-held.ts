/**
 * Decides every key of a run under the reading of the verdict's classes (`held.ts`): a second procedure beside the sweep of
 * `mutual-exclusion`, for accusations and for their absence.
 */

import { once } from '../../harness/record/facts/once.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import { decide } from './decide.js';
import { type HeldAs, type HeldKey, heldHistory, heldKeys, isActedOnLate } from './held.js';
import { BUDGET_OF_RUNS, type DecideOptions, type Decision, type Reading } from './types.js';
import { BadLinearization } from './verify.js';

/** What can be decided of a key, and why: a proof of what is impossible, or what was left open. */
export interface HeldDecision {
  verdict: Decision['verdict'];
  /** Which procedure decided: `cores`, `lease-greedy`, `search`. */
  procedure: string;
  why: string[];
}

export interface HeldVerdict {
  key: string;
  /** Whether all holds can have been granted while each one's lease certainly ran on, or something had ended it. Invalid: exclusion. */
  leased: HeldDecision;
  /** The same where who acted on for long after its lease still held. Invalid: exclusion, or a stale holder. */
  acted: HeldDecision;
}

const OPTIONS: DecideOptions = { witnesses: 1, search: BUDGET_OF_RUNS };
const READING: Reading = { failedReleaseEnds: false, leases: true, triesInform: false };

/** Decided once for each run that is judged. */
export const decideHeld = once(({ history, model }: CheckInput): HeldVerdict[] =>
  Array.from(heldKeys(history), (key) => {
    const leased = decideAs(history, key, model, 'leased');
    return { key: key.key, leased, acted: isActedOnLate(key) ? decideAs(history, key, model, 'acted') : leased };
  }),
);

function decideAs(history: History, key: HeldKey, model: LockModel, as: HeldAs): HeldDecision {
  if (model.kind === 'read-write' && key.upgrades)
    return {
      verdict: 'unknown',
      procedure: 'none',
      why: ['a client was granted it for writing while it had it already'],
    };
  try {
    const decision = decide(heldHistory(history, key, as), asHeld(model), READING, OPTIONS);
    const { verdict, procedure, witnesses, notes } = decision;
    return { verdict, procedure, why: witnesses.length > 0 ? witnesses.map(({ proof }) => proof) : notes };
  } catch (error) {
    // A certificate that fails its own check is a bug of ours, and decides nothing.
    if (!(error instanceof BadLinearization)) throw error;
    return { verdict: 'unknown', procedure: 'none', why: [error.message] };
  }
}

/** Tokens, order and depth are other checkers' business. */
function asHeld(model: LockModel): LockModel {
  if (model.kind === 'fenced' || model.kind === 'fair') return { kind: 'mutex' };
  return model.kind === 'reentrant' ? { ...model, depth: Number.POSITIVE_INFINITY } : model;
}
