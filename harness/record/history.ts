/**
 * Reads a run's `history.jsonl` back, line by line: what is kept of it are columns (`history-table.ts`).
 *
 * It promises that what it returns has the shape that the vocabulary gives it: every field that a checker may look at is
 * there and of its type, the event on line i says `i`, and every completion has exactly one invoke before it. One kind of
 * damage is forgiven, because a killed harness leaves it: a torn last line. Anything else is refused, naming file and line.
 *
 * It does not judge what the events say. Client stamps in particular may be any number: a client that stamps nonsense
 * is the checkers' business, and no reason to lose the run.
 */
import type { FaultEffect, History, HistoryBody, HistoryEvent } from '../vocabulary/history.js';
import type { FileAfterPowerCut } from '../vocabulary/host.js';
import { HistoryTable } from './history-table.js';
import { forEachLine, piecesOf } from './line-pieces.js';
import { shownAsJson } from './schemas/foreign-text.js';
import { deadlinesSchema, keyNamesSchema, LEASE_KINDS, lockModelSchema } from './schemas/protocol.js';
import {
  type Check,
  DamagedHistory,
  type Fields,
  fieldProblem,
  flag,
  type JsonObject,
  listOf,
  NOT_JSON,
  nameText,
  number,
  object,
  oneOf,
  optional,
  parseObject,
  problemOf,
  stamp,
  text,
  whole,
  yes,
} from './shapes.js';
import { Version1, version1Fields } from './version-1.js';

export { DamagedHistory } from './shapes.js';

/**
 * Reads a whole history. Rejects with DamagedHistory, or as the file system does (no such file). `nodes`: how many data
 * nodes the run was configured to have, which histories of version 1 do not tell.
 */
export async function readHistory(path: string, nodes?: number): Promise<History> {
  const reader = new HistoryReader(path, nodes);
  const pieces = piecesOf(path);
  let piece = pieces.next();
  for (; !piece.done; piece = pieces.next()) {
    const { bytes } = piece.value;
    forEachLine(bytes, (start, end) => reader.add(bytes.toString('utf8', start, end)));
  }
  return reader.finish(piece.value);
}

/** The same for lines in memory, each of them written to its end. */
export function parseHistory(lines: Iterable<string>, file = 'history', nodes?: number): History {
  const reader = new HistoryReader(file, nodes);
  for (const line of lines) reader.add(line);
  return reader.finish(false);
}

/** Versions of the record that can be read. */
const VERSIONS: readonly number[] = [1, 2];

type Invoke = Extract<HistoryEvent, { type: 'invoke' }>;
type Completion = Extract<HistoryEvent, { type: 'ok' | 'fail' | 'info' }>;

class HistoryReader {
  private readonly table = new HistoryTable();
  private readonly up = new Set<string>();
  /** A line that cannot be parsed, which is damage only if another follows. */
  private torn: string | undefined;
  /** Of a history of version 1. */
  private version1: Version1 | undefined;

  constructor(
    private readonly file: string,
    private readonly nodes: number | undefined,
  ) {}

  add(line: string): void {
    if (this.torn !== undefined) throw this.damaged(this.torn);
    const value = parseObject(line);
    if (typeof value === 'string') {
      if (!value.startsWith(NOT_JSON)) throw this.damaged(value);
      this.torn = value;
      return;
    }
    const event = value.type === 'run' || this.version1 ? this.inThisVersion(value) : value;
    const problem = problemOf(event, eventFields, common);
    const misplaced = problem ?? this.misplaced(event as unknown as HistoryEvent);
    if (misplaced) throw this.damaged(misplaced);
    this.table.add(event as unknown as HistoryEvent);
  }

  /** The same for all versions that can be read. */
  private inThisVersion(value: JsonObject): JsonObject {
    if (value.type === 'run' && this.table.length === 0) {
      const { version } = value;
      if (Number.isInteger(version) && !VERSIONS.includes(version as number))
        throw this.damaged(`it is of version ${version}; this version of lock-torture reads ${VERSIONS.join(' and ')}`);
      if (version === 1) this.version1 = new Version1(this.nodes);
    }
    if (!this.version1) return value;
    // Of any other type the table says that it is unknown; looking one up would make a string of whatever it is.
    const fields = typeof value.type === 'string' ? version1Fields[value.type as HistoryBody['type']] : undefined;
    const problem = fields && (fieldProblem(value, common) ?? fieldProblem(value, fields));
    if (problem) throw this.damaged(problem);
    return this.version1.translate(value);
  }

