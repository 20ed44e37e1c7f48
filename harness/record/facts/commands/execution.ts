/** What a command works on while it is read: the keys of one server, and when it ran. */
import { ABSENT, type Held, type HeldOf, join, type Origin, type StoredState, type Times, UNKNOWN } from './state.js';
import { and, type Truth, truth } from './truth.js';

export interface Execution {
  /** Without the command's name. */
  readonly args: readonly string[];
  /** What the server's clock showed when the command looked at it. */
  readonly now: Times;
  readonly by: Origin;
  readonly db: number;
  /** So many databases there are for certain: a command that names another one may be an error, which MONITOR does not tell. */
  readonly databases: number;
  /** The state of a key by now; in another database where one is given. */
  get(key: string, db?: number): StoredState;
  /** `applied`: whether the command did to this key what it was to do. */
  set(key: string, state: StoredState, applied: Truth, options?: SetOptions): void;
  /** Removes every key of a database; without one, of all. */
  flush(db?: number): void;
  /** `isDone`: whether that is certain. */
  swap(one: number, other: number, isDone: boolean): void;
  /** Somebody waits for a list or a sorted set, and takes from it unseen when something comes. */
  wait(key: string): void;
}

export interface SetOptions {
  db?: number;
  /** What was to be there. */
  wanted?: StoredState;
  /** Whether it does nothing to what is there. */
  onlyNew?: boolean;
}

/** Reads one command. What it does not understand, it makes unknown. */
export type CommandReading = (execution: Execution) => void;

/** Does something to a key under a condition, of which it may not be known whether it is met; `otherwise` is what is left if not. */
export function change(
  { get, set }: Execution,
  key: string,
  applies: Truth,
  to: () => StoredState,
  otherwise: StoredState = get(key),
  onlyNew = false,
): void {
  if (applies === 'no') set(key, get(key), 'no', { wanted: to(), onlyNew });
  else if (applies === 'yes') set(key, to(), 'yes', { onlyNew });
  else {
    const wanted = to();
    set(key, join(wanted, otherwise), 'unknown', { wanted, onlyNew });
  }
}

/** Nothing is known any more of these keys. */
export function makeUnknown({ set }: Execution, ...keys: readonly string[]): void {
  for (const key of keys) set(key, UNKNOWN, 'unknown');
}

type Type = Held['type'];

/** What a key holds if it is of this type or does not exist yet: whether it is, and the state as if it were. */
export interface Typed<T extends Type> {
  fits: Truth;
  state: StoredState;
  /** The state as if it were not. */
  otherwise: StoredState;
  /** Undefined: it does not exist. */
  held: HeldOf<T> | undefined;
}

/** A command on a key of another type is an error. */
export function typed<T extends Type>(state: StoredState, type: T): Typed<T> {
  const { exists, held } = state;
  if (exists === 'no') return { fits: 'yes', state, otherwise: state, held: undefined };
  if (held?.type === type) return { fits: 'yes', state, otherwise: state, held: held as HeldOf<T> };
  const otherwise = state.exists === 'yes' ? state : { ...state, exists: 'yes' as const };
  if (held && exists === 'yes') return { fits: 'no', state: ABSENT, otherwise, held: undefined };
  // Of another type if it exists: so it must not.
  if (held) return { fits: 'unknown', state: ABSENT, otherwise, held: undefined };
  const any = anyOf(type) as HeldOf<T>;
  return { fits: 'unknown', state: { ...state, held: any }, otherwise, held: any };
}

function anyOf(type: Type): Held {
  if (type === 'string') return { type, value: undefined, by: undefined };
  if (type === 'list') return { type, items: undefined };
  return { type, parts: new Map(), complete: false };
}

/** Whether a key exists, and is of the type. */
export function existsAs<T extends Type>({ fits, state }: Typed<T>): Truth {
  return and(fits, state.exists);
}

export function upper(argument: string | undefined): string {
  return argument?.toUpperCase() ?? '';
}

/** Whether the number of arguments is one that the command takes. */
export function counts(args: readonly string[], least: number, most = Number.POSITIVE_INFINITY): Truth {
  return truth(args.length >= least && args.length <= most);
}
