/**
 * Holds of which no server that counts can have had the grant, at any instant between the leaving of the attempt and its
 * answer.
 *
 * That is proven by what the servers had stored meanwhile: nothing, or owners that other clients had stored for themselves.
 * It needs to be known how the lock stores: at least three other grants, of two clients, must each have been stored by their
 * own client's command within the attempt (`own-stores.ts`), and all in the same kind of key. Every key that is named after
 * the resource is looked at, and what is found in one must be one of:
 *
 * - an owner that another client stored in an attempt of its own that was granted, and whose hold was not over by its own
 *   word before the answer, or before the key was gone, if it did not remove it itself (a holder that is done may leave the key to
 *   the next one, and only tell it so);
 * - an owner that another client stored in an attempt that was not granted, and that no third one ever named;
 * - a number that nothing was ever done to but to count, prolong and remove it, and not by the client in its attempt: a counter of
 *   fencing tokens, say.
 *
 * Where any state is not known, or the client itself had stored something, nothing is said of that hold. Nor where a state is
 * known, but whose it is cannot be told (an owner that a releasing client stored for the next one in a queue). A lock that
 * was seen to do this may grant in another way, too: then what a client stored in an attempt that was not granted may be
 * another's grant, and nothing is said of any hold beside such a value.
 *
 * A server is believed only if it was watched from before the attempt left until a second after its answer, or until a line was
 * read of what ran after that (what it runs just before it is killed is not always printed), by the same process, with a clock that
 * nothing moved until then. Of independent nodes also one that was dead, stopped or out of reach for the whole attempt had not granted.
 *
 * Excludes nested holds, permits and readers, keys of a play that are not the run's own, grants in other databases or under
 * keys that are not named after the resource, clients whose stamps contradict each other, and what happened while machine or
 * harness stood still.
 *
 * It is long because a hold is refuted only by all looks at all servers together, each of which may save it.
 */
import type { Change, KeyChanges, StateSpan } from '../../harness/record/facts/commands/changes.js';
import type { Origin, StoredState } from '../../harness/record/facts/commands/state.js';
import { type Evidence, OBSERVED_WITHIN_NS } from '../../harness/record/facts/evidence.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { nestedHolds } from '../../harness/record/facts/hold-order.js';
import { type Holds, holdsOf } from '../../harness/record/facts/holds.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import { appendTo } from '../../harness/record/facts/listed-by-name.js';
import { once } from '../../harness/record/facts/once.js';
import { trustedClients } from '../../harness/record/facts/operations.js';
import { majorityOf } from '../../harness/record/facts/quorum.js';
import type { CommandObservation } from '../../harness/vocabulary/history.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';
import { isBelieved } from './believed.js';
import { EvidenceWindows } from './evidence-windows.js';
import { keptItsData, wasReplicaThroughout } from './meanwhile.js';
import { formOf, isCopyOf, ownStoresOf, PARTED_NS, READ_WITHIN_NS, RelatedKeys } from './own-stores.js';
import { StoredOwners } from './stored-owners.js';
import { isSeenFromTheStart, lineAfter, mayBeOfAttempt, whyNoVote } from './votes.js';

export interface NeverStored {
  /** By client and id of the acquire, `c1 7`, in the order of the grants. */
  readonly holds: ReadonlyMap<string, Refuted>;
  /**
   * The same where fewer grants show how this lock stores, or those of one client: of attempts all of whose requests were of a kind
   * by which another attempt was seen to be stored. No checker accuses by them; they tell why exclusion was broken.
   */
  readonly alike: ReadonlyMap<string, Refuted>;
  /** Why nothing is said of any hold. */
  readonly notJudged?: string;
}

export interface Refuted {
  readonly hold: Hold;
  /** What was stored instead, by whom. */
  readonly instead: readonly StoredInstead[];
  /** Nodes that may have granted it all the same: fewer than a majority, and none where there is one logical server. */
  readonly voters: readonly string[];
  /** How many other grants show how this lock stores them, and in which keys; `*` stands for the resource. */
  readonly shownBy: number;
  readonly forms: readonly string[];
}

