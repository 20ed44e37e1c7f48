/**
 * Reads a run's `history.jsonl` and `observations.jsonl` back, line by line: only the parsed events are kept in memory.
 *
 * It promises that what it returns has the shape that `api.ts` gives it: every field that a checker may look at is
 * there and of its type, `events[i].i === i`, and every completion has exactly one invoke before it. One kind of damage
 * is forgiven, because a killed harness leaves it: a torn last line. Anything else is refused, naming file and line.
 *
 * It does not judge what the events say. Client stamps in particular may be any number: a client that stamps nonsense
 * is the checkers' business, and no reason to lose the run.
 */
import { createReadStream } from 'node:fs';
import type { History, HistoryBody, HistoryEvent, Observation, ObservationBody } from './api.js';

/** A recorded file that cannot be relied on. The message is one line: the file, the 1-based line, and what is wrong. */
export class DamagedHistory extends Error {
  override name = 'DamagedHistory';

  constructor(
    readonly file: string,
    readonly line: number,
    readonly problem: string,
  ) {
    super(`${file}, line ${line}: ${problem}`.replace(/\s+/g, ' '));
  }
}

/** Reads a whole history. Rejects with DamagedHistory, or as the file system does (no such file). */
export async function readHistory(path: string): Promise<History> {
  const reader = new HistoryReader(path);
  const rest = await eachLine(path, (line) => reader.add(line));
  return reader.finish(rest !== '');
}

/** The same for lines in memory, each of them written to its end. */
export function parseHistory(lines: Iterable<string>, file = 'history'): History {
  const reader = new HistoryReader(file);
  for (const line of lines) reader.add(line);
  return reader.finish(false);
}

/** Reads what the servers believed. A missing file means that nobody watched; a torn last line is left out. */
export async function readObservations(path: string): Promise<Observation[]> {
  const observations: Observation[] = [];
  const lines = new Lines(path);
  const read = (line: string) => {
    const value = lines.parse(line);
    if (value === undefined) return;
    const problem = problemOf(value, observationFields, { atNs: stamp, node: text });
    if (problem) throw lines.damaged(problem);
    observations.push(value as unknown as Observation);
  };
  try {
    await eachLine(path, read);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return observations;
}

/** Calls `onLine` for every line that was written to its end; resolves with what follows the last line break. */
async function eachLine(path: string, onLine: (line: string) => void): Promise<string> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 18 })) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  }
  return rest;
}

type JsonObject = Record<string, unknown>;

/** Parses JSON lines; an unparsable one is damage only if another line follows it. */
class Lines {
  /** The number of lines seen. */
  count = 0;
  private unparsable: DamagedHistory | undefined;

  constructor(private readonly file: string) {}

  /** The object on the next line; undefined where it cannot be parsed, which only the last line may do. */
  parse(line: string): JsonObject | undefined {
    if (this.unparsable) throw this.unparsable;
    this.count++;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      this.unparsable = this.damaged(`not JSON (${(error as Error).message})`);
      return undefined;
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.damaged('not a JSON object');
    return value as JsonObject;
  }

  get torn(): boolean {
    return this.unparsable !== undefined;
  }

  damaged(problem: string): DamagedHistory {
    return new DamagedHistory(this.file, this.count, problem);
  }
}

type Invoke = Extract<HistoryEvent, { type: 'invoke' }>;

class HistoryReader {
  private readonly events: HistoryEvent[] = [];
  private readonly lines: Lines;
  private readonly operations = new Map<string, ClientOperations>();

  constructor(private readonly file: string) {
    this.lines = new Lines(file);
  }

  add(line: string): void {
    const value = this.lines.parse(line);
    if (value === undefined) return;
    const problem =
      problemOf(value, eventFields, { i: whole, atNs: stamp }) ?? this.misplaced(value as unknown as HistoryEvent);
    if (problem) throw this.lines.damaged(problem);
    this.events.push(value as unknown as HistoryEvent);
  }