  finish(unfinishedLine: boolean): History {
    if (this.table.length === 0) throw this.damaged('no run header (the history is empty)');
    return this.table.finish(unfinishedLine || this.torn !== undefined);
  }

  /** About the line after those that the table has. */
  private damaged(problem: string): DamagedHistory {
    return new DamagedHistory(this.file, this.table.length + 1, problem);
  }

  /** What is wrong with an event that is well formed by itself, given the events before it. */
  private misplaced(event: HistoryEvent): string | undefined {
    if (event.i !== this.table.length) return `"i" is ${event.i}, expected ${this.table.length}`;
    if (event.i === 0 && event.type !== 'run') return `no run header (the first event is of type "${event.type}")`;
    switch (event.type) {
      case 'run':
        return event.i === 0 ? undefined : 'a second run header';
      case 'client-up':
        return this.clientUp(event.client);
      case 'invoke':
        return this.invoke(event);
      case 'ok':
      case 'fail':
      case 'info':
        return this.complete(event);
      default:
        return undefined;
    }
  }

  private clientUp(client: string): string | undefined {
    // Two processes under one name would be taken for one holder, and their overlaps go unseen.
    if (this.up.has(client)) return `client ${client} came up twice`;
    this.up.add(client);
    return undefined;
  }

  private invoke({ client, id, op, key, hold, leaseMs, value }: Invoke): string | undefined {
    if (this.table.invoked(client, id)) return `${client} invokes operation ${id} a second time`;
    if ((op === 'acquire' || op === 'extend') && leaseMs === undefined) return `"leaseMs" of an ${op} is missing`;
    if (op === 'write' && value === undefined) return `"value" of a ${op} is missing`;
    if (op === 'acquire' || op === 'clock') return undefined;
    if (hold === undefined) return `"hold" of a ${op} is missing`;
    const held = this.table.invoked(client, hold);
    if (held?.op !== 'acquire') return `${op} of hold ${hold}, which ${client} never tried to acquire`;
    if (held.key !== key) return `${op} of hold ${hold} names key "${key}", but it was acquired as "${held.key}"`;
    return undefined;
  }

  private complete({ client, id, op, key, hold }: Completion): string | undefined {
    const invoked = this.table.invoked(client, id);
    if (!invoked || invoked.completed) {
      const why = invoked ? 'completes a second time' : 'completes without an invoke';
      return `operation ${id} of ${client} ${why}`;
    }
    if (invoked.op !== op || invoked.key !== key || (hold !== undefined && invoked.hold !== hold))
      return `operation ${id} of ${client} completes as another than line ${invoked.line + 1} invoked`;
    return undefined;
  }
}

// ---------------------------------------------------------------------------------------- what an event must look like

const pair: Check = (value) =>
  Array.isArray(value) && value.length === 2 ? listOf(text)(value) : 'not a list of pairs';

const pairs = listOf(pair);
const names = listOf(text);

const fileAfterPowerCut: Check = (value) =>
  object(value) ??
  fieldProblem(value as JsonObject, {
    name: text,
    writtenBytes: whole,
    durableBytes: whole,
    leftBytes: whole,
    zeroedBytes: optional(whole),
    became: optional(oneOf('gone', 'back')),
  } satisfies Record<keyof FileAfterPowerCut, Check>);

/** Of each kind of effect, what it has beside its bounds. */
const effectFields: Record<FaultEffect['kind'], Fields> = {
  stopped: { who: names },
  slowed: { who: names, stopMs: number, everyMs: number },
  'syncs-slowly': { who: names, syncMs: number },
  killed: { who: names },
  'lost-power': { who: names, mode: oneOf('exact', 'torn', 'zeros'), files: listOf(fileAfterPowerCut) },
  forgot: { who: names },
  cut: { pairs },
  degraded: {
    pairs,
    delayMs: number,
    jitterMs: number,
    lossPpm: whole,
    duplicatePpm: whole,
    reorderPpm: whole,
    rateKbps: number,
  },
  'heard-after': { pairs, withinMs: number },
  'connections-reset': { pairs },
  'off-network': { who: names },
  'clock-jumped': { who: names, offsetMs: number },
  'clock-drifts': { who: names, ratePpm: number, gainedMs: number },
  'clock-strobes': { who: names, offsetMs: number },
  'short-of-memory': { who: names },
  evicted: { who: names, keys: names },
  replaced: { who: names, by: optional(text) },
  'slot-moves': { who: names, slot: whole, atOnce: optional(yes) },
};

const bounds: Fields = { sinceNs: optional(stamp), untilNs: optional(stamp) };

const effect: Check = (value) => kindProblem(value, effectFields, bounds);

