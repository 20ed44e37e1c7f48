/**
 * What one request did to one key of one node: a command, or a script with all that it called, put together from the one
 * reading of commands (`commands/`). A request is a `take` if it stored an owner, or was to; of a script that only looked, and
 * of what stored nothing that could name an owner, it is `none`, and then no cause is built on it.
 */
import type { CommandObservation, Observation } from '../../vocabulary/history.js';
import { isBlind, isConditional, isToldBefore, partsAskedBy, READS_OWNER } from './asked.js';
import { type Change, ownersBy, ownersOf, stores } from './commands/changes.js';
import { ServerReading } from './commands/server-reading.js';
import type { Origin, StoredState } from './commands/state.js';
import { isScript, writesNothing } from './commands/table.js';
import type { Truth } from './commands/truth.js';

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
  /** Of a take: whether it stored its value; undefined: unknown. */
  took?: boolean | undefined;
  /**
   * Whether it asked what the key holds before it wrote: with an option of the command, or by what a script called first;
   * undefined: not known. A script may have asked for another key only.
   */
  conditional: boolean | undefined;
  /** Of a script: it read whose the key is before it wrote, and did not merely ask whether there is one. */
  comparing?: true;
  /** Of a script: it asked for another key, too, before it wrote, and may have gone by what that holds. */
  askedElsewhere?: true;
  /** It was to store something, and was answered what was there (SET … GET). */
  told?: true;
  /**
   * Where it asked for nothing but fields or members of the key: which. That those are not there does not say that the key is not;
   * none where it was only to store over what is there (SET with XX or IFEQ).
   */
  askedParts?: readonly string[];
  /** It wrote what it was to write whatever others have stored there, and was not answered what that is either. */
  blind: boolean;
  /** What was stored to name the owner. */
  value?: string;
  /** The time to live that was asked for; undefined: none. */
  ttlMs?: number;
  /** Whether what was asked for was a time of day, by some other clock, and no time to live. */
  untilTimeOfDay?: boolean | undefined;
  /** By the server's clock; Infinity: never. */
  expiresWallMs: number;
  /** What the same script counted up (INCR), and on which line. */
  counter?: { key: string; observation: number };
  /** What the key held before and after it, as far as that is known. */
  before?: StoredState;
  after?: StoredState;
}

/** A moment at which a node's clock was so far ahead of the machine's. */
export interface ClockReading {
  atNs: number;
  aheadMs: number;
}

/** Whether a request took this owner from the key, be it by storing another one. */
export function removes({ before, after }: KeyWrite, owner: string | undefined): Truth {
  if (owner === undefined || !before || !after) return 'unknown';
  const [was, is] = [stores(before, owner), stores(after, owner)];
  if (was === 'no' || is === 'yes') return 'no';
  return was === 'yes' && is === 'no' ? 'yes' : 'unknown';
}

/** Whether a request was to store an owner, or may have been: a script whose commands say nothing of it. */
export function asksFor({ effect, script }: KeyWrite): boolean {
  return effect === 'take' || (effect === 'none' && script);
}

/** Whether a request certainly found something there, and not the value that it was to store. */
export function foundAnother({ before, value }: KeyWrite): boolean {
  return value !== undefined && before !== undefined && before.exists === 'yes' && stores(before, value) === 'no';
}

/** Whether this owner is certainly stored after a request. */
export function keeps({ after }: KeyWrite, owner: string | undefined): boolean {
  return owner !== undefined && after !== undefined && stores(after, owner) === 'yes';
}

interface RunningScript {
  line: number;
  command: CommandObservation;
  ranNs: number;
  /** It has asked for something, be it for another key. */
  hasAsked: boolean;
  /** For which keys. */
  asked: Set<string>;
  /** For which of them as a whole. */
  askedWhole: Set<string>;
  /** Keys that it has written. */
  written: Set<string>;
}

/** Puts a node's requests together from its commands, which are given one by one, in order, with all else that is known of it. */
export class NodeWrites {
  readonly reading: ServerReading;
  private readonly byKey = new Map<string, KeyWrite[]>();
  /** By key: requests by their lines. */
  private readonly byLine = new Map<string, Map<number, KeyWrite>>();
  private script: RunningScript | undefined;

