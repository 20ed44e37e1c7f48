/**
 * Which of several callers in one process sent a command. A server names the connection, and so the process; its callers may
 * share it. Whoever explains a run wants to know whose a command was, and may be told only what is certain.
 *
 * Two ways to tell, both from the run's own record:
 *
 * - A value that names an owner (a random one for each grant, a client's with the number of a thread) is the caller's in whose
 *   granted attempt it was the only one that the process sent for the key; or, of several, the only one that a server was seen to
 *   have stored while it held, or that was sent when it gave back. Say c1-a was granted `lock:0` by an attempt that left
 *   at 2.000 s and was answered at 2.001 s, and all that c1 sent for `lock:0` in between had the value `9f…`: then `9f…` is
 *   c1-a's. It is nobody's where that makes it two callers' (the lock knows but one owner in a process), where it was sent while
 *   the caller had nothing to do with the key, or where another caller was granted the key and sent nothing but values that are
 *   others': one of these must then be its own as well.
 * - A command without any such value is the caller's who alone had to do with the key just then.
 *
 * Of what cannot be told the sender is left out, as that of a command from an unknown connection. Excludes values of fewer than
 * eight characters, and numbers, which may be anything.
 */
import type { CommandObservation, History, HistoryEvent, Observation, Observations } from '../../vocabulary/history.js';
import { OP, OUTCOME } from '../history-table.js';
import { firstIndex } from './first-index.js';
import { RECKONING_NS } from './key-writes.js';
import { appendTo } from './listed-by-name.js';
import { machineClockOf } from './machine-clock.js';

/** A command is read so late at the most while harness and machine run. */
const READ_WITHIN_NS = 2e9;
/** What a library sends by itself for an operation (the giving back of a part of a try, say) comes within this of its end. */
const AFTERWARDS_NS = 1e9;
/** What a sample shows may be from so long before it was recorded. */
const SEEN_LATE_NS = 250e6;
const LEAST_VALUE = 8;

interface Span {
  readonly fromNs: number;
  readonly untilNs: number;
}

/** What a caller had to do with a key: while it asked for it, held it, or gave it back. */
interface Dealing extends Span {
  readonly caller: string;
}

/** What one caller had to do with a key, in order, and until when it had by each of them. */
interface Dealings {
  readonly all: readonly Dealing[];
  readonly latestNs: Float64Array;
}

/** A granted attempt on its way; and what became of it: when it was held, and when it was being given back. */
interface GrantedTry extends Dealing {
  readonly held: Span;
  readonly returning: Span | undefined;
}

/** A command of a process for a key, and when it may have run. */
interface Sent extends Span {
  readonly line: number;
  /** When the harness read it. */
  readonly atNs: number;
  readonly values: readonly string[];
}

type Up = Extract<HistoryEvent, { type: 'client-up' }>;

/** The observations of a run, in which commands of processes with several callers are the callers'. */
export function namedByCallers(observations: Observations, history: History): Observations {
  const ups = history.rare.filter((event): event is Up => event.type === 'client-up' && event.process !== undefined);
  if (ups.length === 0) return observations;
  const senders = new Senders(observations, history, ups);
  const told = (line: number, command: CommandObservation): CommandObservation => {
    const { client, ...rest } = command;
    if (client === undefined || !senders.processes.has(client)) return command;
    const caller = senders.callerOf(line);
    return caller === undefined ? rest : { ...rest, client: caller };
  };
  const either = (line: number, one: Observation) => (one.type === 'command' ? told(line, one) : one);
  return {
    length: observations.length,
    commandCount: observations.commandCount,
    rare: observations.rare,
    line(i) {
      const one = observations.line(i);
      return one && either(i, one);
    },
    *commands(fromNs, untilNs) {
      for (const [line, command] of observations.commands(fromNs, untilNs)) yield [line, told(line, command)];
    },
  };
}

class Senders {
  readonly processes: ReadonlySet<string>;
  private readonly processOf: ReadonlyMap<string, string>;
  /** By process and key, of each of its callers. */
  private readonly dealings: ReadonlyMap<string, readonly Dealings[]>;
  /** By process and key, when the attempts were on their way that were granted. */
  private readonly granted: ReadonlyMap<string, readonly GrantedTry[]>;
  /** By line; undefined: of its keys one tells this, one that. */
  private readonly callers = new Map<number, string | undefined>();

  constructor(
    private readonly observations: Observations,
    private readonly history: History,
    ups: readonly Up[],
  ) {
    this.processOf = new Map(ups.map(({ client, process }) => [client, process!]));
    this.processes = new Set(this.processOf.values());
    this.dealings = inOrder(this.dealingsByKey());
    this.granted = this.grantsByKey();
    const sent = this.sentByKey();
    for (const [place, commands] of sent) this.tell(place, commands);
  }

  /** Undefined: that cannot be told. */
  callerOf(line: number): string | undefined {
    return this.callers.get(line);
  }

