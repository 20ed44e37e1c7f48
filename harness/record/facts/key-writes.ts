/**
 * What one node did to one key, as MONITOR showed it: a script and the commands that it ran are put together, and it is
 * worked out which conditional writes can have succeeded. Understands string locks (SET, SETNX) and hash locks (HSET,
 * HINCRBY); of anything else it says `none`, and then no cause is built on it.
 */
import type { CommandObservation, Observation } from '../../vocabulary/history.js';

export type SampleObservation = Extract<Observation, { type: 'sample' }>;
export type WatchObservation = Extract<Observation, { type: 'watch' }>;
export type EvictedObservation = Extract<Observation, { type: 'evicted' }>;

/** One command or script on one key, in the node's own order. */
export interface KeyWrite {
  node: string;
  /** Line of observations.jsonl, from 0. */
  observation: number;
  /** When the harness read it: at or a little after it ran; a good deal after if the harness was not scheduled. */
  atNs: number;
  /** When it ran, by the server's own clock where that could be reckoned back; else `atNs`. */
  ranNs: number;
  /** The server's own clock when it ran. */
  serverWallMs: number;
  /** The lock client process that sent it; absent for the replication link and for strangers. */
  client?: string;
  source: string;
  /** `SET`, `EVALSHA`, ... */
  command: string;
  script: boolean;
  /** `take` may be a try that was refused: see `took`. */
  effect: 'take' | 'prolong' | 'remove' | 'none';
  /** A take that the server refuses while the key exists. */
  conditional: boolean;
  /** What was stored to name the owner. */
  value?: string;
  /** The time to live that was asked for; undefined: none. */
  ttlMs?: number;
  /** By the server's clock; Infinity: never. */
  expiresWallMs: number;
  /** What the same script counted up (INCR), and on which line. */
  counter?: { key: string; observation: number };
}

/** Puts a node's writes together from its commands, which are given one by one, in order. */
export class NodeWrites {
  readonly byKey = new Map<string, KeyWrite[]>();
  /** What the script that was called last did to each key. */
  private script: Map<string, KeyWrite> | undefined;

  constructor(
    private readonly node: string,
    private readonly keys: ReadonlySet<string>,
  ) {}

  /** `ranNs`: see `KeyWrite`. */
  add(observation: number, command: CommandObservation, ranNs: number): void {
    const name = command.argv[0]?.toUpperCase() ?? '';
    const inner = command.source === 'lua';
    const isScript = /^(EVAL|FCALL)/.test(name);
    if (!inner) this.script = isScript ? new Map() : undefined;
    else if (name === 'INCR') this.counted(command.argv[1]!, observation);
    for (const key of new Set(command.argv.slice(1).filter((argument) => this.keys.has(argument)))) {
      const caller = inner ? this.script?.get(key) : undefined;
      if (caller) {
        ran(caller, command.argv, command.serverWallMs);
        continue;
      }
      const write = blank(this.node, observation, command, name, ranNs);
      if (isScript && !inner) {
        write.script = true;
        this.script?.set(key, write);
      } else {
        ran(write, command.argv, command.serverWallMs);
      }
      const ofKey = this.byKey.get(key);
      if (ofKey) ofKey.push(write);
      else this.byKey.set(key, [write]);
    }
  }

  private counted(key: string, observation: number): void {
    for (const write of this.script?.values() ?? []) write.counter ??= { key, observation };
  }
}

function blank(node: string, observation: number, command: CommandObservation, name: string, ranNs: number): KeyWrite {
  const { atNs, serverWallMs, source, client } = command;
  const write: KeyWrite = {
    node,
    observation,
    atNs,
    ranNs,
    serverWallMs,
    source,
    command: name,
    script: false,
    effect: 'none',
    conditional: false,
    expiresWallMs: Number.POSITIVE_INFINITY,
  };
  if (client !== undefined) write.client = client;
  return write;
}

/** Adds what one command does to the write that it is (part of). */
function ran(write: KeyWrite, argv: readonly string[], wallMs: number): void {
  const name = argv[0]!.toUpperCase();
  const options = argv.slice(3).map((option) => option.toUpperCase());
  switch (name) {
    case 'SET':
      write.effect = options.includes('XX') ? 'prolong' : 'take';
      write.conditional = options.includes('NX') || write.script;
      write.value = argv[2];
      expires(write, wallMs, options);
      break;
    case 'SETNX':
    case 'GETSET':
    case 'HSET':
    case 'HSETNX':
    case 'HINCRBY':
      write.effect = 'take';
      // A hash lock asks, in its script, whether the key exists.
      write.conditional = name === 'SETNX' || write.script;
      write.value = argv[2];
      break;
    case 'PSETEX':
    case 'SETEX':
      write.effect = 'take';
      write.conditional = write.script;
      write.value = argv[3];
      expires(write, wallMs, [name === 'PSETEX' ? 'PX' : 'EX', argv[2]!]);
      break;
    case 'PEXPIRE':
    case 'EXPIRE':
    case 'PEXPIREAT':
    case 'EXPIREAT':
      if (write.effect !== 'take') write.effect = 'prolong';
      expires(write, wallMs, [{ PEXPIRE: 'PX', EXPIRE: 'EX', PEXPIREAT: 'PXAT', EXPIREAT: 'EXAT' }[name], argv[2]!]);
      break;
    case 'DEL':
    case 'UNLINK':
    case 'GETDEL':
      write.effect = 'remove';
      break;
    default:
      break;
  }
}

