/**
 * Two leases over one key on the same servers: for every node that granted the second holder, why did the first holder's
 * grant not stand in its way? That is a contest, and each `Reason` beside this file may explain it.
 */

import { stores } from '../../harness/record/facts/commands/changes.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import type { Grant } from '../../harness/record/facts/grants.js';
import { type KeyWrite, keeps, RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { moment } from '../../harness/record/facts/words.js';
import type { CauseLink, CauseName, Hold } from '../../harness/vocabulary/verdict.js';
import { isReplicated, type Party, READING_MS } from './meanwhile.js';
import { NO_TENURE, requestLine, type Tenure, tenureOf } from './tenure.js';
import { mayHaveGranted } from './votes.js';

export interface Contest {
  key: string;
  /** Whose grant was there first, and where it was made. */
  earlier: Party;
  /** Who was granted all the same. */
  later: Party;
  /**
   * The earlier grant as the node saw it on which it was lost: itself on the same node, or its replica; undefined if it never
   * came to the later one's.
   */
  reached: KeyWrite | undefined;
  /** The first write that took the key from the earlier grant: mostly the later grant itself. */
  gone: KeyWrite;
  /** What first may have taken the earlier holder's value from the node that had it. */
  tenure: Tenure;
  /** All that is to be asked of; absent: what was observed of the whole deployment. */
  around?: Evidence;
  /** What the later one's node did after its primary, if that is how it lost it; all else is then told of the primary. */
  followed?: KeyWrite;
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
  if (evidence.serversOfVoters) return contestsOfGroups(overlap, evidence, evidence.serversOfVoters);
  const contests: Contest[] = [];
  for (const a of first) {
    const b = second.find((grant) => grant.node === a.node);
    if (!b || a.took === false || b.took === false) continue;
    // Whether it granted both is not known, and so not whether that needs an explanation.
    if (!a.took || !b.took) return [];
    contests.push(contest(party(overlap.first, a), party(overlap.second, b), evidence));
  }
  const contested = new Set(contests.map(({ later }) => later.write.node));
  return decides(overlap, contested, evidence) ? contests : [];
}

/** Of nodes that replicate: one for each that may have granted both, by whichever of its servers, as if it were alone. */
function contestsOfGroups(overlap: Overlap, evidence: Evidence, groups: readonly (readonly string[])[]): Contest[] {
  const contests: Contest[] = [];
  const contested = new Set<string>();
  for (const [n, servers] of groups.entries()) {
    const around = evidence.within(servers);
    const [a, b] = [overlap.first, overlap.second].map((hold) => around.grantsOf(hold).at(-1));
    if (!a || !b || a.took === false || b.took === false) continue;
    if (!a.took || !b.took) return [];
    const one = contest({ hold: overlap.first, write: a.write }, { hold: overlap.second, write: b.write }, around);
    if (isAnothersCopy(one, around)) return [];
    contests.push({ ...one, around });
    contested.add(evidence.voters[n]!);
  }
  return decides(overlap, contested, evidence) ? contests : [];
}

/**
 * Whether what came to the later grant's node may have been another grant's that stored the same value: one of before that had
 * not come there yet, or one of after.
 */
function isAnothersCopy({ key, earlier, reached }: Contest, evidence: Evidence): boolean {
  const { write } = earlier;
  if (!reached || reached === write) return false;
  const alike = (one: KeyWrite) => one !== write && one.value === write.value;
  const others = evidence.writes(write.node, key).filter((one) => alike(one) && one.took !== false);
  return others.some(
    ({ ranNs }) =>
      ranNs <= reached.atNs && evidence.replicated(reached.node, key, write.value, ranNs, reached) === undefined,
  );
}

/** Whether, had these nodes granted only one of the two, the other one would not have had a majority. */
function decides({ first, second }: Overlap, contested: ReadonlySet<string>, evidence: Evidence): boolean {
  const others = evidence.voters.filter((node) => !contested.has(node));
  return [first, second].some(
    (hold) => others.filter((node) => mayHaveGranted(node, hold, evidence)).length < evidence.majority!,
  );
}

function contest(one: Party, other: Party, evidence: Evidence): Contest {
  const sameNode = one.write.node === other.write.node;
  // On one node its own order counts; between nodes, who had the answer first, as overlaps are told.
  const oneFirst = !sameNode || one.write.observation < other.write.observation;
  const [earlier, later] = oneFirst ? [one, other] : [other, one];
  const key = later.hold.key;
  const { node, value } = earlier.write;
  const contested = { key, earlier, later };
  if (node === later.write.node) return { ...contested, ...fate(earlier.write, earlier, later.write, evidence) };
  const copy = evidence.replicated(later.write.node, key, value, earlier.hold.grantSentNs, later.write);
  if (!copy) return { ...contested, reached: undefined, gone: later.write, tenure: NO_TENURE };
  return { ...contested, ...fateOfCopy(copy, contested, evidence) };
}

type Fate = Pick<Contest, 'reached' | 'gone' | 'tenure' | 'followed'>;

/**
 * What became of a key. Say c1's was forgotten in a restart, c2 took it and released it again, and c3 took it: c1 lost it to
 * c2, and c2's release removed c2's own key.
 */
function fate(reached: KeyWrite, earlier: Party, later: KeyWrite, evidence: Evidence): Fate {
  const gone = firstTaken(reached, earlier, later, evidence);
  return { reached, gone, tenure: tenureOf(reached, earlier, evidence, gone) };
}

/** The write by which somebody else first got the key after one that had stored it: the later grant, if no other did before. */
export function firstTaken(reached: KeyWrite, { hold }: Party, later: KeyWrite, evidence: Evidence): KeyWrite {
  return takenAnew(reached, evidence.writesBetween(reached, later, hold.key)) ?? later;
}

/**
 * A replica does what its primary did. So where it lost the key by what came over the link, the question is how the primary
 * lost it, which has granted it: to that write or that removal, by an eviction, or because it had expired there.
 */
function fateOfCopy(
  copy: KeyWrite,
  { earlier, later, key }: Pick<Contest, 'key' | 'earlier' | 'later'>,
  evidence: Evidence,
): Fate {
  const here = fate(copy, earlier, later.write, evidence);
  const [loss] = here.tenure.losses;
  const line = loss?.by && requestLine(loss.by);
  const followed = loss ? evidence.writes(copy.node, key).find(({ observation }) => observation === line) : here.gone;
  if (!here.tenure.held || !followed || !isReplicated(followed, evidence)) return here;
  const { write } = earlier;
  const after = evidence.writes(write.node, key).filter(({ observation }) => observation > write.observation);
  const taken = takenAnew(write, after);
  const tenure = tenureOf(write, earlier, evidence, taken);
  const there = { reached: write, followed };
  const isSoon = (fromNs: number) => fromNs <= followed.atNs;
  // What removed it there came here as that removal; who took it there came here as the next one.
  const [lost] = tenure.losses;
  if (lost && lost.how !== 'expired' && isSoon(lost.ranFromNs)) return { ...there, gone: later.write, tenure };
  if (taken && taken.value === here.gone.value && isSoon(ranFrom(taken)) && here.gone !== later.write)
    return { ...there, gone: taken, tenure };
  return { ...there, gone: later.write, tenure: NO_TENURE };
}

/** The first write by which somebody got the key who did not have it. */
function takenAnew(reached: KeyWrite, writes: readonly KeyWrite[]): KeyWrite | undefined {
  return writes.find((write) => {
    const isAgain = write.client !== undefined && write.client === reached.client && write.value === reached.value;
    return write.effect === 'take' && write.took === true && !isAgain && !leaves(write, reached.value!);
  });
}

/** Whether a write stored the owner's value again where it was: one that found it gone is a grant of its own. */
function leaves(write: KeyWrite, owner: string): boolean {
  return keeps(write, owner) && stores(write.before!, owner) === 'yes';
}

/**
 * Whether the one who got the key asked what it holds: by the command that stored, or in whose answer that is told, or before that in the
 * same attempt, but not before the key may have gone. Say c2's plain SET stores whatever is there: it is granted the lock be the key lost
 * or not, and be it for another one who was let in before. Of a third one no attempt is known.
 */
export function hasAsked({ earlier, later, gone, tenure, key }: Contest, evidence: Evidence): boolean {
  const { write } = later;
  if (gone.blind && gone !== write) return false;
  if (!write.blind) return true;
  const [loss] = tenure.losses;
  const mayHaveFoundNone = ({ observation, atNs }: KeyWrite) => {
    // What a server prints is in order; that it was evicted or over is learnt of at some time after.
    if (loss?.how === 'gap' || loss?.how === 'command') return observation > loss.line;
    return atNs >= (loss?.ranFromNs ?? earlier.write.atNs);
  };
  return evidence
    .writes(write.node, key)
    .some(
      (ask) =>
        ask.client === later.hold.client &&
        ask.ranNs > later.hold.grantSentNs - RECKONING_NS &&
        ask.observation < write.observation &&
        mayHaveFoundNone(ask) &&
        !ask.blind,
    );
}

/** A grant ran by then: its line may have been read later, but its client had the answer. */
export function ranBy({ hold, write }: Party): number {
  return Math.min(write.ranNs, write.atNs, Math.max(hold.fromNs, hold.grantSentNs));
}

/** A write ran no earlier than this, as far as its server's clock tells. */
export function ranFrom({ ranNs, atNs }: KeyWrite): number {
  return Math.min(ranNs, atNs);
}

/**
 * Whether the last time that a node was given (by `origin`) was a whole lease, and over by the machine's clock when the next one
 * came, who may have been waiting for just that.
 */
export function wasOver(
  origin: KeyWrite,
  { earlier, gone }: Pick<Contest, 'earlier' | 'gone'>,
  evidence: Evidence,
): boolean {
  const { ttlMs, untilTimeOfDay } = origin;
  if (ttlMs === undefined || untilTimeOfDay || ttlMs < earlier.hold.leaseMs * 0.9) return false;
  return (ranFrom(gone) - ranAtLatest(origin, earlier, evidence)) / 1e6 > ttlMs - READING_MS;
}

/** What set a time ran by then: its line may have been read late, but the client had the answer, or a right clock stood there. */
function ranAtLatest(origin: KeyWrite, { hold, write }: Party, evidence: Evidence): number {
  const readNs = evidence.isPlaced(origin) ? origin.ranNs : Math.max(origin.ranNs, origin.atNs);
  return origin === write ? Math.min(readNs, Math.max(hold.fromNs, hold.grantSentNs)) : readNs;
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

/** The link that shows until when the earlier lease ran, or that there was none. */
export function leaseLink({ hold }: Pick<Party, 'hold'>): CauseLink {
  if (hold.leaseEndNs === Number.POSITIVE_INFINITY)
    return {
      atNs: hold.fromNs,
      text: `${hold.client} was granted ${hold.key} without a lease that ends`,
      history: hold.evidence.at(1),
    };
  return {
    atNs: hold.leaseEndNs,
    text: `until ${moment(hold.leaseEndNs)} ${hold.client}'s lease would have run`,
    history: hold.evidence.at(1),
  };
}
