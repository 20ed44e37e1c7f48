/**
 * Whose an owner is that a server had stored: of the client that asks, certainly of another one, or not known.
 *
 * It is another client's if that client stored it itself, in an attempt that was granted (`own-stores.ts`); or in one that was
 * not, if no third client ever named it in a command, nor any script of a third one's. A holder that is done by its own word may
 * leave its key to the next one and only tell it so: from then on it is not known whose it is, unless it removed the key itself.
 */
import type { Change } from '../../harness/record/facts/commands/changes.js';
import type { Origin } from '../../harness/record/facts/commands/state.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import type { Holds } from '../../harness/record/facts/holds.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import { appendTo } from '../../harness/record/facts/listed-by-name.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { OwnStore } from './own-stores.js';

/** `foreign`: what is stored is known, and a client stored it, but not for itself in a way that could be told. */
export type Whose = 'own' | 'foreign' | 'unclear' | OtherOwner;

export interface OtherOwner {
  readonly client: string;
  /** No grant shows whose it is, but that its client stored it when it asked, and that no third one ever named it. */
  readonly onlyAsked: boolean;
}

export interface StoredOwner {
  readonly node: string;
  /** Of the server, named after the resource. */
  readonly key: string;
  readonly resource: string;
  readonly owner: string;
  readonly by: Origin | undefined;
  /** It was not stored before this. */
  readonly ranFromNs: number;
}

/** Who named an owner: in what was sent, or by what a script of theirs made of that. */
interface Namers {
  readonly sent: Set<string>;
  /** Or as a part of something else. */
  readonly composed: Set<string>;
}

interface Did {
  readonly callNs: number;
  /** Infinity: it may have sent something at any later time, until its client began something else. */
  readonly returnNs: number;
  readonly isAcquire: boolean;
}

/** Which holds an owner was stored for, in order, and the places of their clients. */
interface Stored {
  readonly holds: number[];
  readonly slots: Set<string>;
}

/** Of holds that stored the same owner, so many of the latest are looked at. */
const MOST_HOLDS = 16;

export class StoredOwners {
  private readonly slots = new Map<string, string>();
  private readonly holdOfLine = new Map<string, number>();
  /** By key and owner. */
  private readonly holdsOfOwner = new Map<string, Stored>();
  /** Owners that were found and could not be told. */
  private readonly unknown = new Set<string>();
  private named: ReadonlyMap<string, Namers> = new Map();
  /** By client and resource, in order. */
  private did: ReadonlyMap<string, readonly Did[]> = new Map();

  constructor(
    private readonly input: CheckInput,
    private readonly holds: Holds,
  ) {
    for (const event of input.history.rare) if (event.type === 'client-up') this.slots.set(event.client, event.slot);
  }

  /** Processes that follow each other in one place may share an identity. */
  slotOf(client: string): string {
    return this.slots.get(client) ?? client;
  }

  /** The `k`th hold was stored so. */
  add(k: number, { node, key, owner, line }: OwnStore): void {
    this.holdOfLine.set(`${node} ${line}`, k);
    const place = `${key}\n${owner}`;
    const ofOwner = this.holdsOfOwner.get(place) ?? { holds: [], slots: new Set() };
    ofOwner.holds.push(k);
    ofOwner.slots.add(this.slotOf(this.clientOf(k)));
    this.holdsOfOwner.set(place, ofOwner);
  }

