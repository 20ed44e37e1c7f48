/** The thread of `early-end.ts`: judges what a run has recorded so far until something is found twice. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { findingsOfOne, judgesAtAnyTime } from '../../checkers/index.js';
import { bearingOf } from '../../harness/record/facts/blame.js';
import type { Violation } from '../../harness/vocabulary/verdict.js';
import { readInput } from './judge.js';

const LOOK_EVERY_MS = 500;
/** Of the time, how much may go into looking, however long the run. */
const LOOKING = 0.1;

const folder = workerData as string;
let before: Violation | undefined;
for (let found = false; !found; ) {
  const beganMs = performance.now();
  const now = await firstFinding();
  // What was on its way to the record when it was first looked at has come by the second time.
  found = before !== undefined && now !== undefined;
  if (found) parentPort!.postMessage(`found ${now!.class} (${now!.kind}) on ${now!.key}`);
  before = now;
  // The second look, too, may take long; but the run that goes on meanwhile costs more.
  const spareMs = now === undefined ? (performance.now() - beganMs) / LOOKING : 0;
  await sleep(Math.max(LOOK_EVERY_MS, spareMs));
}

async function firstFinding(): Promise<Violation | undefined> {
  if (!existsSync(join(folder, 'history.jsonl'))) return undefined;
  const { input, judges } = await readInput(folder);
  for (const checker of judges.filter(judgesAtAnyTime)) {
    const { violations } = findingsOfOne(checker, input);
    const failing = violations.find((violation) => bearingOf(violation, input.config.failOn) === 'fails');
    if (failing) return failing;
  }
  return undefined;
}
