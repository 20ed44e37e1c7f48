/**
 * A service's own record of who was stored for which key, put in the service's own order: what several servers of one log tell is
 * told once, at the earliest.
 *
 * Excludes judging. An entry is a hold's only where nothing else of the record could be: one that cannot be told from another
 * of the same client is nobody's.
 */
import type { Observation } from '../../vocabulary/history.js';
import type { CheckInput } from '../../vocabulary/run.js';
import type { Hold } from '../../vocabulary/verdict.js';
import { OP } from '../history-table.js';
import { holdsOf } from './holds.js';

export type StoredObservation = Extract<Observation, { type: 'stored' }>;
export type RoleObservation = Extract<Observation, { type: 'role' }>;

/** A change of a key, and its line. */
export type StoredEntry = StoredObservation & { line: number };

/** What is stored may be told so long after its client had the answer. */
const TOLD_WITHIN_NS = 3e9;

/** As for Redis: a lock's way to store grants is known from so many of them, of so many clients. */
const LEAST_GRANTS = 3;
const LEAST_CLIENTS = 2;

export class ServiceRecord {
  /** By key, then by log: in the order of positions, without what changed nothing. */
  private readonly entries = new Map<string, Map<string, StoredEntry[]>>();
  private readonly roles = new Map<string, (RoleObservation & { line: number })[]>();
  private readonly watches = new Map<string, { atNs: number; watching: boolean }[]>();
  /** By log and key, all that servers told of it, also what others had told. */
  private readonly tellings = new Map<string, StoredEntry[]>();
  /** Servers that told of a log. */
  private readonly tellers = new Map<string, Set<string>>();

  private shown: boolean | undefined;
  /** Some holder is known only because it was there when somebody asked. */
  private isSampled = false;
  /** By server and key, all that it told of written rows, as it told it. */
  private readonly told = new Map<string, StoredEntry[]>();
  /** By server, the owners that it ever told of. */
  private readonly owners = new Map<string, Set<string>>();

  constructor(private readonly input: Pick<CheckInput, 'history' | 'observations'>) {
    for (const [line, one] of input.observations.rare) {
      if (one.type === 'role') listIn(this.roles, one.node).push({ ...one, line });
      else if (one.type === 'watch') listIn(this.watches, one.node).push(one);
      else if (one.type === 'stored') this.add({ ...one, line });
    }
    for (const logs of this.entries.values()) for (const [log, list] of logs) logs.set(log, inOrder(list));
  }

  /** Whether there is any. */
  get isEmpty(): boolean {
    return this.entries.size === 0;
  }

  changes(key: string, log: string): readonly StoredEntry[] {
    return this.entries.get(key)?.get(log) ?? [];
  }

  /** The change after this one in its log. */
  next({ key, log, position }: StoredEntry): StoredEntry | undefined {
    return this.changes(key, log).find((one) => one.position > position);
  }

  /**
   * Whether nothing can have come between two changes of a log: one server was followed from the first until it told of the second.
   * Who follows anew learns what is there, and not what was meanwhile; but rows are told from a log that is written down.
   */
  isWholeBetween(first: StoredEntry, second: StoredEntry): boolean {
    if (first.term !== undefined) return true;
    return (this.tellings.get(`${second.log} ${second.key}`) ?? []).some(
      ({ node, position, atNs }) => position === second.position && this.isWatched(node, first.atNs, atNs),
    );
  }

  /** What was stored for the hold; undefined where that cannot be told. */
  entryOf(hold: Hold): StoredEntry | undefined {
    const { client, key, token, grantSentNs, fromNs } = hold;
    const sameToken = this.storedFor(client, key, grantSentNs, fromNs + TOLD_WITHIN_NS).filter(
      (one) => one.token !== undefined && one.token === token,
    );
    if (sameToken.length > 0 && sameToken.every(({ owner }) => owner === sameToken[0]!.owner))
      return earliest(sameToken);
    const found = this.storedFor(client, key, grantSentNs, this.answeredByNs(hold));
    const byToken = found.filter(({ position }) => position === token);
    if (byToken.length === 1) return byToken[0];
    // A copy of what was stored, on another server, is told of as well.
    return found.every(({ owner }) => owner === found[0]?.owner) ? earliest(found) : undefined;
  }

