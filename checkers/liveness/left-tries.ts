/**
 * What clients stored on servers in tries that came to nothing, and did not name again over the same connection before they
 * went on: read from all commands of a run at once. `left-behind.ts` says what that is for, and what it excludes.
 */
import { type Change, ownersBy, ownersOf, storedBy, stores } from '../../harness/record/facts/commands/changes.js';
import { ServerReading } from '../../harness/record/facts/commands/server-reading.js';
import type { StoredState } from '../../harness/record/facts/commands/state.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { wasGivenUp } from '../../harness/record/facts/given-up.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { releasesAnsweredNs } from '../../harness/record/facts/releases-answered.js';
import { OUTCOME } from '../../harness/record/history-table.js';
import type { CommandObservation, History } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import { acquiresOf } from '../causes/asks.js';
import { RequestKinds, removesItsOwn, type Stored } from '../causes/stored-again.js';

/** What is still on its way after a try has ended has come by then. */
export const SETTLED_NS = 250e6;

/** A value that a client stored, or was to store, in one of its tries. */
export interface Try extends Stored {
  /**
   * The row of the acquire in which its client first named it to any node: it was sent in that one, or before. Of a value that
   * serves for several acquires, the one that the client was in when it was stored: it was sent in none later.
   */
  row: number;
  /** It was taken for one that serves for a single acquire. */
  isOfOneTry: boolean;
  /** What it was stored as; undefined: by a command that stores nothing but owners. */
  form: string | undefined;
}

export interface Candidate {
  left: Try;
  /** What the client asked next, over the same connection. */
  next: { atNs: number; line: number };
  /** When the value was named to the node after all. */
  namedNs: number;
  /** The first command that found the value there when all had settled. */
  found?: Seen;
}

export interface Seen {
  atNs: number;
  line: number;
}

/** A thread's name, as an owner, serves for all its acquires; most locks draw a value for each. */
interface Naming {
  row: number;
  byNode: Map<string, number>;
  /** One node was given it in two acquires. */
  isReused: boolean;
}

/** Reads all commands once, and finds tries that were followed by another one without having been named in between. */
export class LeftTries {
  private readonly readings = new Map<string, ServerReading>();
  /** By node, connection and key: tries whose value was not named since. */
  private readonly open = new Map<string, Try>();
  /** By node and value. */
  private readonly candidates = new Map<string, Candidate>();
  /** Keys and types in which clients were seen to take their own values away. */
  private readonly forms = new Set<string>();
  private readonly acquireAt = new Map<string, ReturnType<typeof acquiresOf>>();
  /** By key and client, in which acquire it first named a value: to any node, and to each. */
  private readonly namedIn = new Map<string, Map<string, Naming>>();
  private readonly over: ReturnType<typeof endOfTries>;
  private readonly kinds = new RequestKinds();
  /** By node, what it carries out: commands of a script come after it. */
  private readonly requests = new Map<string, CommandObservation>();
  /** By key and value, the client that stored it; undefined: several did. */
  private readonly owners = new Map<string, string | undefined>();
  /** By node: which process it was when it was looked at last. */
  private readonly processes = new Map<string, string>();
  private nextRare = 0;
  private count = 0;

  constructor(private readonly input: CheckInput) {
    for (const key of input.config.keys) this.acquireAt.set(key, acquiresOf(input.history, key));
    this.over = endOfTries(input.history);
  }

  read(): { candidates: Candidate[]; tries: number; kinds: RequestKinds } {
    const { observations, config } = this.input;
    const keys = new Set(config.keys);
    for (const [line, command] of observations.commands(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)) {
      this.breaksUntil(line);
      const { node, argv } = command;
      const reading = this.readings.get(node) ?? new ServerReading({ follows: (key) => keys.has(key) });
      this.readings.set(node, reading);
      reading.command({ ...command, line });
      if (command.source !== 'lua') this.requests.set(node, command);
      const named = config.keys.filter((key) => argv.includes(key));
      for (const key of named) this.firstNamed(command, key);
      const tries = config.keys.flatMap((key) => this.changed(reading.takeChanges(key), node, key));
      if (command.client !== undefined) {
        this.named(command);
        for (const key of named) this.asked(command, line, key);
      }
      for (const one of tries) this.tried(one);
    }
    const proven = ({ left: { form, client, key, value, isOfOneTry } }: Candidate) =>
      (form === undefined || this.forms.has(form)) &&
      this.owners.get(placeOf('', key, value)) === client &&
      // What was found to be reused only later may have been stored in a later acquire than was thought.
      !(isOfOneTry && this.namedIn.get(`${key} ${client}`)?.get(value)?.isReused);
    return { candidates: [...this.candidates.values()].filter(proven), tries: this.count, kinds: this.kinds };
  }