  private tell(place: string, commands: readonly Sent[]): void {
    const owners = this.ownersOf(place, commands);
    for (const command of commands) {
      const isNameless = command.values.length === 0;
      const whose = isNameless
        ? this.around(place, command)
        : new Set(command.values.flatMap((one) => owners.get(one) ?? []));
      const [caller] = whose.size === 1 ? whose : [undefined];
      const isFirst = !this.callers.has(command.line);
      this.callers.set(command.line, isFirst || this.callers.get(command.line) === caller ? caller : undefined);
    }
  }

  /** By value, whose it is. */
  private ownersOf(place: string, commands: readonly Sent[]): ReadonlyMap<string, string> {
    const owners = new Map<string, string>();
    const nobodys = new Set<string>();
    const grants = (this.granted.get(place) ?? []).map((granted) => ({
      caller: granted.caller,
      values: valuesWithin(granted, commands),
      granted,
    }));
    for (const { caller, values, granted } of grants) {
      const [value] = values.size > 1 ? this.seenLater(place, values, granted, commands) : values;
      if (value === undefined) continue;
      if ((owners.get(value) ?? caller) !== caller) nobodys.add(value);
      owners.set(value, caller);
    }
    for (const command of commands)
      for (const value of command.values) {
        const owner = owners.get(value);
        if (owner !== undefined && !this.around(place, command).has(owner)) nobodys.add(value);
      }
    for (const { caller, values } of grants) {
      const all = [...values];
      if (all.length > 0 && all.every((value) => (owners.get(value) ?? caller) !== caller))
        for (const value of all) nobodys.add(value);
    }
    for (const value of nobodys) owners.delete(value);
    return owners;
  }

  /** Of several values that one which was there while its caller held, or was named when it gave back; if it is one. */
  private seenLater(
    place: string,
    values: ReadonlySet<string>,
    { held, returning }: GrantedTry,
    commands: readonly Sent[],
  ): readonly string[] {
    const key = place.slice(place.indexOf('\n') + 1);
    const named = returning ? valuesWithin(returning, commands) : new Set<string>();
    const stored = this.storedWithin(key, held);
    const found = [...values].filter((value) => named.has(value) || stored.some((owner) => owner.includes(value)));
    return found.length === 1 ? found : [];
  }

  /** What servers were seen to have stored under a key in a time. */
  private storedWithin(key: string, { fromNs, untilNs }: Span): string[] {
    const { rare } = this.observations;
    const stored: string[] = [];
    for (let at = firstIndex(rare.length, (nth) => rare[nth]![1].atNs > fromNs); at < rare.length; at++) {
      const [, one] = rare[at]!;
      if (one.atNs > untilNs) break;
      const owner = one.type === 'sample' ? one.keys[key]?.owner : undefined;
      if (owner !== undefined) stored.push(owner);
    }
    return stored;
  }

  /** Callers that had to do with the key when the command may have run. */
  private around(place: string, { fromNs, untilNs }: Span): ReadonlySet<string> {
    const found = new Set<string>();
    for (const { all, latestNs } of this.dealings.get(place) ?? []) {
      const last = firstIndex(all.length, (at) => all[at]!.fromNs > untilNs) - 1;
      if (last >= 0 && latestNs[last]! >= fromNs) found.add(all[last]!.caller);
    }
    return found;
  }

  private grantsByKey(): ReadonlyMap<string, readonly GrantedTry[]> {
    const { operations: ops, endNs } = this.history;
    const releases = new Map<number, number>();
    for (let row = 0; row < ops.count; row++)
      if (ops.op[row] === OP.release && ops.hold[row]! >= 0) releases.set(ops.hold[row]!, row);
    const found = new Map<string, GrantedTry[]>();
    const either = (...ns: number[]) => ns.find((one) => !Number.isNaN(one)) ?? endNs;
    for (let row = 0; row < ops.count; row++) {
      const place = this.placeOf(row);
      if (place === undefined || ops.op[row] !== OP.acquire || ops.outcome[row] !== OUTCOME.ok) continue;
      const leftNs = either(ops.leaseFromNs[row]!, ops.beganNs[row]!, ops.sentNs[row]!);
      const endedNs = either(ops.endedNs[row]!, ops.readNs[row]!);
      const given = releases.get(row);
      const beganNs = given === undefined ? endNs : either(ops.beganNs[given]!, ops.sentNs[given]!);
      appendTo(found, place, {
        caller: ops.clients[ops.client[row]!]!,
        fromNs: leftNs - RECKONING_NS,
        untilNs: endedNs + RECKONING_NS,
        held: { fromNs: endedNs + SEEN_LATE_NS, untilNs: beganNs },
        returning:
          given === undefined
            ? undefined
            : {
                fromNs: beganNs - RECKONING_NS,
                untilNs: either(ops.endedNs[given]!, ops.readNs[given]!) + RECKONING_NS,
              },
      });
    }
    return found;
  }