  /**
   * Whether some server, of each log that tells of the key, was followed all the while, and none has stored anything for it, nor had
   * since before: who is granted what it has, be it once more or by an attempt that it was not answered, stores nothing. Never where
   * holders are only asked for now and then: a short hold is not seen then.
   */
  hasNothingOf(hold: Hold): boolean {
    if (this.isSampled) return false;
    const untilNs = hold.fromNs + TOLD_WITHIN_NS;
    const logs = [...(this.entries.get(hold.key) ?? [])].flatMap(([log, list]) => (list[0]?.isSampled ? [] : [log]));
    const isSeen = (log: string) =>
      [...this.tellers.get(log)!].some((node) => this.isWatched(node, hold.grantSentNs, untilNs));
    return (
      logs.length > 0 &&
      this.showsGrants() &&
      logs.every(isSeen) &&
      this.storedFor(hold.client, hold.key, hold.grantSentNs, untilNs).length === 0 &&
      !this.hadBefore(hold)
    );
  }

  /** Whether, by what some log told last before the granted attempt left, the client had the key already. */
  private hadBefore({ client, key, grantSentNs }: Hold): boolean {
    const lists = [...(this.entries.get(key)?.values() ?? [])];
    return lists.some((list) => list.findLast(({ atNs }) => atNs < grantSentNs)?.client === client);
  }

  /** Whether the server was followed from the one instant to the other. */
  isWatched(node: string, fromNs: number, untilNs: number): boolean {
    let watching = false;
    for (const watch of this.watches.get(node) ?? []) {
      if (watch.atNs > untilNs) break;
      if (!watch.watching && watch.atNs > fromNs) return false;
      if (watch.atNs <= fromNs) watching = watch.watching;
    }
    return watching;
  }

  /** What the server last said of itself until then. */
  roleAt(node: string, atNs: number) {
    return this.roles.get(node)?.findLast((role) => role.atNs <= atNs);
  }

  /** The one server that said all the while that it is the primary, as one process; undefined: there is none, or more of them. */
  primaryThroughout(fromNs: number, untilNs: number): string | undefined {
    const primaries = [...this.roles].flatMap(([node, said]) => {
      const before = said.findLast(({ atNs }) => atNs <= fromNs);
      const during = said.filter(({ atNs }) => atNs > fromNs && atNs <= untilNs);
      const all = before ? [before, ...during] : during;
      if (!all.some(({ role }) => role === 'primary')) return [];
      const isSteady =
        before !== undefined && all.every(({ role, runId }) => role === 'primary' && runId === before.runId);
      return [{ node, isSteady }];
    });
    const [only] = primaries;
    return primaries.length === 1 && only!.isSteady ? only!.node : undefined;
  }

  /** The server that wrote it: where it says in which term that was, the one that ever was the primary of that. */
  writerOf({ node, term }: StoredEntry): string {
    const primaries = [...this.roles].flatMap(([name, said]) =>
      term !== undefined && said.some((one) => one.role === 'primary' && one.term === term) ? [name] : [],
    );
    return primaries.length === 1 ? primaries[0]! : node;
  }

  /** What the server had last told of the key by then; only of rows that are written down. */
  lastTold(node: string, key: string, untilNs: number): StoredEntry | undefined {
    return this.told.get(`${node} ${key}`)?.findLast(({ atNs }) => atNs < untilNs);
  }

  /** That the row was given more time: the last such change by then, told by whomever. */
  lastProlonged({ key, log, owner, position }: StoredEntry, untilNs: number): StoredEntry | undefined {
    return [...this.roles.keys()]
      .flatMap((node) => this.told.get(`${node} ${key}`) ?? [])
      .filter((one) => one.log === log && one.owner === owner && one.position > position && one.atNs < untilNs)
      .sort((a, b) => a.position - b.position)
      .at(-1);
  }

  /** Whether the server ever told of this very change. */
  hasToldOf(node: string, { key, log, position }: StoredEntry): boolean {
    return this.told.get(`${node} ${key}`)?.some((one) => one.log === log && one.position === position) ?? false;
  }

  /** When it last became the primary by then, and has been since. */
  lastPromoted(node: string, untilNs: number) {
    const said = this.roles.get(node)?.filter(({ atNs }) => atNs <= untilNs) ?? [];
    const replica = said.findLastIndex(({ role }) => role !== 'primary');
    return said[replica]?.role === 'replica' ? said[replica + 1] : undefined;
  }

