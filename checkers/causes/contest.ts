/**
 * Two leases over one key on the same servers: for every node that granted the second holder, why did the first holder's
 * grant not stand in its way? That is a contest, and each `Reason` beside this file may explain it.
 */

import { stores } from '../../harness/record/facts/commands/changes.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import type { Grant } from '../../harness/record/facts/grants.js';
import { type KeyWrite, keeps, removes } from '../../harness/record/facts/key-writes.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { moment } from '../../harness/record/facts/words.js';
import type { CauseLink, CauseName, Hold } from '../../harness/vocabulary/verdict.js';
import { mayHaveGranted } from './votes.js';

export interface Party {
  hold: Hold;
  /** Where and how it was granted. */
  write: KeyWrite;
}

export interface Contest {
  key: string;
  /** Whose grant was there first, and where it was made. */
  earlier: Party;
  /** Who was granted all the same. */
  later: Party;
  /** The earlier grant as the later one's node saw it: itself on the same node, or its replica; undefined if it never came. */
  reached: KeyWrite | undefined;
  /** The first write that took the key from the earlier grant on the later one's node: mostly the later grant itself. */
  gone: KeyWrite;
  /** What removed the earlier holder's key from that node before `gone`, if anything was seen to. */
  removal: KeyWrite | undefined;
}

/** Why an earlier grant did not stand in the way of a later one on one node. */
export interface Explanation {
  name: CauseName;
  sentence: string;
  chain: CauseLink[];
}

/** Explains a contest if the observations show every link of it; otherwise undefined. Coincidence explains nothing. */
export type Reason = (contest: Contest, evidence: Evidence) => Explanation | undefined;

/**
 * The contests of an overlap: on independent nodes, one on each node that may have granted both; elsewhere the one between
 * the two grants, wherever they were made. Empty where it cannot be told of a grant whether it was one.
 */
export function contestsOf(overlap: Overlap, evidence: Evidence): Contest[] {
  const [first, second] = [evidence.grantsOf(overlap.first), evidence.grantsOf(overlap.second)];
  const party = (hold: Hold, { write }: Grant): Party => ({ hold, write });
  if (evidence.majority === undefined) {
    const [a, b] = [first.at(-1), second.at(-1)];
    // What a client says of its own success proves nothing: the server's record shows whether it was granted.
    if (a?.took !== true || b?.took !== true) return [];
    const one = contest(party(overlap.first, a), party(overlap.second, b), evidence);
    return isAnothersCopy(one, evidence) ? [] : [one];
  }
  const contests: Contest[] = [];
  for (const a of first) {
    const b = second.find((grant) => grant.node === a.node);
    if (!b || a.took === false || b.took === false) continue;
    // Whether it granted both is not known, and so not whether that needs an explanation.
    if (!a.took || !b.took) return [];
    contests.push(contest(party(overlap.first, a), party(overlap.second, b), evidence));
  }
  return decides(overlap, contests, evidence) ? contests : [];
}

/**
 * Whether what came to the later grant's node may have been another grant's that stored the same value: one of before that had
 * not come there yet, or one of after.
 */
function isAnothersCopy({ key, earlier, reached }: Contest, evidence: Evidence): boolean {
  const { write } = earlier;
  if (!reached || reached === write) return false;
  const alike = (one: KeyWrite) => one !== write && one.effect === 'take' && one.value === write.value;
  const others = evidence.writes(write.node, key).filter((one) => alike(one) && one.took !== false);
  return others.some(
    ({ ranNs }) =>
      ranNs <= reached.atNs &&
      (ranNs > write.ranNs || evidence.replicated(reached.node, key, write.value, ranNs, reached) === undefined),
  );
}

/** Whether, had these nodes granted only one of the two, the other one would not have had a majority. */
function decides({ first, second }: Overlap, contests: readonly Contest[], evidence: Evidence): boolean {
  const contested = new Set(contests.map(({ later }) => later.write.node));
  const others = evidence.voters.filter((node) => !contested.has(node));
  return [first, second].some(
    (hold) => others.filter((node) => mayHaveGranted(node, hold, evidence)).length < evidence.majority!,
  );
}

function contest(one: Party, other: Party, evidence: Evidence): Contest {
  const sameNode = one.write.node === other.write.node;
  // On one node its own order counts; between nodes, who had the answer first.
  const oneFirst = sameNode ? one.write.observation < other.write.observation : one.hold.fromNs <= other.hold.fromNs;
  const [earlier, later] = oneFirst ? [one, other] : [other, one];
  const key = later.hold.key;
  const { node, value } = earlier.write;
  const reached =
    node === later.write.node
      ? earlier.write
      : evidence.replicated(later.write.node, key, value, earlier.hold.grantSentNs, later.write);
  return {
    key,
    earlier,
    later,
    reached,
    ...(reached ? fate(reached, later.write, key, evidence) : { gone: later.write, removal: undefined }),
  };
}

/**
 * What became of a key. Say c1's was forgotten in a restart, c2 took it and released it again, and c3 took it: c1 lost it to
 * c2, and c2's release removed c2's own key. So a removal counts only where it may have removed c1's value, and only if no
 * other client may have taken the key before it.
 */
function fate(
  reached: KeyWrite,
  later: KeyWrite,
  key: string,
  evidence: Evidence,
): { gone: KeyWrite; removal: KeyWrite | undefined } {
  let removal: KeyWrite | undefined;
  let mayBeTaken = false;
  for (const write of evidence.writesBetween(reached, later, key)) {
    // While the node was not watched, any client may have taken it.
    mayBeTaken ||= !evidence.watchedThroughout(later.node, reached.atNs, write.atNs);
    if (write.effect === 'remove' && !mayBeTaken && removes(write, reached.value) !== 'no') removal ??= write;
    const anew = write.effect === 'take' && !(write.client === reached.client && write.value === reached.value);
    if (!anew || write.took === false || leaves(write, reached.value)) continue;
    if (write.took) return { gone: write, removal };
    mayBeTaken = true;
  }
  return { gone: later, removal };
}

/** Whether a write stored the owner's value again where it was: one that found it gone is a grant of its own. */
function leaves(write: KeyWrite, owner: string | undefined): boolean {
  if (owner === undefined || !write.before) return false;
  return keeps(write, owner) && stores(write.before, owner) === 'yes';
}

/** A grant ran by then: its line may have been read later, but its client had the answer. */
export function ranBy({ hold, write }: Party): number {
  return Math.min(write.ranNs, write.atNs, Math.max(hold.fromNs, hold.grantSentNs));
}

/** The link that shows a grant. */
export function grantLink({ hold, write }: Party): CauseLink {
  return {
    atNs: write.atNs,
    text: `${write.node} granted ${hold.key} to ${hold.client} (${write.command})`,
    observation: write.observation,
  };
}

/** The link that shows to whom the key went first, if that was a third one. */
export function goneLink({ gone, later, key }: Contest): CauseLink[] {
  if (gone === later.write) return [];
  const to = gone.client ?? `somebody at ${gone.source}`;
  return [
    { atNs: gone.atNs, text: `${gone.node} let ${to} have ${key} (${gone.command})`, observation: gone.observation },
  ];
}

/** The link that shows until when the earlier lease ran. */
export function leaseLink({ hold }: Party): CauseLink {
  return {
    atNs: hold.leaseEndNs,
    text: `until ${moment(hold.leaseEndNs)} ${hold.client}'s lease would have run`,
    history: hold.evidence.at(1),
  };
}
