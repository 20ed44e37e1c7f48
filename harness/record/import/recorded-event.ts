/**
 * One event of a history in Jepsen's form, as EDN or JSON gave it: what of it is about locks, in this project's words.
 *
 * It looks at one event alone; whether events fit together is `pairing.ts`'s business. What cannot be understood is said in
 * words; what is not about locks, or not done by a client, is distinguished from that, to be left out and counted.
 */
import type { LockMode } from '../../vocabulary/protocol.js';

export interface RecordedEvent {
  type: 'invoke' | 'ok' | 'fail' | 'info';
  op: 'acquire' | 'release';
  /** Exclusive where it does not say. */
  mode: LockMode | undefined;
  /** The client's name. */
  process: string;
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

/** An object as it was read. */
type Form = Record<string, unknown>;

/** What a form tells, or that it is left out, or (a text) why it cannot be understood. */
export function recordedEvent(form: unknown): RecordedEvent | LeftOut | string {
  if (!isObject(form)) return `${shown(form)} is no operation: a map with :type, :process and :f was expected`;
  const process = processOf(form.process);
  if (typeof process !== 'string') return process ?? missing(form, 'process');
  if (process.charCodeAt(0) === COLON) return { leftOut: 'not a client', name: process };
  const type = TYPES.get(form.type);
  if (type === undefined)
    return form.type === undefined
      ? missing(form, 'type')
      : `:type is ${shown(form.type)}, not invoke, ok, fail or info`;
  if (typeof form.f !== 'string')
    return form.f === undefined ? missing(form, 'f') : `:f is ${shown(form.f)}, not a name`;
  const known = functionOf(form.f);
  if (known === undefined) return { leftOut: 'not a lock operation', name: form.f };
  return lockEvent(form, type, known, process);
}

function lockEvent(
  form: Form,
  type: RecordedEvent['type'],
  { op, mode }: LockFunction,
  process: string,
): RecordedEvent | string {
  const { time, index } = form;
  if (time !== undefined && time !== null && !Number.isFinite(time)) return `:time is ${shown(time)}, not a number`;
  if (Number.isFinite(time) && !Number.isInteger(time)) return `:time is ${shown(time)}, not whole nanoseconds`;
  if (index !== undefined && index !== null && !isIndex(index)) return `:index is ${shown(index)}, not a whole number`;
  const [keyOfValue, value] = isTuple(form.value) ? form.value : [undefined, form.value];
  const key = form.key ?? keyOfValue;
  const token = op === 'acquire' && type === 'ok' ? tokenOf(form, value) : undefined;
  if (token !== undefined && !Number.isSafeInteger(token))
    return `the token ${token} is too large to be compared exactly`;
  return {
    type,
    op,
    mode: mode ?? modeOf(form.mode),
    process,
    key: key === undefined || key === null ? undefined : wordOf(key),
    token,
    bareValue: Number.isInteger(value) ? (value as number) : undefined,
    reason: reasonOf(form.error),
    // jepsen.history writes -1 for a time that it was not given.
    timeNs: Number.isFinite(time) && time !== -1 ? (time as number) : undefined,
    index: isIndex(index) ? index : undefined,
  };
}

const REASON_LENGTH_MAX = 200;
const COLON = 0x3a;

const TYPES = new Map<unknown, RecordedEvent['type']>(
  (['invoke', 'ok', 'fail', 'info'] as const).flatMap((type) => [
    [type, type],
    [`:${type}`, type],
  ]),
);

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

function modeOf(mode: unknown): LockMode | undefined {
  if (mode === 'read' || mode === ':read') return 'read';
  return mode === 'write' || mode === ':write' ? 'write' : undefined;
}

/**
 * A client's name. A process that is not a number is no client of Jepsen's, and comes back with a colon; in JSON, where
 * keywords are texts, names of clients are taken as they are. Undefined where nothing is said.
 */
function processOf(process: unknown): string | undefined {
  if (typeof process === 'number' && Number.isInteger(process)) return processName(process);
  if (process === undefined || process === null || process === '') return undefined;
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

const TOKEN_NAMES = ['token', 'fence', 'fencing-token', 'fencingToken', 'fencing_token'];

/** A fencing token that is called one, beside the value or in it. */
function tokenOf(form: Form, value: unknown): number | undefined {
  const inValue = isObject(value) ? value : {};
  for (const name of TOKEN_NAMES) {
    const token = form[name] ?? inValue[name];
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

function isIndex(index: unknown): index is number {
  return Number.isSafeInteger(index) && (index as number) >= 0 && (index as number) < 2 ** 31;
}

function isObject(form: unknown): form is Form {
  return typeof form === 'object' && form !== null && !Array.isArray(form);
}

/** A keyword without its colon, a text as it is, anything else as JSON. */
function wordOf(value: unknown): string {
  if (typeof value === 'string') return value.charCodeAt(0) === COLON ? value.slice(1) : value;
  return Array.isArray(value) ? value.map(wordOf).join(' ') : JSON.stringify(value);
}

/** Why it failed, or why its outcome is unknown. A word of other tests for "it was never sent" becomes this project's. */
function reasonOf(error: unknown): string | undefined {
  if (error === undefined || error === null) return undefined;
  const reason = wordOf(error).slice(0, REASON_LENGTH_MAX);
  return NEVER_SENT.has(reason) ? 'unreachable' : reason;
}

/** `client-down` is Hazelcast's: no request left the client, so a release that failed with it has ended nothing. */
const NEVER_SENT = new Set(['client-down', 'connection-refused', 'conn-refused', 'not-connected']);

function missing(form: Form, name: string): string {
  return `no :${name} in ${shown(form)}`;
}

function shown(form: unknown): string {
  const text = JSON.stringify(form) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