  /** When it first said after `fromNs` that it is the primary, having said that it is a replica just before. */
  promoted(node: string, fromNs: number) {
    return this.roles
      .get(node)
      ?.find(({ role, atNs }, at, all) => role === 'primary' && atNs > fromNs && all[at - 1]?.role === 'replica');
  }

  /** When it last said until then that it is a replica. */
  lastAsReplicaNs(node: string, untilNs: number): number | undefined {
    return this.roles.get(node)?.findLast(({ role, atNs }) => role === 'replica' && atNs <= untilNs)?.atNs;
  }

  /** Whether the server ever said that it has this owner. One that is followed anew tells what it has. */
  hasTold(node: string, owner: string | undefined): boolean {
    return owner !== undefined && this.owners.get(node)?.has(owner) === true;
  }

  /** Whether this lock's grants are seen to be stored with their client's name: a lock of somebody's own need not do so. */
  private showsGrants(): boolean {
    this.shown ??= (() => {
      let count = 0;
      const clients = new Set<string>();
      for (const hold of holdsOf(this.input.history)) {
        if (!this.entryOf(hold)) continue;
        count++;
        clients.add(hold.client);
        if (count >= LEAST_GRANTS && clients.size >= LEAST_CLIENTS) return true;
      }
      return false;
    })();
    return this.shown;
  }

  private storedFor(client: string, key: string, fromNs: number, untilNs: number): StoredEntry[] {
    return [...(this.entries.get(key)?.values() ?? [])]
      .flat()
      .filter((one) => one.client === client && one.atNs >= fromNs && one.atNs <= untilNs);
  }

  /** Until when what is told can be this hold's: the client's next try of the key may have stored something of its own. */
  private answeredByNs({ client, key, fromNs }: Hold): number {
    const { operations: ops } = this.input.history;
    let untilNs = fromNs + TOLD_WITHIN_NS;
    for (let row = 0; row < ops.count; row++)
      if (
        ops.op[row] === OP.acquire &&
        ops.sentNs[row]! > fromNs &&
        ops.sentNs[row]! < untilNs &&
        ops.clients[ops.client[row]!] === client &&
        ops.keys[ops.key[row]!] === key
      )
        untilNs = ops.sentNs[row]!;
    return untilNs;
  }

  private add(entry: StoredEntry): void {
    let logs = this.entries.get(entry.key);
    if (!logs) {
      logs = new Map();
      this.entries.set(entry.key, logs);
    }
    listIn(logs, entry.log).push(entry);
    listIn(this.tellings, `${entry.log} ${entry.key}`).push(entry);
    if (entry.term !== undefined) listIn(this.told, `${entry.node} ${entry.key}`).push(entry);
    if (entry.owner !== undefined) {
      if (entry.isSampled) this.isSampled = true;
      const owners = this.owners.get(entry.node) ?? new Set();
      this.owners.set(entry.node, owners.add(entry.owner));
    }
    const tellers = this.tellers.get(entry.log) ?? new Set();
    this.tellers.set(entry.log, tellers.add(entry.node));
  }
}

const made = new WeakMap<object, ServiceRecord>();

/** Made once for each run. */
export function serviceRecordOf({
  history,
  observations,
}: Pick<CheckInput, 'history' | 'observations'>): ServiceRecord {
  const known = made.get(observations) ?? new ServiceRecord({ history, observations });
  made.set(observations, known);
  return known;
}

/** A server that is followed anew tells what is there, which others told as it came. */
function inOrder(entries: readonly StoredEntry[]): StoredEntry[] {
  const sorted = [...entries].sort((a, b) => a.position - b.position || a.atNs - b.atNs);
  const kept: StoredEntry[] = [];
  for (const entry of sorted) {
    const last = kept.at(-1);
    if (!last || last.owner !== entry.owner) kept.push(entry);
    else if (last.position === entry.position && entry.atNs < last.atNs) kept[kept.length - 1] = entry;
  }
  return kept;
}

function earliest(entries: readonly StoredEntry[]): StoredEntry | undefined {
  return [...entries].sort((a, b) => a.atNs - b.atNs)[0];
}

function listIn<T>(lists: Map<string, T[]>, name: string): T[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}
