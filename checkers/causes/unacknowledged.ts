/**
 * What a failover lost had been granted though no replica had it, to a lock that had asked for as many and did not look at the answer.
 *
 * Example: c1's SET on r1 is followed by `WAIT 2 470`. r1 is cut off from r2 and r3, so that WAIT answers 0 when its time is over, and
 * that is no error; c1 takes the lock all the same. r2 is promoted without it, and grants it to c2.
 *
 * Named in place of `failover-lost-write` and `split-brain`, where one of these is proven and, besides: the next command of the
 * granted client's connection that the record has asked for the acknowledgement of one replica at least, and had run when the lock
 * was granted; and faults that read themselves back let nothing that its server sent come to any other server, from before the
 * attempt had left until it was granted.
 *
 * Excludes what one replica may have had: a lock may ask for more than it needs.
 */
import type { Evidence } from '../../harness/record/facts/evidence.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { CauseLink } from '../../harness/vocabulary/verdict.js';
import type { Reason } from './contest.js';
import type { Party } from './meanwhile.js';

/** `whose`: the grant that no replica had. */
export function unlessAcknowledged(reason: Reason, whose: 'earlier' | 'later', { observations }: CheckInput): Reason {
  return (contest, evidence) => {
    const cause = reason(contest, evidence);
    const asked = cause && askedInVain(contest[whose], evidence, observations);
    if (!asked) return cause;
    const { client } = contest[whose].hold;
    return {
      name: 'granted-unacknowledged',
      sentence: `${cause.sentence.replace(/\.$/, '')}; ${client} had asked for the acknowledgement of replicas (${asked.command}) while ${contest[whose].write.node} could reach none, and took the lock all the same.`,
      chain: [...cause.chain, asked.link].sort((a, b) => a.atNs - b.atNs),
    };
  };
}

function askedInVain(
  { hold, write }: Party,
  evidence: Evidence,
  observations: CheckInput['observations'],
): { command: string; link: CauseLink } | undefined {
  const { node, source } = write;
  const others = evidence.nodes.filter((other) => other !== node);
  if (others.length === 0) return undefined;
  if (!others.every((other) => evidence.effects.whyApart(node, other, hold.grantSentNs, hold.fromNs))) return undefined;
  for (let line = write.observation + 1; line < observations.length; line++) {
    const next = observations.line(line);
    if (next === undefined || next.atNs > hold.fromNs) return undefined;
    if (next.type !== 'command' || next.node !== node || next.source !== source) continue;
    const command = next.argv[0]!.toUpperCase();
    if (!(replicasAsked(command, next.argv) >= 1)) return undefined;
    const text = `${hold.client} asked for the acknowledgement of replicas (${command}), of which ${node} could reach none`;
    return { command, link: { atNs: next.atNs, text, observation: line } };
  }
  return undefined;
}

/** How many replicas a command waits for; NaN: it is none that does. */
function replicasAsked(command: string, argv: readonly string[]): number {
  if (command === 'WAIT') return Number(argv[1]);
  return command === 'WAITAOF' ? Number(argv[2]) : Number.NaN;
}