export interface StoredInstead {
  readonly node: string;
  readonly key: string;
  readonly client: string;
  /** When it was stored, and the line that shows it. */
  readonly atNs: number;
  readonly observation: number;
  /** No grant of that client shows that it is its own (`OtherOwner.onlyAsked`). */
  readonly onlyAsked: boolean;
}

/** What stood still may have kept the observer from reading for longer. */
const STOOD_STILL_NS = 1e9;
/** A lock's way to store grants is known from so many of them, of so many clients. */
const LEAST_GRANTS = 3;
const LEAST_CLIENTS = 2;
const COUNTS = /^(INCR|DECR)(BY)?$/;
const KEEPS_A_COUNT = /^((INCR|DECR)(BY)?|P?EXPIRE(AT)?|PERSIST|DEL|UNLINK|FLUSHALL|FLUSHDB)$/;

export const ONE_OWNER: ReadonlySet<LockModel['kind']> = new Set(['mutex', 'reentrant', 'fenced', 'fair']);

const made = new WeakMap<object, NeverStored>();

/** Made once for each run. */
export function neverStoredIn(input: CheckInput): NeverStored {
  const known = made.get(input.observations) ?? new Search(input).found();
  made.set(input.observations, known);
  return known;
}

/** What a look at one node tells of one hold. */
type Look = 'unclear' | 'own' | 'foreign' | readonly StoredInstead[];

interface Looked {
  readonly hold: Hold;
  readonly looks: ReadonlyMap<string, Look>;
}

class Search {
  private readonly holds: Holds;
  private readonly windows: EvidenceWindows;
  private readonly owners: StoredOwners;
  private readonly related: RelatedKeys;
  private readonly majority: number | undefined;
  /** Of other keys no command is in the record. */
  private readonly observed: ReadonlySet<string>;
  private readonly changesOfSlots = once((changes: KeyChanges) => this.sortedBySlot(changes));
  private readonly isCount = once(onlyCounts);

  constructor(private readonly input: CheckInput) {
    const { history } = input;
    this.holds = holdsOf(history);
    this.windows = new EvidenceWindows(input);
    this.owners = new StoredOwners(input, this.holds);
    this.related = new RelatedKeys(history.operations.keys);
    this.majority = majorityOf(history)?.majority;
    this.observed = new Set(input.config.keys);
  }

  found(): NeverStored {
    const none = new Map<string, Refuted>();
    const nothing = (notJudged: string): NeverStored => ({ holds: none, alike: none, notJudged });
    if (!ONE_OWNER.has(this.input.model.kind)) return nothing('permits and readers are not followed');
    if (majorityOf(this.input.history)?.servers)
      return nothing('of independent nodes that replicate it is not followed which server gave a vote');
    if (this.input.observations.commandCount === 0) return nothing('no command of any client was observed');
    const { rest, forms, shownBy, isShown, kinds } = this.sortedOut();
    const unshown = nothing('how this lock stores a grant does not show in the record');
    if (forms.length === 0) return unshown;
    const looked = this.lookedAt(isShown ? rest : rest.filter((hold) => this.isAskedAlike(hold, kinds)));
    const handsOver = looked.some(isForeign);
    if (!isShown && handsOver) return unshown;
    const holds = this.refutedOf(looked, handsOver, shownBy, forms);
    if (!isShown) return { ...unshown, alike: holds };
    if (handsOver && holds.size === 0) return nothing('this lock does not store all its grants in one way');
    return { holds, alike: none };
  }

