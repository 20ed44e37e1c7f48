/**
 * What stands in the way of those who ask for a key that no client holds, and whose it is, from the servers' own record.
 *
 * - A key without an owner alive: what the lock stored under it stands all the time, and every client whose value it is has
 *   died, has given up, or has released it. It never expires (`key-never-expires`), others or its own client go on prolonging
 *   it (`prolonged-for-others`, `prolonged-too-long`), or it was given far longer than the lease (`outlives-its-lease`).
 * - A queue whose head is gone (`queue-head-gone`): all who ask look at the first place of a list or sorted set, and that is
 *   the place of such a client.
 *
 * Promises: named only where every link was recorded. The server was watched all the time; what stands in the way was there
 * all the time, stored by one known command of a known client that asked for the lock; that client was gone before, and no
 * client has named the value to a server since; at least two of those who ask looked at it, and what they looked at beside a
 * queue was not there.
 * On independent nodes so many must be blocked that no majority is left.
 *
 * Excludes values that name no owner (counts, a semaphore's permits), keys of which something is not known, and servers whose
 * data may have been replaced.
 */

import { type KeyChanges, ownersOf, partsOf, storedBy, stores } from '../../harness/record/facts/commands/changes.js';
import type { Origin, StoredState } from '../../harness/record/facts/commands/state.js';
import { deadlineMs } from '../../harness/record/facts/deadlines.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { longestLeaseMs } from '../../harness/record/facts/longest-lease.js';
import { durationOfMs, listed, moment, plural } from '../../harness/record/facts/words.js';
import { shown } from '../../harness/record/schemas/foreign-text.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CauseLink } from '../../harness/vocabulary/verdict.js';
import { type Ask, runKeyOf } from './asks.js';
import { Departures, type Gone } from './departures.js';
import { isByRightClocks, READING_MS, wasMovedBetween } from './meanwhile.js';
import { isStoredByAsking } from './stored-by-asking.js';

/** A key that was asked for in vain, ns since the epoch. */
export interface Blocked {
  readonly key: string;
  /** From the first of these asks to the last. */
  readonly asks: readonly Ask[];
}

interface Obstacle {
  name: string;
  sentence: string;
  chain: CauseLink[];
}

/** Asks that must have looked at something before it is said to be in their way. */
const LEAST_LOOKS = 2;

/** Undefined where the record does not prove what it was. `evidence`: of all that servers did until the last ask. */
export function blockerOf(
  blocked: Blocked,
  evidence: Evidence,
  input: CheckInput,
  majority: Majority,
): Cause | undefined {
  const nodes = majority?.nodes ?? [...new Set(blocked.asks.map(({ node }) => node))];
  const obstacles = nodes.flatMap((node) => new AtNode(node, blocked, evidence, input).obstacle() ?? []);
  const free = nodes.length - obstacles.length;
  if (majority ? free >= majority.majority : free > 0 || nodes.length !== 1) return undefined;
  return {
    name: obstacles[0]!.name,
    sentence: obstacles.map(({ sentence }) => sentence).join(' '),
    chain: obstacles.flatMap(({ chain }) => chain).sort((a, b) => a.atNs - b.atNs),
  };
}

export type Majority = { readonly nodes: readonly string[]; readonly majority: number } | undefined;

class AtNode {
  private readonly fromNs: number;
  private readonly untilNs: number;
  private readonly asks: readonly Ask[];
  private readonly departures: Departures;

  constructor(
    private readonly node: string,
    private readonly blocked: Blocked,
    private readonly evidence: Evidence,
    private readonly input: CheckInput,
  ) {
    this.fromNs = blocked.asks[0]!.atNs;
    this.untilNs = blocked.asks.at(-1)!.atNs;
    this.asks = blocked.asks.filter((ask) => ask.node === node);
    this.departures = new Departures(input, blocked.key);
  }