  constructor(
    private readonly node: string,
    private readonly keys: ReadonlySet<string>,
    /** What is known of every key at first; absent: nothing. */
    start?: StoredState,
    hasExactStamps = false,
    databases?: number,
  ) {
    const followed = new Map<string, boolean>();
    this.reading = new ServerReading({
      // The observer records commands that name one of the run's keys, or a key with one in its name.
      follows(key) {
        let follows = followed.get(key);
        if (follows === undefined) {
          follows = [...keys].some((one) => key.includes(one));
          followed.set(key, follows);
        }
        return follows;
      },
      ...(start && { start }),
      hasExactStamps,
      ...(databases !== undefined && { databases }),
    });
  }

  /** `ranNs`: see `KeyWrite`. */
  add(observation: number, command: CommandObservation, ranNs: number): void {
    const name = command.argv[0]?.toUpperCase() ?? '';
    const inner = command.source === 'lua';
    if (!inner)
      this.script = isScript(name)
        ? {
            line: observation,
            command,
            ranNs,
            hasAsked: false,
            asked: new Set(),
            askedWhole: new Set(),
            written: new Set(),
          }
        : undefined;
    const named = command.argv.slice(1).filter((argument) => this.keys.has(argument));
    for (const key of named) this.requestOf(key, observation, command, ranNs);
    if (inner && this.script) this.called(this.script, name, command.argv, named);
    if (EMPTIES.has(name)) for (const key of this.keys) this.requestOf(key, observation, command, ranNs);
    if (inner && name === 'INCR') this.counted(command.argv[1]!, observation);
    this.reading.command({ ...command, line: observation, ranFromNs: ranNs - RECKONING_NS });
  }

  /** Each key's requests, once no command comes any more. */
  finish(): Map<string, KeyWrite[]> {
    this.reading.end();
    for (const [key, requests] of this.byLine) {
      const { list } = this.reading.changes(key);
      const isCommon = commonOwners(list);
      for (const change of list) {
        const write = requests.get(change.by?.script?.line ?? change.by?.line ?? -1);
        if (change.how === 'command' && write) ran(write, change, isCommon);
      }
    }
    return this.byKey;
  }

  /** What a script asks before it writes. */
  private called(script: RunningScript, name: string, argv: readonly string[], named: readonly string[]): void {
    const asks = argv.length > 1 && (writesNothing.has(name) || isConditional(name, argv));
    for (const key of named) {
      const write = this.byLine.get(key)?.get(script.line);
      if (write && !script.written.has(key)) {
        if (!isBlind(name, argv)) write.blind = false;
        write.conditional ??= asks || (script.hasAsked ? undefined : false);
        if (READS_OWNER.has(name)) write.comparing = true;
        if (isToldBefore(name, argv)) write.told = true;
        if (!asks && [...script.asked].some((one) => one !== key)) write.askedElsewhere = true;
        if (asks) askedPartsOf(script, write, key, partsAskedBy(name, argv));
      }
      if (!asks) script.written.add(key);
    }
    script.hasAsked ||= asks;
    if (asks) script.asked.add(argv[1]!);
  }

  /** The request that names the key, by itself or by what it calls. */
  private requestOf(key: string, observation: number, command: CommandObservation, ranNs: number): KeyWrite {
    const by = (command.source === 'lua' && this.script) || { line: observation, command, ranNs };
    let requests = this.byLine.get(key);
    if (!requests) {
      requests = new Map();
      this.byLine.set(key, requests);
      this.byKey.set(key, []);
    }
    const known = requests.get(by.line);
    if (known) return known;
    const write = blank(this.node, by.line, by.command, by.ranNs);
    requests.set(by.line, write);
    this.byKey.get(key)!.push(write);
    return write;
  }

  private counted(key: string, observation: number): void {
    if (!this.script) return;
    for (const requests of this.byLine.values()) {
      const write = requests.get(this.script.line);
      if (write) write.counter ??= { key, observation };
    }
  }
}

/** They name no key, and concern every one. */
export const EMPTIES: ReadonlySet<string> = new Set(['FLUSHALL', 'FLUSHDB', 'SWAPDB']);

/** Wall clocks are read in whole milliseconds, on both sides. */
export const RECKONING_NS = 3e6;

