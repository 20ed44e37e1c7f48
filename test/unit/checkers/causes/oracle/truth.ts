/** Which causes were true of two holds at once, from everything that happened: none of it is read from the record. */
import type { LockClient } from './client.js';
import type { Attempt, LivedHold, Loss } from './grants.js';
import type { Node } from './node.js';
import { MS } from './simulation.js';

export interface Lived {
  nodes: readonly Node[];
  clients: readonly LockClient[];
  leaseMs: number;
  /** How many independent nodes make a majority; undefined: one logical server. */
  majority: number | undefined;
}

/** Clocks and deadlines are not compared more finely. */
const BLUR_MS = 3;

/** Why a lock was held by both although both leases ran. */
export function trueCauses(one: LivedHold, other: LivedHold, lived: Lived): Set<string> {
  const [a, b] = [one.attempt, other.attempt];
  if (lived.majority !== undefined) {
    const minority = [a, b].some((attempt) => votesOf(attempt) < lived.majority!);
    const none = [a, b].some((attempt) => votesOf(attempt) === 0);
    const shared = lived.nodes.filter(({ name }) => a.stored.has(name) && b.stored.has(name));
    return new Set([
      ...(minority ? ['minority-granted'] : []),
      ...(none ? ['never-granted'] : []),
      ...shared.flatMap((node) => contest(a, b, node)),
    ]);
  }
  if (a.stored.size === 0 || b.stored.size === 0) return notStored(a, b, lived);
  const found = new Set<string>();
  // Where each was answered by another server, and the two travelled at once, either may be called the first.
  const nodeOf = ({ stored }: Attempt) => lived.nodes.find(({ name }) => stored.has(name))!;
  const [nodeA, nodeB] = [nodeOf(a), nodeOf(b)];
  if (nodeA === nodeB) return new Set(contest(a, b, nodeA));
  const ranA = a.stored.get(nodeA.name)!;
  const ranB = b.stored.get(nodeB.name)!;
  if (ranA < ranB || one.fromNs <= other.fromNs)
    for (const name of letIn(b, between(a, nodeA, b, nodeB))) found.add(name);
  if (ranB < ranA || other.fromNs <= one.fromNs)
    for (const name of letIn(a, between(b, nodeB, a, nodeA))) found.add(name);
  return found;
}

/** Whether too few servers had stored the grant of a hold that its client says it has. */
export function trueRefusal({ attempt }: LivedHold, { majority }: Lived): Set<string> {
  const votes = votesOf(attempt);
  const names = majority !== undefined && votes < majority ? ['minority-granted'] : [];
  return new Set(votes === 0 ? ['never-granted', ...names] : names);
}

/**
 * How many nodes had it, by the promise of both causes: one that had kept what the client itself had stored before has it, too. Say
 * c1 forgets to release, and three of five nodes still have its own when it asks again: it is theirs to grant, and its lease that is
 * too long, of which `adopted-stale-key` tells on one server and no cause on several.
 */
function votesOf({ client, stored, adoptedOn }: Attempt): number {
  const kept = [...adoptedOn].filter(([node, { copy }]) => copy.attempt.client === client && !stored.has(node));
  return stored.size + kept.length;
}

/** Whether what its client took for a grant was its own, and not another's by the same name. */
function adoptedOwn({ client, adopted }: Attempt): boolean {
  return adopted?.copy.attempt.client === client;
}

/** One of the two stored nothing: there was nothing of it, or what its client had stored for something earlier. */
function notStored(a: Attempt, b: Attempt, lived: Lived): Set<string> {
  const none = [a, b].filter(({ stored }) => stored.size === 0);
  if (none.some((attempt) => !adoptedOwn(attempt)))
    return new Set(['never-granted', ...(none.some(({ adopted }) => adopted) ? ['shared-owner'] : [])]);
  const adopted = none[0]!.adopted!;
  const node = lived.nodes.find(({ name }) => name === adopted.node)!;
  const other = none[0] === a ? b : a;
  const ranNs = other.stored.get(node.name);
  const loss = adopted.copy.attempt.losses.find(({ node: at, atNs }) => at === node.name && atNs >= adopted.atNs);
  if (ranNs === undefined || loss?.how !== 'expired' || loss.atNs > ranNs) return new Set();
  const { asked } = loss;
  const isMoved = Math.abs(loss.jumpedMs - asked.jumpedMs) + Math.abs(loss.driftedMs - asked.driftedMs) > BLUR_MS;
  return new Set(isMoved || asked.by !== none[0]!.client ? [] : ['adopted-stale-key']);
}

/** Both were asked of the same node. */
function contest(a: Attempt, b: Attempt, node: Node): string[] {
  const [earlier, later] = a.stored.get(node.name)! < b.stored.get(node.name)! ? [a, b] : [b, a];
  return letIn(later, lostBy(earlier, later, node));
}

/** Who stores whatever is there was let in by nothing that became of it before. */
function letIn(later: Attempt, names: readonly string[]): string[] {
  return names.filter((name) => !later.isBlind || name === 'overwritten');
}