  /** From where a server was not watched, was another process, or may have loaded another's data, nothing is known. */
  private breaksUntil(line: number): void {
    const { rare } = this.input.observations;
    for (let next = rare[this.nextRare]; next && next[0] < line; next = rare[++this.nextRare]) {
      const [at, one] = next;
      const reading = this.readings.get(one.node);
      const place = { line: at, atNs: one.atNs };
      if (one.type === 'watch') {
        reading?.gap(place);
        this.mayBeNamed(one);
      } else if (one.type === 'evicted') reading?.evicted(place, one.key);
      else if (one.type === 'sample') {
        const process = `${one.runId} ${one.role}`;
        if ((this.processes.get(one.node) ?? process) !== process) reading?.gap(place);
        this.processes.set(one.node, process);
      }
    }
  }

  /** What became of a key: what it says of candidates, and which tries stored something. */
  private changed(changes: readonly Change[], node: string, key: string): Try[] {
    return changes.flatMap((change): Try[] => {
      this.foundBy(change, node, key);
      const { by, applied, before, after, wanted, onlyNew, line, atNs } = change;
      const client = by?.client;
      if (client === undefined) return [];
      if (removesItsOwn(change)) this.forms.add(formOf(before, key));
      const request = this.requests.get(node);
      if (request) this.kinds.did(request, change);
      const meant = applied === 'yes' ? after : (wanted ?? after);
      const type = meant.held?.type;
      if (type === undefined || type === 'list' || type === 'zset' || this.isCount(type)) return [];
      // What it did not name itself was composed or counted by a script, and is not named when it is given back.
      const named = ownersBy(meant, line).filter((value) => this.requests.get(node)?.argv.includes(value));
      const runs = this.acquireAt.get(key)?.(client, atNs);
      return named.flatMap((value) => {
        const naming = this.namedIn.get(`${key} ${client}`)?.get(value);
        const isOfOneTry = naming !== undefined && !naming.isReused;
        const row = isOfOneTry ? naming.row : runs;
        if (row === undefined) return [];
        const place = placeOf('', key, value);
        this.owners.set(place, this.owners.has(place) && this.owners.get(place) !== client ? undefined : client);
        const form = onlyNew && type === 'string' ? undefined : formOf(meant, key);
        return [{ node, client, source: by!.source, key, value, atNs, line, row, isOfOneTry, form }];
      });
    });
  }

  /** A semaphore's number of permits is no owner. */
  private isCount(type: string): boolean {
    return this.input.model.kind === 'semaphore' && type === 'string';
  }

  private foundBy({ how, before, atNs, line }: Change, node: string, key: string): void {
    if (how !== 'command') return;
    for (const owner of ownersOf(before)) {
      const candidate = this.candidates.get(placeOf(node, key, owner));
      if (!candidate || candidate.found || atNs < candidate.next.atNs + SETTLED_NS) continue;
      if (stores(before, owner) === 'yes' && storedBy(before, owner)?.line === candidate.left.line)
        candidate.found = { atNs, line };
    }
  }

  /** A node that answers late carries out what it was asked when its client has long gone on: others were asked at the same time. */
  private firstNamed({ node, client, atNs, argv }: CommandObservation, key: string): void {
    const row = client === undefined ? undefined : this.acquireAt.get(key)?.(client, atNs);
    if (row === undefined) return;
    const of = `${key} ${client}`;
    const namings = this.namedIn.get(of) ?? new Map<string, Naming>();
    this.namedIn.set(of, namings);
    for (const argument of argv) {
      const naming: Naming = namings.get(argument) ?? { row, byNode: new Map(), isReused: false };
      namings.set(argument, naming);
      const before = naming.byNode.get(node);
      if (before === undefined) naming.byNode.set(node, row);
      else if (before !== row) naming.isReused = true;
    }
  }