  private refutedOf(
    looked: ReturnType<Search['lookedAt']>,
    handsOver: boolean,
    shownBy: number,
    forms: readonly string[],
  ): ReadonlyMap<string, Refuted> {
    const holds = new Map<string, Refuted>();
    for (const { hold, looks } of looked) {
      const refuting = [...looks].flatMap(([node, look]) => (refutes(look, handsOver) ? [{ node, look }] : []));
      const voters = [...looks.keys()].filter((node) => !refuting.some((by) => by.node === node));
      if (voters.length >= (this.majority ?? 1)) continue;
      const instead = refuting.flatMap(({ look }) => onceEach(look));
      holds.set(refutedName(hold), { hold, instead, voters, shownBy, forms });
    }
    return holds;
  }

  /** The holds of which no server, or no majority, was seen to store the grant; and where the others were stored. */
  private sortedOut() {
    const rest: Hold[] = [];
    const clients = new Set<string>();
    const kinds = new Set<string>();
    let forms: string[] | undefined;
    let shownBy = 0;
    for (let k = 0; k < this.holds.count; k++) {
      const hold = this.holds.hold(k);
      const stores = ownStoresOf(hold, this.windows.aroundHolds([hold]), this.related);
      for (const store of stores) if (store.inTime) this.owners.add(k, store);
      if (!this.suffices(new Set(stores.map(({ node }) => node)).size)) {
        if (this.isAsked(k)) rest.push(hold);
        continue;
      }
      const here = new Set(stores.map(({ form }) => form));
      forms = forms ? forms.filter((form) => here.has(form)) : [...here];
      for (const { key, request } of stores) if (key === hold.key) kinds.add(this.formOf(request));
      clients.add(this.owners.slotOf(hold.client));
      shownBy++;
    }
    const isShown = shownBy >= LEAST_GRANTS && clients.size >= LEAST_CLIENTS;
    return { rest, forms: forms ?? [], shownBy, isShown, kinds };
  }

  /** Whether an attempt was seen to ask, and for nothing in another way than those by which others were stored. */
  private isAskedAlike(hold: Hold, kinds: ReadonlySet<string>): boolean {
    const evidence = this.windows.aroundHolds([hold]);
    const asked = evidence.nodes.flatMap((node) =>
      evidence.writes(node, hold.key).filter((write) => mayBeOfAttempt(write, hold, evidence)),
    );
    return asked.length > 0 && asked.every(({ observation }) => kinds.has(this.formOf(observation)));
  }

  private formOf(line: number): string {
    return formOf(this.input.observations.line(line) as CommandObservation);
  }

  private suffices(nodes: number): boolean {
    return nodes >= (this.majority ?? 1);
  }

  /** Whether anything can be said of a hold, by the history alone. */
  private isAsked(k: number): boolean {
    const { history } = this.input;
    if (nestedHolds(history)[k] || !trustedClients(history)[this.holds.client[k]!]) return false;
    const { fromNs, grantSentNs, key } = this.holds;
    if (!this.observed.has(history.operations.keys[key[k]!]!)) return false;
    return !history.rare.some(
      (event) =>
        event.type === 'disturbance' &&
        event.beganNs <= fromNs[k]! + OBSERVED_WITHIN_NS + STOOD_STILL_NS &&
        event.atNs >= grantSentNs[k]! - STOOD_STILL_NS,
    );
  }

  private lookedAt(rest: readonly Hold[]): Looked[] {
    const look = () => rest.map((hold) => ({ hold, looks: this.looksAt(hold) }));
    const looked = look();
    if (!looked.some(isForeign)) return looked;
    this.owners.lookForNames();
    return look();
  }

  private looksAt(hold: Hold): ReadonlyMap<string, Look> {
    const evidence = this.windows.aroundHolds([hold]);
    const nodes = this.majority === undefined ? evidence.nodes : evidence.voters;
    return new Map(nodes.map((node) => [node, this.lookAt(node, hold, evidence)]));
  }

