/**
 * One event of a history in Jepsen's form, as EDN or JSON gave it: what of it is about locks, in this project's words.
 *
 * It looks at one event alone; whether events fit together is `pairing.ts`'s business. What cannot be understood is said in
 * words; what is not about locks, or not done by a client, is distinguished from that, to be left out and counted.
 */
import type { LockMode } from '../../vocabulary/protocol.js';
import { conform } from '../schemas/conform.js';
import { calledSchema, type LockOperation, lockOperationSchema, performedSchema } from '../schemas/jepsen-event.js';
import { type Conventions, fieldOf, wordOf } from './conventions.js';

export interface RecordedEvent {
  type: 'invoke' | 'ok' | 'fail' | 'info';
  op: 'acquire' | 'release';
  /** Exclusive where it does not say. */
  mode: LockMode | undefined;
  /** The client's name. */
  process: string;
  /** Of whom the user says that it owns what is acquired and released; undefined where the event does not say, or none is asked for. */
  owner: string | undefined;
  /** Undefined where it does not say. */
  key: string | undefined;
  /** Of a granted acquire: the number that the lock handed out, under a name that says so. */
  token: number | undefined;
  /** A whole number that is the operation's plain value: a token perhaps. */
  bareValue: number | undefined;
  reason: string | undefined;
  /** Nanoseconds; undefined where it does not say. */
  timeNs: number | undefined;
  index: number | undefined;
}

/** An event that is left out, and by whom or of what it was, for the count. */
export interface LeftOut {
  leftOut: 'not a client' | 'not a lock operation';
  name: string;
}

/** What a form tells, or that it is left out, or (a text) why it cannot be understood. */
export function recordedEvent(form: unknown, conventions: Conventions = {}): RecordedEvent | LeftOut | string {
  const performed = conform(performedSchema, form);
  if (performed.problem !== undefined) return performed.problem;
  const process = processOf(performed.value);
  if (process.charCodeAt(0) === COLON) return { leftOut: 'not a client', name: process };
  const called = conform(calledSchema, form);
  if (called.problem !== undefined) return called.problem;
  const { type, f } = called.value;
  const known = functionOf(f);
  if (known === undefined) return { leftOut: 'not a lock operation', name: f };
  const operation = conform(lockOperationSchema, form);
  if (operation.problem !== undefined) return operation.problem;
  const isRefusal = type === 'ok' && conventions.refused?.has(answerOf(operation.value)) === true;
  const event = lockEvent(operation.value, isRefusal ? 'fail' : type, known, process);
  return typeof event === 'string' ? event : named(event, form, conventions);
}

/** What an answer is called by `Conventions.refused`. */
function answerOf({ value }: LockOperation): string {
  return value === undefined || value === null ? 'nil' : wordOf(isTuple(value) ? value[1] : value);
}

/** The event with the names of lock and owner that the user's conventions give it. */
function named(event: RecordedEvent, form: unknown, { key, owner }: Conventions): RecordedEvent | string {
  if (owner !== undefined) {
    const given = fieldOf(form, owner);
    event.owner = given === undefined ? undefined : wordOf(given);
  }
  if (key === undefined) return event;
  // A completion's value is the answer; its other fields may be the invoke's.
  const given = key === 'value' && event.type !== 'invoke' ? undefined : fieldOf(form, key);
  if (given === undefined && event.type === 'invoke') return `${key}: missing, expected the name of the lock`;
  event.key = given === undefined ? undefined : wordOf(given);
  return event;
}

function lockEvent(
  operation: LockOperation,
  type: RecordedEvent['type'],
  { op, mode }: LockFunction,
  process: string,
): RecordedEvent | string {
  const { index, error } = operation;
  const time = operation.time ?? operation.time_ns ?? operation['time-ns'] ?? operation.t_ns;
  const [keyOfValue, value] = isTuple(operation.value) ? operation.value : [undefined, operation.value];
  const key = operation.key ?? keyOfValue;
  const token = op === 'acquire' && type === 'ok' ? tokenOf(operation, value) : undefined;
  if (token !== undefined && !Number.isSafeInteger(token))
    return `the token ${token} is too large to be compared exactly`;
  return {
    type,
    op,
    mode: mode ?? (operation.mode === 'exclusive' ? undefined : (operation.mode ?? undefined)),
    process,
    owner: undefined,
    key: key === undefined || key === null ? undefined : wordOf(key),
    token,
    bareValue: Number.isInteger(value) ? (value as number) : undefined,
    reason: reasonOf(error),
    // jepsen.history writes -1 for a time that it was not given.
    timeNs: time === -1 ? undefined : (time ?? undefined),
    index: index ?? undefined,
  };
}