function blank(node: string, observation: number, command: CommandObservation, ranNs: number): KeyWrite {
  const { atNs, serverWallMs, source, client, argv } = command;
  const name = argv[0]!.toUpperCase();
  const script = isScript(name);
  const write: KeyWrite = {
    node,
    observation,
    atNs,
    ranNs,
    serverWallMs,
    source,
    command: name,
    script,
    effect: 'none',
    conditional: script ? undefined : isConditional(name, argv),
    // Of a script what it calls decides.
    blind: script || isBlind(name, argv),
    expiresWallMs: Number.POSITIVE_INFINITY,
  };
  if (client !== undefined) write.client = client;
  if (isToldBefore(name, argv)) write.told = true;
  const parts = write.conditional ? partsAskedBy(name, argv) : undefined;
  if (parts) write.askedParts = parts;
  return write;
}

function askedPartsOf(script: RunningScript, write: KeyWrite, key: string, parts: readonly string[] | undefined): void {
  if (!parts) script.askedWhole.add(key);
  if (script.askedWhole.has(key)) delete write.askedParts;
  else write.askedParts = [...(write.askedParts ?? []), ...parts!];
}

/** Which of what clients stored under a key several of them did: where a request stores more, that names no owner (`mode`). */
function commonOwners(list: readonly Change[]): (owner: string) => boolean {
  const clients = new Map<string, string>();
  const common = new Set<string>();
  for (const { by, after, wanted, line } of list)
    if (by?.client !== undefined)
      for (const owner of ownersBy(wanted ?? after, line)) {
        if ((clients.get(owner) ?? by.client) !== by.client) common.add(owner);
        clients.set(owner, by.client);
      }
  return (owner) => common.has(owner);
}

/** Adds what one command did to the request that it is (part of). */
function ran(write: KeyWrite, change: Change, isCommon: (owner: string) => boolean): void {
  const { applied, before, after, by } = change;
  write.before ??= before;
  write.after = after;
  const meant = applied === 'yes' ? after : (change.wanted ?? after);
  const [owner] = ownersBy(meant, change.line);
  if (owner !== undefined) {
    const isOwner = write.effect !== 'take' || write.value === undefined || !isCommon(owner);
    write.effect = 'take';
    if (!isOwner) return;
    write.value = owner;
    write.took = applied === 'unknown' ? undefined : applied === 'yes';
    lasts(write, meant, by!);
  } else if (write.effect === 'take' && EXPIRES.test(by!.name)) {
    // A time that is over by then removes what was taken at once.
    if (applied !== 'no') lasts(write, change.wanted ?? after, by!);
  } else if (after.exists === 'no' || lostPart(change)) {
    write.effect = 'remove';
  } else if (applied !== 'no' && EXPIRES.test(by!.name)) {
    write.effect = 'prolong';
    lasts(write, meant, by!);
  }
}

/** A field or member is gone; a string that was counted or appended to is none. */
function lostPart({ before, after }: Change): boolean {
  return before.held?.type !== 'string' && ownersOf(before).some((one) => stores(after, one) === 'no');
}

const EXPIRES = /EXPIRE|PERSIST|GETEX/;

function lasts(write: KeyWrite, { expires }: StoredState, { serverWallMs: wallMs, untilTimeOfDay }: Origin): void {
  // A time that is counted from when the command ran is known to the millisecond after it.
  const atMs = expires.fromMs === expires.untilMs ? expires.untilMs : expires.untilMs - 1;
  write.expiresWallMs = atMs;
  write.untilTimeOfDay = untilTimeOfDay;
  if (Number.isFinite(atMs)) write.ttlMs = atMs - Math.floor(wallMs);
  else delete write.ttlMs;
}

/** Whether what a sample shows as stored is this owner: the string itself, or a hash (as JSON) that has it as a field. */
export function ownerIs(stored: string, value: string | undefined): boolean {
  return value !== undefined && (stored === value || (/^[{[]/.test(stored) && stored.includes(JSON.stringify(value))));
}

/** Whether a sample tells nothing of who owns what is stored: a set, a sorted set or a list. */
export function isHidden(stored: string): boolean {
  return stored.startsWith('"(');
}