function expires(write: KeyWrite, wallMs: number, options: readonly string[]): void {
  for (const [unit, factor, absolute] of [
    ['PX', 1, false],
    ['EX', 1_000, false],
    ['PXAT', 1, true],
    ['EXAT', 1_000, true],
  ] as const) {
    const at = options.indexOf(unit);
    const ms = at < 0 ? Number.NaN : Number(options[at + 1]) * factor;
    if (Number.isNaN(ms)) continue;
    write.expiresWallMs = absolute ? ms : wallMs + ms;
    write.ttlMs = absolute ? ms - wallMs : ms;
  }
}

type KeyState =
  | { known: false /** Takes whose success a sample may tell. */; pending: KeyWrite[] }
  | { known: true; owned?: Owned };

interface Owned {
  value?: string;
  expiresWallMs: number;
  /** Nearer to its expiry than this, the key may be there or not. */
  blurMs: number;
  takenNs: number;
  takenWallMs: number;
  /**
   * Known from a sample only. Takes read until then may be older than what it shows, and one with its value may be what
   * it shows: the next sample may tell.
   */
  seen?: { untilNs: number; pending: KeyWrite[] };
}

/** A sample is answered on another connection than MONITOR's: nearer to a command than this, it may be older, or newer. */
const SETTLED_NS = 20e6;
/** Redis reckons in whole milliseconds: nearer to its expiry than this, a key may be there or not. */
const EXPIRY_BLUR_MS = 2;
/** A sample tells what time is left, but not to the millisecond when that was. */
const SAMPLE_BLUR_MS = 250;
/** A server's clock that is off by this much more than before was moved. */
const MOVED_MS = 50;

/** A moment at which a node's clock was so far ahead of the machine's. */
export interface ClockReading {
  atNs: number;
  aheadMs: number;
}

/**
 * Which takes succeeded, by following the key through everything that the node was seen to do. A take that is not in the
 * result may have succeeded or not. `evictions` are those of this key: told by the server in their place among its
 * commands. `jumps` are clock faults of the node: a key can expire in one that is over before the next command or sample.
 */