const REASON_LENGTH_MAX = 200;
const COLON = 0x3a;

// ------------------------------------------------------------------------------------------------------------- names

interface LockFunction {
  op: RecordedEvent['op'];
  mode?: LockMode;
}

/** What `:f` may be, in small letters and without `-`, `_` and the colon. */
const FUNCTIONS: Record<string, LockFunction> = {
  acquire: { op: 'acquire' },
  lock: { op: 'acquire' },
  tryacquire: { op: 'acquire' },
  trylock: { op: 'acquire' },
  acquireread: { op: 'acquire', mode: 'read' },
  readlock: { op: 'acquire', mode: 'read' },
  acquirewrite: { op: 'acquire', mode: 'write' },
  writelock: { op: 'acquire', mode: 'write' },
  release: { op: 'release' },
  unlock: { op: 'release' },
  releaseread: { op: 'release', mode: 'read' },
  readunlock: { op: 'release', mode: 'read' },
  releasewrite: { op: 'release', mode: 'write' },
  writeunlock: { op: 'release', mode: 'write' },
};

/** By what stands in the file: a history has a handful of them, millions of times. */
const functionsMet = new Map<string, LockFunction | undefined>();

function functionOf(f: string): LockFunction | undefined {
  if (functionsMet.has(f)) return functionsMet.get(f);
  const plain = f.replace(/[:_-]/g, '').toLowerCase();
  const known = Object.hasOwn(FUNCTIONS, plain) ? FUNCTIONS[plain] : undefined;
  if (functionsMet.size < 1_000) functionsMet.set(f, known);
  return known;
}

/**
 * A client's name. A process that is not a number is no client of Jepsen's, and comes back with a colon; in JSON, where
 * keywords are texts, names of clients are taken as they are.
 */
function processOf({ process: given, client }: { process?: unknown; client?: unknown }): string {
  const process = given ?? client;
  if (typeof process === 'number' && Number.isInteger(process)) return processName(process);
  if (typeof process === 'string') return process === 'nemesis' ? ':nemesis' : process;
  return `:${wordOf(process)}`;
}

const names: string[] = [];

function processName(process: number): string {
  if (process < 0 || process > 1_000_000) return `process ${process}`;
  names[process] ??= `process ${process}`;
  return names[process]!;
}

// ------------------------------------------------------------------------------------------------------------ values

const TOKEN_NAMES = ['token', 'fence', 'fencing-token', 'fencingToken', 'fencing_token'] as const;

/** A fencing token that is called one, beside the value or in it. */
function tokenOf(operation: LockOperation, value: unknown): number | undefined {
  const inValue = typeof value === 'object' && value !== null ? (value as Partial<LockOperation>) : {};
  for (const name of TOKEN_NAMES) {
    const token = operation[name] ?? inValue[name];
    // Hazelcast's way to say that a grant has none: tokens start from 1 there.
    if (name === 'fence' && token === 0) return undefined;
    if (typeof token === 'number' && Number.isInteger(token)) return token;
  }
  return undefined;
}

/** Jepsen's independent tests write a key with every value: `[key value]`. */
function isTuple(value: unknown): value is [unknown, unknown] {
  return Array.isArray(value) && value.length === 2;
}

/** Why it failed, or why its outcome is unknown. A word of other tests for "it was never sent" becomes this project's. */
function reasonOf(error: unknown): string | undefined {
  if (error === undefined || error === null) return undefined;
  const reason = wordOf(error).slice(0, REASON_LENGTH_MAX);
  return NEVER_SENT.has(reason) ? 'unreachable' : reason;
}

/** `client-down` is Hazelcast's: no request left the client, so a release that failed with it has ended nothing. */
const NEVER_SENT = new Set(['client-down', 'connection-refused', 'conn-refused', 'not-connected']);