  /** While it was not watched, any value may have been named to the node. */
  private mayBeNamed({ node, atNs }: Pick<CommandObservation, 'node' | 'atNs'>): void {
    for (const [place, { node: of }] of this.open) if (of === node) this.open.delete(place);
    for (const candidate of this.candidates.values())
      if (candidate.left.node === node) candidate.namedNs = Math.min(candidate.namedNs, atNs);
  }

  private named({ node, source, atNs, argv }: CommandObservation): void {
    for (const key of this.input.config.keys) {
      for (const argument of argv) {
        const candidate = this.candidates.get(placeOf(node, key, argument));
        if (candidate) candidate.namedNs = Math.min(candidate.namedNs, atNs);
      }
      const place = `${node} ${source} ${key}`;
      if (argv.includes(this.open.get(place)?.value ?? '\0')) this.open.delete(place);
    }
  }

  /** A client asks again, which need not store anything. */
  private asked({ node, source, client, atNs }: CommandObservation, line: number, key: string): void {
    const left = this.open.get(`${node} ${source} ${key}`);
    if (!left) return;
    const row = this.acquireAt.get(key)?.(client!, atNs);
    if (row !== undefined && row > left.row) this.wentOn(left, { atNs, line, row });
  }

  private tried(now: Try): void {
    this.count++;
    const place = `${now.node} ${now.source} ${now.key}`;
    const before = this.open.get(place);
    if (before) this.wentOn(before, now);
    this.open.set(place, now);
  }

  private wentOn(left: Try, next: { atNs: number; line: number; row: number }): void {
    const place = placeOf(left.node, left.key, left.value);
    if (this.candidates.has(place) || !this.over(left.row, next)) return;
    this.candidates.set(place, { left, next, namedNs: Number.POSITIVE_INFINITY });
  }
}

/**
 * Whether an acquire had come to nothing when its client asked next: it had failed, or what it was granted had been released, and
 * that was answered; or it was still asking. And whether its client held the key by no other grant, but by what it asked for
 * then or later: that may come before a slow node has carried out what it was asked for it.
 */
function endOfTries(history: History): (row: number, next: { row: number; atNs: number }) => boolean {
  const { operations: ops } = history;
  const holds = holdsOf(history);
  const answeredNs = releasesAnsweredNs(history);
  const overNs = (k: number) =>
    answeredNs[k]! > Number.NEGATIVE_INFINITY ? Math.max(holds.untilNs[k]!, answeredNs[k]!) : Number.POSITIVE_INFINITY;
  const ofClient = new Map<string, { k: number; latestNs: number }[]>();
  const nameOf = (client: number, key: number) => `${client} ${key}`;
  for (const k of [...holds.row.keys()].sort((a, b) => holds.fromNs[a]! - holds.fromNs[b]!)) {
    const name = nameOf(holds.client[k]!, holds.key[k]!);
    const known = ofClient.get(name) ?? [];
    ofClient.set(name, known);
    known.push({ k, latestNs: Math.max(overNs(k), known.at(-1)?.latestNs ?? Number.NEGATIVE_INFINITY) });
  }
  // Whoever gave it up did not get it, whatever became of it.
  const cameToNothing = (row: number) =>
    ops.outcome[row] === OUTCOME.fail ||
    (ops.outcome[row] === OUTCOME.info && wasGivenUp(ops.cancelledNs[row], ops.reasons[ops.reason[row]!]));
  return (row, next) => {
    const k = holds.ofRow[row]!;
    if (row !== next.row && (k < 0 ? !cameToNothing(row) : overNs(k) > next.atNs)) return false;
    const own = ofClient.get(nameOf(ops.client[row]!, ops.key[row]!)) ?? [];
    let last = firstIndex(own.length, (at) => holds.fromNs[own[at]!.k]! > next.atNs) - 1;
    while (last >= 0 && holds.row[own[last]!.k]! >= next.row) last--;
    return last < 0 || own[last]!.latestNs <= next.atNs;
  };
}

/** One value under one key of one node. */
export function placeOf(node: string, key: string, value: string): string {
  return `${node} ${key} ${value}`;
}

function formOf({ held }: StoredState, key: string): string {
  return `${held?.type} ${key}`;
}