  obstacle(): Obstacle | undefined {
    const { node, fromNs, untilNs, evidence } = this;
    if (!evidence.watchedThroughout(node, fromNs, untilNs)) return undefined;
    const looked = this.lookedAt();
    // Of a server of which nothing was seen nothing was looked at.
    const changesOf = (name: string) => evidence.readingOf(node)!.changes(name);
    const records = looked.map((name) => ({ name, record: this.record(name, changesOf(name)) }));
    const [record] = records.flatMap((one) => one.record ?? []);
    // Another one that names the holder, and stands for a reason that is not known, may be all that refuses them.
    if (record && records.some((one) => !one.record && this.mayNameHolder(one.name, changesOf(one.name))))
      return undefined;
    if (record) return record;
    // Whatever they find beside the queue may be what refuses them.
    if (looked.some((name) => this.mayBeRecord(name))) return undefined;
    const queues = looked.filter((name) => this.endLookedAt(name) !== undefined);
    return queues.flatMap((name) => this.queue(name, changesOf(name)) ?? [])[0];
  }

  /** Keys of the lock that enough of the asks looked at. */
  private lookedAt(): string[] {
    const { config, history } = this.input;
    const keys = [...new Set([...config.keys, ...history.operations.keys])];
    const counts = new Map<string, number>();
    for (const { looks } of this.asks) {
      const names = new Set(
        looks.flatMap(({ argv }) => argv.slice(1)).filter((word) => runKeyOf(word, keys) === this.blocked.key),
      );
      for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [...counts].filter(([, count]) => count >= LEAST_LOOKS).map(([name]) => name);
  }

  /** What was there from the first ask to the last, in order. */
  private statesOf(name: string): StoredState[] {
    const reading = this.evidence.readingOf(this.node)!;
    const changes = reading.changes(name);
    if (changes.list.length === 0) return [reading.state(name)];
    return changes.spans(this.fromNs, this.untilNs).map(({ state }) => state);
  }

  private mayBeRecord(name: string): boolean {
    return this.statesOf(name).some(
      ({ exists, held }) => exists !== 'no' && (!held || held.type === 'string' || held.type === 'hash'),
    );
  }

  /** Whether something may be there by which the lock says who holds; a count under another name is of tokens, say. */
  private mayNameHolder(name: string, changes: KeyChanges): boolean {
    if (!this.mayBeRecord(name) || !this.names(name, changes, this.input)) return false;
    if (name === this.blocked.key) return true;
    return !this.statesOf(name).every((state) => {
      const by = ownersOf(state).map((owner) => storedBy(state, owner));
      return by.length > 0 && by.every((one) => one && isCount(one));
    });
  }

  /** Which command stored this owner, where it was there from the first ask to the last. */
  private standing(name: string, changes: KeyChanges, owner: string): Origin | undefined {
    const states = this.statesOf(name);
    const [by] = states.map((state) => storedBy(state, owner));
    // What one command stored, and is there at last, was there all the time.
    const isOne = states.every((state) => storedBy(state, owner)?.line === by?.line);
    return isOne && changes.storedAt(owner, this.untilNs).truth === 'yes' ? by : undefined;
  }

  /** Whose it is, if that client was gone before all of them asked. */
  private goneOwner(name: string, changes: KeyChanges, owner: string): { by: Origin; gone: Gone } | undefined {
    const by = this.standing(name, changes, owner);
    const stored = by && this.departures.storedBy(by, owner, this.evidence);
    if (!stored) return undefined;
    const gone = this.departures.ofOwner(stored, owner, this.fromNs, this.untilNs);
    return gone && { by: stored, gone };
  }

  /** A string or hash that stands, all of whose owners are gone. */
  private record(name: string, changes: KeyChanges): Obstacle | undefined {
    const states = this.statesOf(name);
    const [first] = states;
    const { held } = first ?? {};
    if (held?.type !== 'string' && held?.type !== 'hash') return undefined;
    const { type } = held;
    if (type === 'hash' && !partsOf(first!)?.complete) return undefined;
    const owners = ownersOf(first!)
      .filter((owner) => !isUsedUp(owner, states, changes))
      .map((owner) => ({ owner, whose: this.goneOwner(name, changes, owner) }));
    if (owners.length === 0 || owners.some(({ whose }) => !whose || isCount(whose.by))) return undefined;
    if (!this.names(name, changes, this.input)) return undefined;
    if (!owners.every(({ owner }) => isStoredByAsking(this.blocked.key, owner, this.input))) return undefined;
    const [{ owner, whose }] = owners as [{ owner: string; whose: { by: Origin; gone: Gone } }];
    const { by, gone } = whose!;
    const lasting = this.lastingOf(changes, states.at(-1)!, by, gone);
    if (!lasting) return undefined;
    return {
      name: lasting.name,
      sentence: `${name} stands on ${this.node} with ${by.client}'s ${shown(owner, 60)}, ${lasting.text}; ${gone.text} at ${moment(gone.atNs)}.`,
      chain: [
        {
          atNs: by.atNs,
          text: `${by.client} stored ${shown(owner, 60)} in ${name} (${by.name})`,
          observation: by.line,
        },
        { atNs: gone.atNs, text: gone.text, history: gone.line },
        ...lasting.chain,
        ...this.lookLinks(name),
      ],
    };
  }

  /** Whether what is stored under this name is what says who holds: the run's key itself, or what grants came and went in. */
  private names(name: string, changes: KeyChanges, { model }: CheckInput): boolean {
    if (model.kind === 'semaphore') return false;
    if (name === this.blocked.key) return true;
    return changes.list.some(({ by, before, after }) => {
      if (by?.client === undefined) return false;
      return ownersOf(before).some(
        (owner) => storedBy(before, owner)?.client === by.client && stores(after, owner) === 'no',
      );
    });
  }

  /** Why it is still there; undefined where that is not known. */
  private lastingOf(changes: KeyChanges, last: StoredState, by: Origin, gone: Gone) {
    if (last.expires.fromMs === Number.POSITIVE_INFINITY)
      return { name: 'key-never-expires', text: 'which has no expiry', chain: [] };
    const longer = changes.list.filter(
      (change) =>
        change.line > by.line &&
        change.atNs <= this.untilNs &&
        change.after.expires.fromMs > change.before.expires.untilMs,
    );
    const isMisled = longer.some(
      ({ by: one, atNs }) => one?.client !== undefined && !isByRightClocks(one, atNs, this.evidence),
    );
    if (isMisled) return undefined;
    // What is read when its client was gone may have run before: the dead prolong nothing.
    const prolonged = longer.filter(({ ranFromNs }) => ranFromNs > gone.atNs);
    const who = [...new Set(prolonged.map((change) => change.by?.client))];
    if (prolonged.length > 0) {
      if (who.includes(undefined)) return undefined;
      const [change] = prolonged;
      const latest = prolonged.at(-1)!;
      const givenMs = last.expires.fromMs - latest.by!.serverWallMs;
      if (this.hasPassed(givenMs, latest.ranFromNs)) return undefined;
      const others = who.filter((client) => client !== by.client) as string[];
      const names = others.length > 0 ? listed(others) : by.client!;
      return {
        name: others.length > 0 ? 'prolonged-for-others' : 'prolonged-too-long',
        text: `which ${names} went on prolonging (${plural(prolonged.length, 'time')})`,
        chain: [
          {
            atNs: change!.atNs,
            text: `${change!.by!.client} prolonged it (${change!.by!.name})`,
            observation: change!.line,
          },
        ],
      };
    }
    // What others had prolonged before was not stored to last that long.
    if (longer.some((change) => change.by?.client !== by.client)) return undefined;
    const given = longer.at(-1)?.by ?? by;
    const ttlMs = last.expires.fromMs - given.serverWallMs;
    if (ttlMs <= this.input.config.leaseMs || this.hasPassed(ttlMs, given.atNs)) return undefined;
    if (!isByRightClocks(by, by.atNs, this.evidence)) return undefined;
    return { name: 'outlives-its-lease', text: `stored to last for ${durationOfMs(ttlMs)}`, chain: [] };
  }

  /** Whether so long had passed when they asked last. What stands all the same does so by a clock that was put back. */
  private hasPassed(givenMs: number, sinceNs: number): boolean {
    return (this.untilNs - sinceNs) / 1e6 > givenMs + READING_MS;
  }

  /** Which end of a list, or of a sorted set, enough of the asks looked at as its head. */
  private endLookedAt(name: string): 'first' | 'last' | undefined {
    const ends = this.asks.flatMap(({ looks }) => [...new Set(looks.flatMap(({ argv }) => endOf(argv, name) ?? []))]);
    const [end] = ends;
    return ends.length >= LEAST_LOOKS && ends.every((one) => one === end) ? end : undefined;
  }

  private queue(name: string, changes: KeyChanges): Obstacle | undefined {
    const heads = this.statesOf(name).map((state) => headOf(state, this.endLookedAt(name)!));
    const [head] = heads;
    if (head === undefined || heads.some((one) => one !== head)) return undefined;
    const whose = this.goneOwner(name, changes, head);
    if (!whose) return undefined;
    const { by, gone } = whose;
    if (this.mayEndLate(by)) return undefined;
    return {
      name: 'queue-head-gone',
      sentence: `The head of the queue ${name} on ${this.node} is ${by.client}'s place ${shown(head, 60)}; ${gone.text} at ${moment(gone.atNs)}, and the place stays.`,
      chain: [
        {
          atNs: by.atNs,
          text: `${by.client} queued in ${name} as ${shown(head, 60)} (${by.name})`,
          observation: by.line,
        },
        { atNs: gone.atNs, text: gone.text, history: gone.line },
        ...this.lookLinks(name),
      ],
    };
  }

  /** Whether a place that is to end by the server's clock may stand for longer because that was moved. */
  private mayEndLate({ atNs }: Origin): boolean {
    const { history } = this.input;
    if (deadlineMs(history, 'place', longestLeaseMs(history)) === Number.POSITIVE_INFINITY) return false;
    return wasMovedBetween(this.node, atNs, this.untilNs, this.evidence);
  }

  /** The first and the last of those who asked and found it there. */
  private lookLinks(name: string): CauseLink[] {
    const asks = this.asks.filter(({ looks }) => looks.some(({ argv }) => argv.includes(name)));
    return [asks[0]!, asks.at(-1)!].map(({ atNs, client, line }) => ({
      atNs,
      text: `${client} asked, looked at ${name}, and was not granted the lock`,
      observation: line,
    }));
  }
}

/** A number that was counted says nothing of who holds. The fields of a hash are its owners, whatever is counted in them. */
function isCount({ name }: Origin): boolean {
  return /^(INCR|DECR|APPEND|SETBIT|SETRANGE)/.test(name);
}

/** Whether a field is a count that came to nothing, or below: nobody holds by it. Some lock counts down a field of another name, say. */
function isUsedUp(field: string, states: readonly StoredState[], changes: KeyChanges): boolean {
  const valueIn = (state: StoredState) => partsOf(state)?.parts.get(field)?.value;
  const isCounted = changes.list.some(
    ({ by, before, after }) => by?.name === 'HINCRBY' && valueIn(before) !== valueIn(after),
  );
  return isCounted && states.every((state) => Number(valueIn(state) ?? 1) <= 0);
}

function endOf(argv: readonly string[], name: string): 'first' | 'last' | undefined {
  const [command = '', key, from, until, ...how] = argv;
  // Counted from the other end, or by scores.
  if (key !== name || how.some((word) => /^(REV|BYSCORE|BYLEX)$/i.test(word))) return undefined;
  const is = command.toUpperCase();
  if (is === 'LINDEX') return from === '0' ? 'first' : from === '-1' ? 'last' : undefined;
  if (is === 'LRANGE' || is === 'ZRANGE')
    return from === '0' ? 'first' : from === '-1' && until === '-1' ? 'last' : undefined;
  return is === 'ZRANK' ? 'first' : undefined;
}

/** The place at the head; undefined where that is not known. */
export function headOf({ held }: StoredState, end: 'first' | 'last'): string | undefined {
  if (held?.type === 'list') return held.items?.at(end === 'first' ? 0 : -1)?.value;
  if (held?.type !== 'zset' || !held.complete) return undefined;
  const places = [...held.parts].map(([member, { there, value }]) => ({
    member,
    score: there === 'yes' ? Number(value) : Number.NaN,
  }));
  if (places.some(({ score }) => Number.isNaN(score))) return undefined;
  // Members of the same score are in the order of their bytes, which for what locks store is that of their characters.
  places.sort((a, b) => a.score - b.score || (a.member < b.member ? -1 : 1));
  return places.at(end === 'first' ? 0 : -1)?.member;
}
