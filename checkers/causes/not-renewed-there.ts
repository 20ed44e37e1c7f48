/**
 * Of independent nodes: one that let a client's time run out, and might. A majority gave the client more time, and this node was
 * none of it; so whether it grants the next one is no matter by itself (Redlock: the extension counts where a majority has made it,
 * https://redis.io/docs/latest/develop/use/patterns/distributed-locks/). It is told beside a cause, and is none.
 *
 * Example: r1 to r5 grant c1, r4 and r5 are cut off from all clients, and c1 renews on r1, r2 and r3. Its first lease runs out on
 * r4 and r5, r2 forgets, and c2 is granted by r2, r4 and r5. Without r2 they would have been too few.
 *
 * Excludes a node that had more of the client's time, or may have, or let it run out before it was over by the machine's clock; and
 * a client whose time would not have stood on a majority when the other one was granted: then its lock had extended too little.
 */
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { type KeyWrite, keeps } from '../../harness/record/facts/key-writes.js';
import { listed } from '../../harness/record/facts/words.js';
import { type Contest, type Explanation, goneLink, grantLink, ranFrom, wasOver } from './contest.js';
import { BLUR_MS, foundNone, lastProlonged, READING_MS } from './meanwhile.js';
import { lostBy } from './tenure.js';

/** One node of which this is so. */
export interface Unrenewed extends Pick<Explanation, 'chain'> {
  node: string;
  /** Whose time was over, and where it had been given more: the same of every node that one request did not renew. */
  what: string;
}

export function notRenewedThere(contest: Contest, evidence: Evidence): Unrenewed | undefined {
  const { earlier, reached, gone, tenure, key } = contest;
  const { majority } = evidence;
  if (majority === undefined || !reached || !lostBy(tenure, 'expired') || !foundNone(contest)) return undefined;
  const { origin } = lastProlonged(reached, contest, evidence);
  if (!origin || !wasOver(origin, contest, evidence)) return undefined;
  const renewed = evidence.voters.flatMap((node) => renewalOn(node, contest, evidence) ?? []);
  if (renewed.length < majority) return undefined;
  const { client } = earlier.hold;
  return {
    node: gone.node,
    what: `${client}'s time was over; its renewal was on ${listed(renewed.map(({ node }) => node))}, a majority.`,
    chain: [
      grantLink(earlier),
      {
        atNs: origin.atNs,
        text: `${gone.node} gave ${client}'s ${key} time for the last time (${origin.command})`,
        observation: origin.observation,
      },
      ...renewed.map(({ node, atNs, command, observation }) => ({
        atNs,
        text: `${node} gave ${client}'s ${key} more time (${command})`,
        observation,
      })),
      ...goneLink(contest),
      grantLink(contest.later),
    ],
  };
}

/** Nodes of which the same is so are named together. */
export function unrenewedSentences(all: readonly Unrenewed[]): string[] {
  const whats = [...new Set(all.map(({ what }) => what))];
  const nodesOf = (what: string) => all.filter((one) => one.what === what).map(({ node }) => node);
  return whats.map((what) => `On ${listed(nodesOf(what))} ${what}`);
}

/**
 * The last request by which the holder was given time on a node before the other one's attempt left; undefined where that would
 * not have stood until the attempt was answered.
 */
function renewalOn(node: string, { earlier, later, key }: Contest, evidence: Evidence): KeyWrite | undefined {
  const grant = evidence.grantsOf(earlier.hold).find((one) => one.node === node && one.took);
  if (!grant) return undefined;
  const { value, observation } = grant.write;
  const last = evidence
    .writes(node, key)
    .findLast(
      (write) =>
        write.observation > observation &&
        write.effect === 'prolong' &&
        write.client === earlier.hold.client &&
        Math.max(write.ranNs, write.atNs) < later.hold.grantSentNs &&
        keeps(write, value),
    );
  return last && standsUntilNs(last, evidence) > later.hold.fromNs ? last : undefined;
}

/** When the time was over at the earliest that a request left a key, if nothing moved the server's clock. */
function standsUntilNs(write: KeyWrite, evidence: Evidence): number {
  const leftMs = write.after!.expires.fromMs - write.serverWallMs;
  return ranFrom(write) + (leftMs - (evidence.isPlaced(write) ? BLUR_MS : READING_MS)) * 1e6;
}