const ofMajority: Fields = { nodes: names, majority: whole, servers: optional(listOf(names)) };
const quorum: Check = (value) => kindProblem(value, { primary: {}, majority: ofMajority }, {});

/** What is wrong with an object whose fields depend on its `kind`. */
function kindProblem(value: unknown, kinds: Record<string, Fields>, everyKind: Fields): string | undefined {
  const problem = object(value);
  if (problem) return problem;
  const { kind } = value as JsonObject;
  if (typeof kind !== 'string' || !Object.hasOwn(kinds, kind)) return `of unknown kind ${shownAsJson(kind)}`;
  const field = fieldProblem(value as JsonObject, { ...everyKind, ...kinds[kind] });
  return field && `wrong: its ${field}`;
}

const lockModel: Check = (value) => (lockModelSchema.safeParse(value).success ? undefined : 'not a lock model');
const deadlines: Check = (value) =>
  deadlinesSchema.safeParse(value).success ? undefined : 'not when places and permits end';

const keyNames: Check = (value) =>
  keyNamesSchema.safeParse(value).success ? undefined : 'not names with {key} in them';

type EventOf<T> = HistoryBody extends infer E
  ? E extends { type: infer U }
    ? T extends U
      ? E
      : never
    : never
  : never;
type FieldOf<E> = Exclude<keyof E, 'type'>;

const common = { i: whole, atNs: stamp };

const operation = {
  client: nameText,
  id: whole,
  op: oneOf('acquire', 'release', 'extend', 'clock', 'read', 'write'),
  key: nameText,
  hold: optional(whole),
};

const completion = {
  ...operation,
  beganNs: optional(number),
  endedNs: optional(number),
  reason: optional(text),
  cancelledNs: optional(number),
  token: optional(number),
  validForMs: optional(number),
  grantSentNs: optional(number),
  sentNs: optional(number),
  wallMs: optional(number),
  value: optional(number),
  version: optional(number),
};

const lostAnswer: Check = (value) =>
  object(value) ?? fieldProblem(value as JsonObject, { id: whole, op: operation.op, key: nameText });

const protocolBreak: Check = (value) =>
  object(value) ?? fieldProblem(value as JsonObject, { what: text, lost: optional(lostAnswer) });

/** A check for each field of each event: a field that only one of event and table has does not compile. */
const eventFields = {
  run: { version: oneOf(2), runId: text, seed: number, epochWallMs: number },
  deployment: {
    topology: text,
    runtime: text,
    serverVersion: text,
    settings: listOf(object),
    quorum: optional(quorum),
    exactStamps: optional(flag),
  },
  phase: { phase: oneOf('warm-up', 'torture', 'heal', 'recovery', 'probe', 'end') },
  'client-up': {
    client: nameText,
    slot: nameText,
    process: optional(nameText),
    host: nameText,
    address: nameText,
    lock: nameText,
    features: listOf(text),
    model: optional(lockModel),
    lease: optional(oneOf(...LEASE_KINDS)),
    deadlines: optional(deadlines),
    keys: optional(keyNames),
  },
  'client-down': { client: nameText, endNs: stamp, reason: text, broke: optional(protocolBreak) },
  invoke: {
    ...operation,
    leaseMs: optional(number),
    waitMs: optional(number),
    mode: optional(oneOf('read', 'write')),
    value: optional(number),
  },
  ok: completion,
  fail: completion,
  info: completion,
  renewed: { client: nameText, hold: whole, key: nameText, sentNs: number, leaseMs: number },
  lost: { client: nameText, hold: whole, key: nameText, clientNs: number, reason: optional(text) },
  step: { client: nameText, name: nameText, clientNs: number, hold: optional(whole) },
  fault: {
    step: number,
    fault: nameText,
    state: oneOf('strike', 'phase', 'heal', 'refused', 'failed'),
    targets: listOf(text),
    did: text,
    proof: optional(text),
    beganNs: optional(stamp),
    effects: listOf(effect),
    mishap: optional(oneOf('disk', 'server', 'unhealed')),
    late: optional(text),
  },
  disturbance: { disturbance: oneOf('harness-stall', 'wall-clock-step'), ms: number, beganNs: stamp },
  recovered: { afterMs: number, missing: listOf(text) },
  probe: {
    key: nameText,
    client: nameText,
    acquired: flag,
    afterMs: number,
    reason: optional(text),
    untried: optional(flag),
  },
  closed: { observations: whole },
} satisfies { [T in HistoryBody['type']]: Record<FieldOf<EventOf<T>>, Check> };