export function follow(
  writes: readonly KeyWrite[],
  samples: readonly (readonly [observation: number, SampleObservation])[],
  watches: readonly (readonly [observation: number, WatchObservation])[],
  evictions: readonly (readonly [observation: number, EvictedObservation])[],
  jumps: readonly ClockReading[],
  key: string,
): Map<KeyWrite, boolean> {
  const took = new Map<KeyWrite, boolean>();
  /** What was stored, or was to be, by all takes read so far. */
  const values = new Set<string>();
  let state: KeyState = { known: false, pending: [] };
  let latestNs = Number.NEGATIVE_INFINITY;
  /** The server's clock as the last command told it, and how far it was off then; undefined: it was moved since. */
  let clock: { ranNs: number; wallMs: number; skewMs: number } | undefined;
  let skewMs: number | undefined;
  let runId: string | undefined;
  const forget = () => {
    state = { known: false, pending: [] };
  };

  const onSample = (sample: SampleObservation, goneSoon: boolean) => {
    if (runId !== undefined && sample.runId !== runId) forget();
    runId = sample.runId;
    skewMs = sample.skewMs;
    if (sample.atNs - latestNs < SETTLED_NS) return;
    const stored = sample.keys[key];
    // It may show what a removal did that is yet to be read, and so may be takes that were refused before that.
    if (!stored && goneSoon) return;
    if (state.known) {
      // Perhaps a clock ran ahead, the key expired in the background, the clock was set back, and no command told of it.
      // Perhaps it was answered long ago: then the next one says what the commands say.
      const same = stored ? state.owned && ownerIs(stored.owner, state.owned.value) : !state.owned;
      if (!same) forget();
      else if (stored && state.owned?.seen) settle(state.owned.seen.pending.splice(0), stored.owner);
      return;
    }
    if (stored) settle(state.pending, stored.owner);
    state = stored ? asSeen(stored, sample) : { known: true };
  };

  const settle = (pending: readonly KeyWrite[], owner: string) => {
    for (const write of pending) took.set(write, ownerIs(owner, write.value));
  };

  /** Owned from here on, until its time is over by the server's own clock; which must be known. */
  const asSeen = (
    { owner, pttlMs }: SampleObservation['keys'][string],
    { atNs, skewMs }: SampleObservation,
  ): KeyState => {
    if (!clock || Math.abs(skewMs - clock.skewMs) > MOVED_MS) return { known: false, pending: [] };
    const takenWallMs = clock.wallMs + (atNs - clock.ranNs) / 1e6;
    const expiresWallMs = pttlMs < 0 ? Number.POSITIVE_INFINITY : takenWallMs + pttlMs;
    // Whoever came after a take that was read before the sample was refused.
    const isRead = values.has(owner) || (owner.startsWith('{') && [...values].some((value) => ownerIs(owner, value)));
    const seen = { untilNs: isRead ? Number.NEGATIVE_INFINITY : atNs + SETTLED_NS, pending: [] };
    const owned = { value: owner, expiresWallMs, blurMs: SAMPLE_BLUR_MS, takenNs: atNs, takenWallMs, seen };
    return { known: true, owned };
  };

  const onTake = (write: KeyWrite) => {
    if (write.value !== undefined) values.add(write.value);
    const after = {
      value: write.value,
      expiresWallMs: write.expiresWallMs,
      blurMs: EXPIRY_BLUR_MS,
      takenNs: write.atNs,
      takenWallMs: write.serverWallMs,
    };
    if (!write.conditional) {
      took.set(write, true);
      state = { known: true, owned: after };
      return;
    }
    if (!state.known) {
      state.pending.push(write);
      return;
    }
    const { owned } = state;
    const seen = owned?.seen;
    if (owned && seen && (write.atNs < seen.untilNs || ownerIs(owned.value ?? '', write.value))) {
      seen.pending.push(write);
      return;
    }
    const leftMs = owned ? owned.expiresWallMs - write.serverWallMs : Number.NEGATIVE_INFINITY;
    if (owned && Math.abs(leftMs) <= owned.blurMs) {
      state = { known: false, pending: [write] };
      return;
    }
    took.set(write, leftMs < 0);
    if (leftMs < 0) state = { known: true, owned: after };
  };

  const onJump = ({ atNs, aheadMs }: ClockReading) => {
    if (!state.known || !state.owned) return;
    const wallMs = state.owned.takenWallMs + (atNs - state.owned.takenNs) / 1e6 + aheadMs;
    if (wallMs > state.owned.expiresWallMs - state.owned.blurMs) forget();
  };

  const items = inOrder(writes, samples, watches, evictions, jumps);
  for (const [at, [what, item]] of items.entries()) {
    if (what === 'watch') forget();
    else if (what === 'sample') onSample(item, goneSoonAfter(items, at));
    else if (what === 'jump') {
      clock = undefined;
      onJump(item);
    } else if (what === 'evicted') {
      latestNs = item.atNs;
      state = { known: true };
    } else {
      latestNs = item.atNs;
      clock = skewMs === undefined ? undefined : { ranNs: item.ranNs, wallMs: item.serverWallMs, skewMs };
      if (item.effect === 'remove') state = { known: true };
      else if (item.effect === 'take') onTake(item);
      else if (item.effect === 'prolong' && state.known && state.owned) {
        state.owned.expiresWallMs = item.expiresWallMs;
        state.owned.blurMs = EXPIRY_BLUR_MS;
      }
    }
  }
  return took;
}

/** Whether a removal or an eviction was read so soon after that what was read before may be newer. */
function goneSoonAfter(items: readonly Item[], at: number): boolean {
  const untilNs = items[at]![1].atNs + SETTLED_NS;
  for (let next = at + 1; next < items.length && items[next]![1].atNs <= untilNs; next++) {
    const [what, item] = items[next]!;
    if (what === 'evicted' || (what === 'write' && item.effect === 'remove')) return true;
  }
  return false;
}

type Item =
  | ['write', KeyWrite]
  | ['sample', SampleObservation]
  | ['watch', WatchObservation]
  | ['evicted', EvictedObservation]
  | ['jump', ClockReading];

function inOrder(
  writes: readonly KeyWrite[],
  samples: readonly (readonly [number, SampleObservation])[],
  watches: readonly (readonly [number, WatchObservation])[],
  evictions: readonly (readonly [number, EvictedObservation])[],
  jumps: readonly ClockReading[],
): Item[] {
  const observed: [number, Item][] = [
    ...writes.map((write): [number, Item] => [write.observation, ['write', write]]),
    ...samples.map(([at, sample]): [number, Item] => [at, ['sample', sample]]),
    ...watches.map(([at, watch]): [number, Item] => [at, ['watch', watch]]),
    ...evictions.map(([at, evicted]): [number, Item] => [at, ['evicted', evicted]]),
  ];
  const items = observed.sort(([a], [b]) => a - b).map(([, item]) => item);
  for (const jump of jumps) {
    const next = items.findIndex(([, item]) => item.atNs >= jump.atNs);
    items.splice(next < 0 ? items.length : next, 0, ['jump', jump]);
  }
  return items;
}

/** Whether what a sample shows as stored is this owner: the string itself, or a hash (as JSON) that has it as a field. */
export function ownerIs(stored: string, value: string | undefined): boolean {
  return (
    value !== undefined && (stored === value || (stored.startsWith('{') && stored.includes(JSON.stringify(value))))
  );
}