  /**
   * Of the client that had the answer at `answeredNs`. By the loss it was not stored any more, be that later; what a client removes
   * itself it has left to nobody.
   */
  whose(found: StoredOwner, client: string, answeredNs: number, loss: Change | undefined): Whose {
    const { node, key, owner, by } = found;
    const slot = this.slotOf(client);
    if (by?.client !== undefined && this.slotOf(by.client) === slot) return 'own';
    const ofLine = by && this.holdOfLine.get(`${node} ${by.line}`);
    const ofOwner = this.holdsOfOwner.get(`${key}\n${owner}`);
    const first = ofOwner?.holds[0];
    if (first === undefined) return this.leftBehind(found);
    const other = this.clientOf(ofLine ?? first);
    // Several clients store the same, and no line says which of them did.
    if (ofLine === undefined && ofOwner!.slots.size > 1) return 'unclear';
    if (this.slotOf(other) === slot) return 'unclear';
    // Who has the same name stored it, for itself or for the next one.
    if (ofLine === undefined && by?.client !== undefined && this.slotOf(by.client) !== this.slotOf(other))
      return 'unclear';
    const isOthers = (one: string) => this.slotOf(one) === this.slotOf(other);
    const goneNs = loss?.atNs ?? Number.POSITIVE_INFINITY;
    const untilNs = Math.min(answeredNs, goneNs);
    const holding = (ofOwner?.holds ?? [])
      .slice(-MOST_HOLDS)
      .concat(ofLine ?? [])
      .some((k) => isOthers(this.clientOf(k)) && this.mayHold(k, untilNs, by?.client));
    return holding || (goneNs <= answeredNs && this.isTakenBack(other, by, loss?.by))
      ? { client: other, onlyAsked: false }
      : 'unclear';
  }

  /** Whether its own client removed it, or the link that had brought it. */
  private isTakenBack(client: string, stored: Origin | undefined, gone: Origin | undefined): boolean {
    if (!gone) return false;
    if (gone.client === undefined) return stored?.client === undefined && gone.source === stored?.source;
    return this.slotOf(gone.client) === this.slotOf(client);
  }

  /** Looks through the record for who named the owners that could not be told. */
  lookForNames(): void {
    if (this.unknown.size === 0) return;
    this.named = namersOf(this.unknown, this.input.observations, (client) => this.slotOf(client));
    this.did = whatClientsDid(this.input.history);
  }

  /** What a client stored in an attempt that was not granted, or was not answered. */
  private leftBehind(found: StoredOwner): Whose {
    const { owner, by } = found;
    if (by?.client === undefined) return 'unclear';
    this.unknown.add(owner);
    const slot = this.slotOf(by.client);
    const isItsOwn = isNamedBy(slot, this.named.get(owner)) && this.whileAsking(found, by.client);
    return isItsOwn ? { client: by.client, onlyAsked: true } : 'foreign';
  }

  /**
   * Whether the command was sent by an acquire of its client, whenever it was read. What is sent after that was answered (by a
   * release, say) may be for somebody else; one of unknown outcome may have been carried out at any later time.
   */
  private whileAsking({ resource, by, ranFromNs }: StoredOwner, client: string): boolean {
    const did = this.did.get(`${client}\n${resource}`) ?? [];
    const ranNs = ranFromNs + RECKONING_NS;
    const first = firstIndex(did.length, (at) => did[at]!.callNs > ranNs) - 1;
    const last = did[first];
    if (!last || ranNs > last.returnNs + RECKONING_NS) return false;
    const until = firstIndex(did.length, (at) => did[at]!.callNs > by!.atNs);
    return did.slice(first, until).every(({ isAcquire }) => isAcquire);
  }

  private clientOf(k: number): string {
    return this.input.history.operations.clients[this.holds.client[k]!]!;
  }

  /** Whether the hold was not over by its client's own word. One that died leaves what it stored itself to nobody. */
  private mayHold(k: number, atNs: number, storedBy: string | undefined): boolean {
    const { grantSentNs, untilNs } = this.holds;
    const isLeft = this.holds.endedByDeath(k) && (storedBy ?? this.clientOf(k)) === this.clientOf(k);
    return grantSentNs[k]! <= atNs && (untilNs[k]! >= atNs || isLeft);
  }
}

/**
 * Who named these owners in commands on keys of the run. What a script calls is its sender's: one that is given `c2` and `7` may put
 * `c2:7` in a queue, which c2 itself never sends; or c2 may put `{"id":"c2:7"}` there.
 */
