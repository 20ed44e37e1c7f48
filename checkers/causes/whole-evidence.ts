/** What servers stored in a run, worked out from its beginning, when they had nothing: a run starts servers of its own. */
import { Evidence } from '../../harness/record/facts/evidence.js';
import { missingObservations } from '../../harness/record/facts/missing-observations.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';

/** With more commands than these it is not worked out: all that was stored would have to be kept. */
const MOST_COMMANDS = 1_000_000;

const made = new WeakMap<object, Evidence>();

/** Made once for each run, when it is first asked for; undefined where there are too many commands, or lines are missing. */
export function wholeEvidenceOf(input: CheckInput): Evidence | undefined {
  const { history, observations } = input;
  if (tooManyCommands(input) !== undefined || missingObservations(input) !== undefined) return undefined;
  let evidence = made.get(observations);
  if (!evidence) {
    const deployed = history.rare.some((event) => event.type === 'deployment');
    const beganNs = deployed ? (history.operations.sentNs[0] ?? Number.NEGATIVE_INFINITY) : Number.NEGATIVE_INFINITY;
    evidence = new Evidence(input, undefined, beganNs);
    made.set(observations, evidence);
  }
  return evidence;
}

/** Why what servers stored is not worked out, if it is not. */
export function tooManyCommands(
  { observations: { commandCount } }: CheckInput,
  most = MOST_COMMANDS,
): string | undefined {
  return commandCount > most
    ? `${commandCount} commands of clients were observed, and of more than ${most} it is not worked out what servers stored`
    : undefined;
}