  private placeOf(row: number): string | undefined {
    const { operations: ops } = this.history;
    const process = this.processOf.get(ops.clients[ops.client[row]!]!);
    return process === undefined ? undefined : `${process}\n${ops.keys[ops.key[row]!]!}`;
  }

  /** From when a caller asked for a key until it was refused, or had given back what it was granted. */
  private dealingsByKey(): ReadonlyMap<string, readonly Dealing[]> {
    const { operations: ops, endNs } = this.history;
    const untilNs = new Map<number, number>();
    for (let row = 0; row < ops.count; row++) {
      const answeredNs = Number.isNaN(ops.readNs[row]) ? endNs : ops.readNs[row]!;
      if (ops.op[row] === OP.acquire) untilNs.set(row, ops.outcome[row] === OUTCOME.ok ? endNs : answeredNs);
      else if (ops.op[row] === OP.release && ops.hold[row]! >= 0) untilNs.set(ops.hold[row]!, answeredNs);
    }
    const dealings = new Map<string, Dealing[]>();
    for (const [row, lastNs] of untilNs) {
      const place = this.placeOf(row);
      if (place === undefined) continue;
      const caller = ops.clients[ops.client[row]!]!;
      const fromNs = ops.sentNs[row]! - RECKONING_NS;
      appendTo(dealings, place, { caller, fromNs, untilNs: lastNs + AFTERWARDS_NS });
    }
    return dealings;
  }

  private sentByKey(): ReadonlyMap<string, readonly Sent[]> {
    const keys = this.history.operations.keys;
    const ranFrom = this.reckoning();
    const sent = new Map<string, Sent[]>();
    for (const [line, command] of this.observations.commands(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)) {
      const { client, argv } = command;
      if (client === undefined || !this.processes.has(client)) continue;
      for (const key of keys) {
        if (!argv.some((word) => namesKey(word, key))) continue;
        const { atNs } = command;
        appendTo(sent, `${client}\n${key}`, { line, atNs, values: valuesIn(argv, keys), ...ranFrom(command) });
      }
    }
    return sent;
  }

  /** Between when and when a command ran: by the server's own stamp where nobody touched clocks. */
  private reckoning(): (command: CommandObservation) => Span {
    const machineClock = machineClockOf(this.history);
    const moved = this.history.rare.some(
      (event) => event.type === 'fault' && event.effects.some(({ kind }) => kind.startsWith('clock-')),
    );
    return ({ atNs, serverWallMs }) => {
      const late = { fromNs: atNs - READ_WITHIN_NS, untilNs: atNs };
      if (moved || !machineClock) return late;
      const ranNs = machineClock.showed(serverWallMs, 0, atNs);
      const isPlaced = ranNs >= late.fromNs && ranNs <= atNs + RECKONING_NS;
      return isPlaced ? { fromNs: ranNs - RECKONING_NS, untilNs: ranNs + RECKONING_NS } : late;
    };
  }
}

function inOrder(dealings: ReadonlyMap<string, readonly Dealing[]>): ReadonlyMap<string, readonly Dealings[]> {
  const ordered = new Map<string, Dealings[]>();
  for (const [place, list] of dealings) {
    const byCaller = new Map<string, Dealing[]>();
    for (const one of [...list].sort((a, b) => a.fromNs - b.fromNs)) appendTo(byCaller, one.caller, one);
    for (const all of byCaller.values()) {
      const latestNs = Float64Array.from(all, ({ untilNs }) => untilNs);
      for (let at = 1; at < latestNs.length; at++) latestNs[at] = Math.max(latestNs[at]!, latestNs[at - 1]!);
      appendTo(ordered, place, { all, latestNs });
    }
  }
  return ordered;
}

/** All values that the process sent in a time. */
function valuesWithin({ fromNs, untilNs }: Span, commands: readonly Sent[]): ReadonlySet<string> {
  const values = new Set<string>();
  const first = firstIndex(commands.length, (at) => commands[at]!.atNs >= fromNs);
  for (let at = first; at < commands.length && commands[at]!.atNs - READ_WITHIN_NS <= untilNs + RECKONING_NS; at++) {
    const one = commands[at]!;
    if (one.fromNs <= untilNs && one.untilNs >= fromNs) for (const value of one.values) values.add(value);
  }
  return values;
}

/** `lock:1:queue` is of `lock:1`, and `lock:10` is not. */
function namesKey(word: string, key: string): boolean {
  const at = word.indexOf(key);
  return at >= 0 && !/^\d/.test(word.slice(at + key.length));
}

/** Words of a command that may name an owner: neither its name, a script or the hash of one, a key, nor a number. */
function valuesIn(argv: readonly string[], keys: readonly string[]): string[] {
  const isScript = /^(EVAL|FCALL)/i.test(argv[0]!);
  return argv
    .slice(isScript ? 2 : 1)
    .filter((word) => word.length >= LEAST_VALUE && !/^[\d.]+$/.test(word) && !keys.some((key) => word.includes(key)));
}