  private lookAt(node: string, hold: Hold, evidence: Evidence): Look {
    if (this.majority !== undefined && whyNoVote(node, hold, evidence)) return [];
    // It turns its clients' writes away, and has what its primary has, or had: who looks there may see its own of before.
    if (!this.hasLookedAt(node, hold, evidence) && wasReplicaThroughout(node, hold.grantSentNs, hold.fromNs, evidence))
      return [];
    const after = lineAfter(node, hold, evidence);
    const readWithinNs = after ? after.atNs - hold.fromNs : OBSERVED_WITHIN_NS;
    if (!isBelieved(node, hold.grantSentNs, hold.fromNs, evidence, readWithinNs)) return 'unclear';
    const reading = evidence.readingOf(node);
    if (!reading) return isSeenFromTheStart(node, hold.fromNs, evidence) ? [] : 'unclear';
    const keys = this.related.of(hold.key, reading);
    if (!keys) return 'unclear';
    const all: StoredInstead[] = [];
    let own: Look | undefined;
    for (const key of keys) {
      const changes = reading.changes(key);
      if (this.mayBeOwn(changes, node, hold, evidence)) own = 'own';
      for (const span of changes.spans(hold.grantSentNs - RECKONING_NS, hold.fromNs + RECKONING_NS)) {
        if (!span.change && isSeenFromTheStart(node, hold.fromNs, evidence)) continue;
        if (this.isCount(changes)) continue;
        if (!keepsIts(span, node, hold, evidence)) return 'unclear';
        const look = this.lookAtState(node, key, changes, span, hold, evidence);
        if (look === 'unclear' || look === 'foreign') return look;
        if (look === 'own') own = look;
        else all.push(...look);
      }
    }
    return own ?? all;
  }

  /** Whether the client asked a node for anything in its attempt, or may have. */
  private hasLookedAt(node: string, { client, key, grantSentNs, fromNs }: Hold, evidence: Evidence): boolean {
    const isOwn = (one?: string) => one !== undefined && this.owners.slotOf(one) === this.owners.slotOf(client);
    return evidence
      .writes(node, key)
      .some(
        (write) => isOwn(write.client) && write.atNs >= grantSentNs - RECKONING_NS && write.ranNs <= fromNs + PARTED_NS,
      );
  }

  /** Whether a command of the client did something, or may have, that may belong to the attempt. */
  private mayBeOwn(
    changes: KeyChanges,
    node: string,
    { client, grantSentNs, fromNs }: Hold,
    evidence: Evidence,
  ): boolean {
    const own = this.changesOfSlots(changes).get(this.owners.slotOf(client)) ?? [];
    const skewMs = evidence.lastSample(node, grantSentNs)?.[1].skewMs ?? 0;
    // Lines come in the order in which they ran, but one of before, when the clock was ahead, says falsely when that was: the
    // command's own stamp, of an attempt in which nothing moved the clock, does not.
    const ranAfter = ({ by, ranFromNs }: Change) => {
      const stampedNs = evidence.ranByStamp(by!, skewMs) ?? Number.NEGATIVE_INFINITY;
      return ranFromNs > fromNs + PARTED_NS && stampedNs > fromNs + PARTED_NS;
    };
    for (let at = firstIndex(own.length, (n) => own[n]!.atNs >= grantSentNs - RECKONING_NS); own[at]; at++) {
      const change = own[at]!;
      if (!ranAfter(change)) return true;
      if (change.ranFromNs > fromNs + READ_WITHIN_NS) break;
    }
    return false;
  }

  /** By the places of clients, what their commands did to a key, or may have done. */
  private sortedBySlot({ list }: KeyChanges): ReadonlyMap<string, readonly Change[]> {
    const sorted = new Map<string, Change[]>();
    for (const change of list)
      if (change.by?.client !== undefined && change.applied !== 'no')
        appendTo(sorted, this.owners.slotOf(change.by.client), change);
    return sorted;
  }

  /** Whether all was seen that any server was asked since the client was told to acquire. */
  private isSeenSinceCalled({ evidence: [line], fromNs }: Hold, evidence: Evidence): boolean {
    const calledNs = this.input.history.event(line!)!.atNs;
    return evidence.nodes.every(
      (node) => evidence.watchedThroughout(node, calledNs, fromNs) || evidence.effects.whyDown(node, calledNs, fromNs),
    );
  }