function namersOf(
  owners: ReadonlySet<string>,
  observations: CheckInput['observations'],
  slotOf: (client: string) => string,
): ReadonlyMap<string, Namers> {
  const namers = new Map<string, Namers>();
  const inArgument = ownersWithin(owners);
  /** By node, who sent the last command that no script called. */
  const senders = new Map<string, string | undefined>();
  for (const [, { node, source, client, argv }] of observations.commands(
    Number.NEGATIVE_INFINITY,
    Number.POSITIVE_INFINITY,
  )) {
    const isCalled = source === 'lua';
    if (!isCalled) senders.set(node, client);
    const sender = isCalled ? senders.get(node) : client;
    if (sender === undefined) continue;
    for (const argument of argv)
      for (const owner of inArgument(argument)) {
        const of = namers.get(owner) ?? { sent: new Set(), composed: new Set() };
        of[isCalled || owner !== argument ? 'composed' : 'sent'].add(slotOf(sender));
        namers.set(owner, of);
      }
  }
  return namers;
}

/**
 * Which owners an argument is, or has within it. Thousands may be asked about, and of a hundred thousand arguments most are none: so each
 * is looked at once, and compared with those alone whose longest word it has.
 */
function ownersWithin(owners: ReadonlySet<string>): (argument: string) => readonly string[] {
  const byWord = new Map<string, string[]>();
  for (const owner of owners) {
    const word = wordsOf(owner).reduce((longest, one) => (one.length > longest.length ? one : longest), '');
    const sharing = byWord.get(word);
    if (sharing) sharing.push(owner);
    else byWord.set(word, [owner]);
  }
  const known = new Map<string, readonly string[]>();
  return (argument) => {
    const within = known.get(argument) ?? (owners.has(argument) ? [argument] : search(argument));
    known.set(argument, within);
    return within;
  };

  function search(argument: string): readonly string[] {
    const words = new Set(['', ...wordsOf(argument)]);
    return [...words].flatMap((word) => byWord.get(word) ?? []).filter((owner) => isWithin(argument, owner));
  }
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[a-z\d]+/gi) ?? [];
}

/** `c2:7` is in `{"id":"c2:7"}`, and not in `c2:77`. */
function isWithin(argument: string, owner: string): boolean {
  const [first, ...rest] = argument.split(owner);
  let before = first!;
  for (const after of rest) {
    if (!/[a-z\d]$/i.test(before) && !/^[a-z\d]/i.test(after)) return true;
    before = after;
  }
  return false;
}

/** Whether of all clients, in the whole record, one alone named an owner, and sent it. */
export function isOnlyNamer(
  client: string,
  owner: string,
  { observations }: Pick<CheckInput, 'observations'>,
): boolean {
  return isNamedBy(client, namersOf(new Set([owner]), observations, (one) => one).get(owner));
}

/** Whether a client sent an owner itself, and nobody else named it in any way. */
function isNamedBy(slot: string, namers: Namers | undefined): boolean {
  if (!namers?.sent.has(slot)) return false;
  return [...namers.sent, ...namers.composed].every((one) => one === slot);
}

/** What each client did with a resource, in order: it does so one after the other. */
function whatClientsDid(history: History): ReadonlyMap<string, readonly Did[]> {
  const { operations: ops } = history;
  const { callNs, returnNs } = intervalsOf(history);
  const did = new Map<string, Did[]>();
  for (let row = 0; row < ops.count; row++) {
    const isKnown = ops.outcome[row] === OUTCOME.ok || ops.outcome[row] === OUTCOME.fail;
    appendTo(did, `${ops.clients[ops.client[row]!]!}\n${ops.keys[ops.key[row]!]!}`, {
      callNs: callNs[row]!,
      returnNs: isKnown ? returnNs[row]! : Number.POSITIVE_INFINITY,
      isAcquire: ops.op[row] === OP.acquire,
    });
  }
  return did;
}