/** The later one was granted by another node than the earlier one. */
function between(earlier: Attempt, from: Node, later: Attempt, to: Node): string[] {
  const ranNs = later.stored.get(to.name)!;
  const cameNs = earlier.reached.get(to.name);
  if (cameNs !== undefined && cameNs <= ranNs)
    return [...lostBy(earlier, later, to), ...renewalLost(earlier, from, to, ranNs)];
  return [replacing(from, earlier.stored.get(from.name)!, to, ranNs)];
}

/** Its time was over where the next one took it, and would not have been, had that node had what its client was given elsewhere. */
function renewalLost({ client, losses, prolonged }: Attempt, from: Node, to: Node, takenNs: number): string[] {
  const loss = losses.findLast(({ node, atNs }) => node === to.name && atNs <= takenNs);
  if (loss?.how !== 'expired') return [];
  const came = new Set(loss.copy.ends.map(({ expiresMs }) => expiresMs));
  const wouldHaveLasted = prolonged.some(
    ({ node, by, ns, ttlMs, expiresMs }) =>
      node === from.name && by === client && ns <= takenNs && !came.has(expiresMs) && ns + ttlMs * MS > takenNs,
  );
  return wouldHaveLasted ? ['failover-lost-renewal'] : [];
}

/** Why a node lacked at an instant what another one had made before: which of the two had been promoted later. */
function replacing(from: Node, madeNs: number, to: Node, lackedNs: number): string {
  const promotedNs = (node: Node, byNs: number) => node.promotedNs.findLast((ns) => ns <= byNs) ?? -1;
  // What the first one became afterwards, another grant's primary say, tells nothing of this one.
  return promotedNs(from, madeNs) > promotedNs(to, lackedNs) ? 'split-brain' : 'failover-lost-write';
}

/** How the earlier grant was lost on a node by the time at which the later one was made there. */
function lostBy(earlier: Attempt, later: Attempt, node: Node): string[] {
  const ranNs = later.stored.get(node.name)!;
  const names: string[] = [];
  // A write of the same value leaves the owner's name where it is: what befell that one befell it, too.
  const sameName = new Set([earlier]);
  for (const attempt of sameName)
    for (const loss of attempt.losses) {
      if (loss.node !== node.name || loss.atNs > ranNs) continue;
      names.push(...causesOf(loss, earlier, ranNs));
      // If that cannot be known: whatever would have ended it all the same.
      if (loss.isUnseen && loss.how !== 'expired') names.push(...wouldHaveExpired(loss, node, ranNs, earlier));
      if ('to' in loss && loss.to?.value === earlier.value && loss.to !== later) sameName.add(loss.to);
    }
  return names;
}

function causesOf(loss: Loss, attempt: Attempt, takenNs: number): string[] {
  const { client } = attempt;
  switch (loss.how) {
    case 'evicted':
      return ['evicted'];
    case 'forgot':
      return ['node-forgot'];
    case 'resync':
      return ['failover-lost-write'];
    case 'overwritten':
      return loss.to.client === client ? [] : ['overwritten'];
    case 'taken-over':
      // By right clocks it would have been refused.
      return loss.to.client !== client && loss.rightUntilMs > loss.rightNowMs ? ['taken-over-by-clock'] : [];
    case 'reentered':
      return loss.to.client === client ? [] : ['shared-owner'];
    case 'deleted':
      if (loss.by === client && loss.extends) return ['lease-too-short'];
      if (loss.by === client) return loss.of && loss.of !== attempt ? ['released-by-itself'] : [];
      return loss.compared ? ['shared-owner', 'released-by-other'] : ['released-by-other'];
    case 'expired':
      return expiredBy(loss, attempt, takenNs);
  }
}

function wouldHaveExpired({ copy, ...loss }: Loss, node: Node, atNs: number, attempt: Attempt): string[] {
  const clock = node.clock(atNs);
  if (clock.wallMs <= copy.expiresMs) return [];
  return expiredBy({ ...loss, how: 'expired', copy, asked: copy.asked, ...clock, atNs }, attempt, atNs);
}

/** A key expired: by a clock that had moved, if it would be there without; because too little was asked, likewise. */
function expiredBy(loss: Extract<Loss, { how: 'expired' }>, { client, leaseMs }: Attempt, takenNs: number): string[] {
  const { asked, copy } = loss;
  const passedMs = (loss.atNs - asked.ns) / MS;
  const jumpedMs = loss.jumpedMs - asked.jumpedMs;
  const driftedMs = loss.driftedMs - asked.driftedMs;
  const names: string[] = [];
  if (copy.forgottenUntilMs !== undefined && copy.forgottenUntilMs > loss.wallMs) names.push('node-forgot');
  // By the last of those that others gave it in a row, and not by the one before one of them.
  const last = copy.ends.findLastIndex(({ by }) => by === client);
  if (copy.ends.slice(last, -1).some(({ expiresMs }) => expiresMs > loss.wallMs)) names.push('shortened-by-other');
  if (asked.by !== client) return names;
  const isShort = asked.ttlMs < leaseMs - BLUR_MS;
  const moved = jumpedMs + driftedMs;
  const byClock = passedMs < asked.ttlMs + BLUR_MS && moved > BLUR_MS;
  const wouldHaveLasted = loss.wallMs < asked.wallMs + leaseMs + BLUR_MS;
  if (byClock || (isShort && moved > BLUR_MS && !wouldHaveLasted)) {
    if (jumpedMs > BLUR_MS) names.push('clock-jumped');
    if (driftedMs > BLUR_MS) names.push('clock-ran-fast');
  }
  // By when the next one took it the shorter time would have been over in any case.
  const shortLater = (takenNs - asked.ns) / MS > asked.ttlMs;
  if (isShort && (wouldHaveLasted || !byClock || shortLater)) names.push('lease-too-short');
  return names;
}