  finish(unfinishedLine: boolean): History {
    if (this.events.length === 0) throw new DamagedHistory(this.file, 1, 'no run header (the history is empty)');
    return { events: this.events, torn: unfinishedLine || this.lines.torn };
  }

  /** What is wrong with an event that is well formed by itself, given the events before it. */
  private misplaced(event: HistoryEvent): string | undefined {
    if (event.i !== this.events.length) return `"i" is ${event.i}, expected ${this.events.length}`;
    if (event.i === 0 && event.type !== 'run') return `no run header (the first event is of type "${event.type}")`;
    switch (event.type) {
      case 'run':
        return event.i === 0 ? undefined : 'a second run header';
      case 'client-up':
        return this.clientUp(event.client);
      case 'invoke':
        return this.of(event.client).invoke(event);
      case 'ok':
      case 'fail':
      case 'info':
        return this.of(event.client).complete(event);
      default:
        return undefined;
    }
  }

  private clientUp(client: string): string | undefined {
    const operations = this.of(client);
    // Two processes under one name would be taken for one holder, and their overlaps go unseen.
    if (operations.isUp) return `client ${client} came up twice`;
    operations.isUp = true;
    return undefined;
  }

  private of(client: string): ClientOperations {
    const known = this.operations.get(client);
    if (known) return known;
    const operations = new ClientOperations(client);
    this.operations.set(client, operations);
    return operations;
  }
}

/** Pairs one client's invokes with their completions. */
class ClientOperations {
  isUp = false;
  private readonly open = new Map<number, Invoke>();
  private readonly completed = new Set<number>();
  private readonly acquiredKeys = new Map<number, string>();

  constructor(private readonly client: string) {}

  invoke(event: Invoke): string | undefined {
    const { id, op, key, hold } = event;
    if (this.open.has(id) || this.completed.has(id)) return `${this.client} invokes operation ${id} a second time`;
    if ((op === 'acquire' || op === 'extend') && event.leaseMs === undefined) return `"leaseMs" of an ${op} is missing`;
    if (op === 'release' || op === 'extend') {
      if (hold === undefined) return `"hold" of a ${op} is missing`;
      const held = this.acquiredKeys.get(hold);
      if (held === undefined) return `${op} of hold ${hold}, which ${this.client} never tried to acquire`;
      if (held !== key) return `${op} of hold ${hold} names key "${key}", but it was acquired as "${held}"`;
    }
    if (op === 'acquire') this.acquiredKeys.set(id, key);
    this.open.set(id, event);
    return undefined;
  }

  complete(event: Extract<HistoryEvent, { type: 'ok' | 'fail' | 'info' }>): string | undefined {
    const { id, op, key, hold } = event;
    const invoke = this.open.get(id);
    if (!invoke) {
      const why = this.completed.has(id) ? 'completes a second time' : 'completes without an invoke';
      return `operation ${id} of ${this.client} ${why}`;
    }
    if (invoke.op !== op || invoke.key !== key || (hold !== undefined && invoke.hold !== hold)) {
      return `operation ${id} of ${this.client} completes as another than line ${invoke.i + 1} invoked`;
    }
    this.open.delete(id);
    this.completed.add(id);
    return undefined;
  }
}

// ------------------------------------------------------------------------------------------------- shapes, as tables

/** What is wrong with a value, or undefined. */
type Check = (value: unknown) => string | undefined;
type Fields = Record<string, Check>;

const text: Check = (value) => (typeof value === 'string' ? undefined : 'not a string');
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'not true or false');
const number: Check = (value) => (Number.isFinite(value) ? undefined : 'not a number');
const whole: Check = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : 'not a whole number from 0';
/** The harness's own stamps: never before its epoch. */
const stamp: Check = (value) => number(value) ?? ((value as number) >= 0 ? undefined : 'negative');
const object: Check = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'not an object';

