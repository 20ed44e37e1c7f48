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
    const minority = [a, b].some(({ stored }) => stored.size < lived.majority!);
    const none = [a, b].some(({ stored }) => stored.size === 0);
    const shared = lived.nodes.filter(({ name }) => a.stored.has(name) && b.stored.has(name));
    return new Set([
      ...(minority ? ['minority-granted'] : []),
      ...(none ? ['never-granted'] : []),
      ...shared.flatMap((node) => contest(a, b, node)),
    ]);
  }
  if (a.stored.size === 0 || b.stored.size === 0) return new Set(['never-granted']);
  const found = new Set<string>();
  // Where each was answered by another server, and the two travelled at once, either may be called the first.
  const nodeOf = ({ stored }: Attempt) => lived.nodes.find(({ name }) => stored.has(name))!;
  const [nodeA, nodeB] = [nodeOf(a), nodeOf(b)];
  if (nodeA === nodeB) return new Set(contest(a, b, nodeA));
  const ranA = a.stored.get(nodeA.name)!;
  const ranB = b.stored.get(nodeB.name)!;
  if (ranA < ranB || one.fromNs <= other.fromNs) for (const name of between(a, nodeA, b, nodeB)) found.add(name);
  if (ranB < ranA || other.fromNs <= one.fromNs) for (const name of between(b, nodeB, a, nodeA)) found.add(name);
  return found;
}

/** Both were asked of the same node. */
function contest(a: Attempt, b: Attempt, node: Node): string[] {
  const [earlier, later] = a.stored.get(node.name)! < b.stored.get(node.name)! ? [a, b] : [b, a];
  return lostBy(earlier, later, node);
}

/** The later one was granted by another node than the earlier one. */
function between(earlier: Attempt, from: Node, later: Attempt, to: Node): string[] {
  const ranNs = later.stored.get(to.name)!;
  const cameNs = earlier.reached.get(to.name);
  if (cameNs !== undefined && cameNs <= ranNs) return lostBy(earlier, later, to);
  const promotedNs = (node: Node, byNs: number) => node.promotedNs.findLast((ns) => ns <= byNs) ?? -1;
  // What the first one became after its grant, another grant's primary say, tells nothing of this one.
  const wasNewer = promotedNs(from, earlier.stored.get(from.name)!) > promotedNs(to, ranNs);
  return wasNewer ? ['split-brain'] : ['failover-lost-write'];
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

function causesOf(loss: Loss, { client, leaseMs }: Attempt, takenNs: number): string[] {
  switch (loss.how) {
    case 'evicted':
      return ['evicted'];
    case 'forgot':
      return ['node-forgot'];
    case 'resync':
      return ['failover-lost-write'];
    case 'overwritten':
      return loss.to.client === client ? [] : ['overwritten'];
    case 'reentered':
      return loss.to.client === client ? [] : ['shared-owner'];
    case 'deleted':
      if (loss.by === client) return [];
      return loss.compared ? ['shared-owner', 'released-by-other'] : ['released-by-other'];
    case 'expired':
      return expiredBy(loss, leaseMs, takenNs);
  }
}

function wouldHaveExpired({ copy, ...loss }: Loss, node: Node, atNs: number, { leaseMs }: Attempt): string[] {
  const clock = node.clock(atNs);
  if (clock.wallMs <= copy.expiresMs) return [];
  return expiredBy({ ...loss, how: 'expired', copy, asked: copy.asked, ...clock, atNs }, leaseMs, atNs);
}

/** A key expired: by a clock that had moved, if it would be there without; because too little was asked, likewise. */
function expiredBy(loss: Extract<Loss, { how: 'expired' }>, leaseMs: number, takenNs: number): string[] {
  const { asked } = loss;
  const passedMs = (loss.atNs - asked.ns) / MS;
  const jumpedMs = loss.jumpedMs - asked.jumpedMs;
  const driftedMs = loss.driftedMs - asked.driftedMs;
  const names: string[] = [];
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
  else if (!hold.renews && !inForce(client.cuts)) found.add('client-slow');
  if (hold.renewalCut && inForce(client.cuts)) found.add('client-cut-off');
  return found;
}

/** Why a fencing token did not rise, of locks that count it on the one logical server. */
export function trueTokenCauses(earlier: LivedHold, later: LivedHold, lived: Lived): Set<string> {
  const [a, b] = [earlier.attempt, later.attempt];
  const [from] = lived.nodes.filter(({ name }) => a.stored.has(name));
  const [to] = lived.nodes.filter(({ name }) => b.stored.has(name));
  if (!from || !to) return new Set();
  const ranNs = b.stored.get(to.name)!;
  const cameNs = from === to ? a.stored.get(from.name)! : a.reached.get(to.name);
  if (cameNs === undefined || cameNs > ranNs) return new Set(between(a, from, b, to));
  const lost = to.countLosses.filter(({ atNs }) => atNs >= cameNs && atNs <= ranNs);
  const names = { forgot: 'node-forgot', resync: 'failover-lost-write' } as Record<string, string>;
  return new Set(lost.flatMap(({ how }) => names[how] ?? []));
}