/** Why a client acted as a holder beyond its lease. */
export function trueStaleCauses(hold: LivedHold, leaseEndNs: number, lived: Lived): Set<string> {
  const client = lived.clients.find(({ name }) => name === hold.client)!;
  const found = new Set<string>();
  if (hold.fromNs > leaseEndNs) found.add('granted-late');
  const inForce = (spans: LockClient['stops']) =>
    spans.some(({ fromNs, untilNs }) => fromNs <= leaseEndNs && untilNs >= leaseEndNs);
  if (inForce(client.stops)) found.add('client-paused');
  // Who has to work for longer than its lease needs no cut for that.
  else if (!hold.renews && (!inForce(client.cuts) || hold.workMs > hold.attempt.leaseMs)) found.add('client-slow');
  // Whatever kept it from renewing, one that ran could have looked at its clock.
  else if (hold.renews && ranBetween(client, leaseEndNs, hold.overNs)) found.add('not-told');
  if (hold.renews && (hold.renewalCut || nothingPassed(client, hold, leaseEndNs)) && inForce(client.cuts))
    found.add('client-cut-off');
  return found;
}

/**
 * Whether no renewal could have come to a server from before the first one was due until the lease was over. That the client was
 * not run either, or its watchdog was dead, takes nothing from that: each of the two would have sufficed.
 */
function nothingPassed({ cuts }: LockClient, { attempt: { leaseMs } }: LivedHold, leaseEndNs: number): boolean {
  const dueNs = leaseEndNs - leaseMs * MS * (2 / 3);
  return cuts.some(({ fromNs, untilNs }) => fromNs <= dueNs && untilNs >= leaseEndNs);
}

/** Whether its client ran at any time between the two instants, but for the moment before the second. */
function ranBetween({ stops, stalls }: LockClient, fromNs: number, untilNs: number): boolean {
  const spans = [...stops, ...stalls].sort((a, b) => a.fromNs - b.fromNs);
  let stoodNs = fromNs;
  for (const span of spans) if (span.fromNs <= stoodNs) stoodNs = Math.max(stoodNs, span.untilNs);
  return stoodNs < untilNs - 1 * MS;
}

/** Why a fencing token did not rise, of locks that count it on the one logical server. */
export function trueTokenCauses(earlier: LivedHold, later: LivedHold, lived: Lived): Set<string> {
  const [a, b] = [earlier.attempt, later.attempt];
  if (later.draw && later.draw.ns < b.sentNs) return drawnEarly(earlier.draw, later.draw, lived);
  const [from] = lived.nodes.filter(({ name }) => a.stored.has(name));
  const [to] = lived.nodes.filter(({ name }) => b.stored.has(name));
  if (!from || !to) return new Set();
  const ranNs = b.stored.get(to.name)!;
  const cameNs = from === to ? a.stored.get(from.name)! : a.reached.get(to.name);
  if (cameNs === undefined || cameNs > ranNs) return new Set(between(a, from, b, to));
  return countLost(to, cameNs, ranNs);
}

/** The later grant's token was counted up before that was asked for; what befell the lock did not befall the count. */
function drawnEarly(one: LivedHold['draw'], other: LivedHold['draw'], lived: Lived): Set<string> {
  if (!one || !other) return new Set();
  const [from, to] = [one, other].map(({ node }) => lived.nodes.find(({ name }) => name === node)!) as [Node, Node];
  if (other.ns < one.ns) return new Set(from === to ? ['token-drawn-early'] : []);
  const lost = countLost(to, one.ns, other.ns);
  // It came to no more than the first one, so it was without that: it never had it, if it did not lose it.
  return from === to || lost.size > 0 ? lost : new Set([replacing(from, one.ns, to, other.ns)]);
}

/** How a node lost the count between the two instants. */
function countLost({ countLosses }: Node, fromNs: number, untilNs: number): Set<string> {
  const lost = countLosses.filter(({ atNs }) => atNs >= fromNs && atNs <= untilNs);
  const names: Record<string, string> = {
    forgot: 'node-forgot',
    resync: 'failover-lost-write',
    expired: 'counter-expired',
    evicted: 'evicted',
  };
  return new Set(lost.flatMap(({ how, by }) => names[how] ?? (by === undefined ? [] : 'counter-removed')));
}