function oneOf(...values: readonly unknown[]): Check {
  return (value) =>
    values.includes(value)
      ? undefined
      : `${JSON.stringify(value)}, not one of ${values.map((v) => JSON.stringify(v)).join(', ')}`;
}

function optional(check: Check): Check {
  return (value) => (value === undefined ? undefined : check(value));
}

function listOf(check: Check): Check {
  return (value) => (Array.isArray(value) ? value.map(check).find((problem) => problem !== undefined) : 'not a list');
}

const pair: Check = (value) =>
  Array.isArray(value) && value.length === 2 ? listOf(text)(value) : 'not a list of pairs';

const storedKeys: Check = (value) =>
  object(value) ??
  Object.values(value as JsonObject)
    .map((stored) => object(stored) ?? text((stored as JsonObject).owner) ?? number((stored as JsonObject).pttlMs))
    .find((problem) => problem !== undefined);

const operation: Fields = {
  client: text,
  id: whole,
  op: oneOf('acquire', 'release', 'extend', 'clock'),
  key: text,
  hold: optional(whole),
};

const completion: Fields = {
  ...operation,
  beganNs: optional(number),
  endedNs: optional(number),
  reason: optional(text),
  token: optional(number),
  validForMs: optional(number),
  grantSentNs: optional(number),
  sentNs: optional(number),
  wallMs: optional(number),
};

const eventFields: Record<HistoryBody['type'], Fields> = {
  run: { version: oneOf(1), runId: text, seed: number, epochWallMs: number },
  deployment: { topology: text, runtime: text, serverVersion: text, settings: listOf(object) },
  phase: { phase: oneOf('warm-up', 'torture', 'heal', 'recovery', 'probe', 'end') },
  'client-up': { client: text, slot: text, host: text, address: text, lock: text, features: listOf(text) },
  'client-down': { client: text, endNs: stamp, reason: text },
  invoke: { ...operation, leaseMs: optional(number), waitMs: optional(number) },
  ok: completion,
  fail: completion,
  info: completion,
  renewed: { client: text, hold: whole, key: text, sentNs: number, leaseMs: number },
  lost: { client: text, hold: whole, key: text, clientNs: number, reason: optional(text) },
  step: { client: text, name: text, clientNs: number, hold: optional(whole) },
  fault: {
    step: number,
    fault: text,
    state: oneOf('strike', 'phase', 'heal', 'refused', 'failed'),
    targets: listOf(text),
    did: text,
    proof: optional(text),
    offsetMs: optional(number),
    ratePpm: optional(number),
    cut: optional(listOf(pair)),
    forgot: optional(listOf(text)),
  },
  disturbance: { disturbance: oneOf('harness-stall', 'wall-clock-step'), ms: number, beganNs: stamp },
  recovered: { afterMs: number, missing: listOf(text) },
  probe: { key: text, client: text, acquired: flag, afterMs: number, reason: optional(text) },
};

const observationFields: Record<ObservationBody['type'], Fields> = {
  command: { serverWallMs: number, source: text, client: optional(text), argv: listOf(text) },
  sample: {
    role: oneOf('primary', 'replica', 'unknown'),
    offset: number,
    linkUp: optional(flag),
    runId: text,
    skewMs: number,
    keys: storedKeys,
  },
  evicted: { key: text },
  watch: { watching: flag, reason: optional(text) },
};

function problemOf(value: JsonObject, shapes: Record<string, Fields>, common: Fields): string | undefined {
  const { type } = value;
  if (typeof type !== 'string' || !Object.hasOwn(shapes, type)) {
    return type === undefined ? '"type" is missing' : `unknown type ${JSON.stringify(type)}`;
  }
  return fieldProblem(value, common) ?? fieldProblem(value, shapes[type]!);
}

function fieldProblem(value: JsonObject, fields: Fields): string | undefined {
  for (const name in fields) {
    const problem = fields[name]!(value[name]);
    if (problem) return value[name] === undefined ? `"${name}" is missing` : `"${name}" is ${problem}`;
  }
  return undefined;
}