  private lookAtState(
    node: string,
    key: string,
    changes: KeyChanges,
    span: StateSpan,
    hold: Hold,
    evidence: Evidence,
  ): Look {
    const owners = ownersIn(span.state);
    if (!owners) return 'unclear';
    const instead: StoredInstead[] = [];
    let look: Look = instead;
    for (const { owner, by } of owners) {
      const ranFromNs = (by && changes.ofLine(by.line)?.ranFromNs) ?? Number.NEGATIVE_INFINITY;
      const found = { node, key, resource: hold.key, owner, by, ranFromNs };
      const whose = this.owners.whose(
        found,
        hold.client,
        hold.fromNs,
        changes.lossOf(owner, by?.line ?? span.change?.line ?? 0),
      );
      if (whose === 'unclear') return whose;
      if (whose === 'own' || whose === 'foreign') look = look === 'foreign' ? look : whose;
      else {
        const { atNs, line } = span.change!;
        const isIts = (one: string) => this.owners.slotOf(one) === this.owners.slotOf(whose.client);
        // This one may have named it unseen: who stored it let it in, say.
        if (whose.onlyAsked && !this.isSeenSinceCalled(hold, evidence)) return 'unclear';
        // Nobody stored it there himself: it may be another's of the same name.
        if (by?.client === undefined && !isCopyOf({ key, owner }, by?.atNs ?? atNs, isIts, evidence)) return 'unclear';
        instead.push({ node, key, ...whose, atNs: by?.atNs ?? atNs, observation: by?.line ?? line });
      }
    }
    return look;
  }
}

/** Whether a key was only ever counted, looked at, prolonged and removed: it counts tokens, say, and names no owner. */
function onlyCounts({ list }: KeyChanges): boolean {
  const commands = list.flatMap(({ by, applied }) => (by && applied !== 'no' ? [by.name] : []));
  return commands.some((name) => COUNTS.test(name)) && commands.every((name) => KEEPS_A_COUNT.test(name));
}

/** Whether what was stored then was the node's own until the answer: it cannot have loaded another's data unseen. */
function keepsIts({ beganNs }: StateSpan, node: string, { fromNs }: Hold, evidence: Evidence): boolean {
  if (!evidence.isReplicated || beganNs.until >= fromNs) return true;
  return keptItsData(node, beganNs.until, fromNs, evidence);
}

function isForeign({ looks }: Looked): boolean {
  return [...looks.values()].includes('foreign');
}

/** Whether a node cannot have granted it. `handsOver`: one client may store another's grant, while it asks for its own, too. */
function refutes(look: Look, handsOver: boolean): look is readonly StoredInstead[] {
  return Array.isArray(look) && !(handsOver && look.some(({ onlyAsked }) => onlyAsked));
}

/** By which its refutation is found. */
export function refutedName({ client, id }: Hold): string {
  return `${client} ${id}`;
}

/** Of what was there before and after something else, each once. */
function onceEach(instead: readonly StoredInstead[]): StoredInstead[] {
  return instead.filter(({ observation }, at) => instead.findIndex((one) => one.observation === observation) === at);
}

/** Every owner that a key may name; undefined: it may name others. */
export function ownersIn({ exists, held }: StoredState): { owner: string; by: Origin | undefined }[] | undefined {
  if (exists === 'no') return [];
  if (!held) return undefined;
  if (held.type === 'string') return held.value === undefined ? undefined : [{ owner: held.value, by: held.by }];
  if (held.type === 'list') return held.items?.map(({ value, by }) => ({ owner: value, by }));
  if (!held.complete) return undefined;
  return [...held.parts].flatMap(([owner, { there, by }]) => (there === 'no' ? [] : [{ owner, by }]));
}
