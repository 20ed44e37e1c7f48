/**
 * What the servers believed, as the checkers get it: read from a run's `observations.jsonl`, or made from a list.
 *
 * A long run has millions of commands, and a verdict wants a few of them: those around what is to be explained. So only
 * where they stand in the file is kept in memory, block by block, and they are parsed when they are asked for; everything
 * else is kept as it is. A line that begins as the recorder begins a command is taken for one without being parsed: damage
 * further on in it is found when the line is asked for, and reported in the same words.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import type {
  CommandObservation,
  Observation,
  ObservationBody,
  Observations,
  RareObservation,
} from '../vocabulary/history.js';
import { forEachLine, NEWLINE, piecesOf } from './line-pieces.js';
import {
  type Check,
  DamagedHistory,
  type Fields,
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
} from './shapes.js';

/** Observations that are in memory anyway. */
export function observationsOf(list: readonly Observation[]): Observations {
  const rare: [number, RareObservation][] = [];
  const commands: [number, CommandObservation][] = [];
  for (const [line, observation] of list.entries())
    if (observation.type === 'command') commands.push([line, observation]);
    else rare.push([line, observation]);
  return {
    length: list.length,
    line: (i) => list[i],
    rare,
    commandCount: commands.length,
    commands: (fromNs, untilNs) => commands.filter(([, { atNs }]) => atNs >= fromNs && atNs <= untilNs),
  };
}

/** Reads what the servers believed. A missing file means that no server was watched; a torn last line is left out. */
export async function readObservations(path: string): Promise<Observations> {
  try {
    return new ObservationFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return observationsOf([]);
    throw error;
  }
}

/** A stretch of whole lines of the file. */
interface Block {
  offset: number;
  bytes: number;
  /** Its first line. */
  line: number;
  /** When its commands were read, from the earliest to the latest; Infinity and -Infinity where it has none. */
  fromNs: number;
  untilNs: number;
}

/** What must be read to give one command: too little to be noticed, and 16,000 blocks for a gigabyte. */
const BLOCK_BYTES = 1 << 16;

class ObservationFile implements Observations {
  length = 0;
  commandCount = 0;
  readonly rare: [number, RareObservation][] = [];
  private readonly blocks: Block[] = [];

  constructor(private readonly path: string) {
    /** Cannot be parsed, which is damage only if another line follows. */
    let torn: DamagedHistory | undefined;
    for (const { bytes, offset } of piecesOf(path)) {
      forEachLine(bytes, (start, end) => {
        if (torn) throw torn;
        try {
          this.add(bytes, start, end, offset);
        } catch (error) {
          torn = notJson(error);
        }
      });
    }
    this.leaveOutTorn();
  }

  line(i: number): Observation | undefined {
    if (!(i >= 0 && i < this.length)) return undefined;
    const rare = this.rare[firstIndex(this.rare, ([line]) => line >= i)];
    if (rare?.[0] === i) return rare[1];
    const block = this.blocks[firstIndex(this.blocks, ({ line }) => line > i) - 1]!;
    for (const [line, source] of this.linesOf(block)) if (line === i) return this.parse(line, source.toString());
    return undefined;
  }

  *commands(fromNs: number, untilNs: number): Iterable<readonly [number, CommandObservation]> {
    for (const block of this.blocks) {
      if (block.fromNs > untilNs || block.untilNs < fromNs) continue;
      for (const [line, source] of this.linesOf(block)) {
        const told = commandAtNs(source, 0, source.length);
        if (told < fromNs || told > untilNs) continue;
        const observation = this.parse(line, source.toString());
        const { type, atNs } = observation;
        if (type === 'command' && atNs >= fromNs && atNs <= untilNs) yield [line, observation];
      }
    }
  }

  /** Takes a line of a piece that begins at `offset`. */
  private add(bytes: Buffer, start: number, end: number, offset: number): void {
    const told = commandAtNs(bytes, start, end);
    const observation = Number.isNaN(told) ? this.parse(this.length, bytes.toString('utf8', start, end)) : undefined;
    let block = this.blocks.at(-1);
    if (!block || offset + start - block.offset >= BLOCK_BYTES) {
      block = { offset: offset + start, bytes: 0, line: this.length, fromNs: Infinity, untilNs: -Infinity };
      this.blocks.push(block);
    }
    block.bytes = offset + end + 1 - block.offset;
    if (observation && observation.type !== 'command') this.rare.push([this.length, observation]);
    else {
      const atNs = observation?.atNs ?? told;
      this.commandCount++;
      if (atNs < block.fromNs) block.fromNs = atNs;
      if (atNs > block.untilNs) block.untilNs = atNs;
    }
    this.length++;
  }

  /** The last line may have been taken for a command by its beginning, and not have been written to its end. */
  private leaveOutTorn(): void {
    try {
      this.line(this.length - 1);
    } catch (error) {
      notJson(error);
      this.length--;
      this.commandCount--;
    }
  }

  private *linesOf({ offset, bytes, line: first }: Block): Iterable<[line: number, source: Buffer]> {
    const block = Buffer.allocUnsafe(bytes);
    const file = openSync(this.path, 'r');
    try {
      for (let read = 0; read < bytes; ) {
        const more = readSync(file, block, read, bytes - read, offset + read);
        if (more === 0) throw new DamagedHistory(this.path, first + 1, 'it has become shorter while it was being read');
        read += more;
      }
    } finally {
      closeSync(file);
    }
    let line = first;
    for (let start = 0; start < bytes && line < this.length; line++) {
      const end = block.indexOf(NEWLINE, start);
      yield [line, block.subarray(start, end)];
      start = end + 1;
    }
  }

  private parse(line: number, source: string): Observation {
    const value = parseObject(source);
    const problem = typeof value === 'string' ? value : problemOf(value, SHAPES, COMMON);
    if (problem) throw new DamagedHistory(this.path, line + 1, problem);
    return value as unknown as Observation;
  }
}

/** The error that says that a line is no JSON; anything else is thrown on. */
function notJson(error: unknown): DamagedHistory {
  if (error instanceof DamagedHistory && error.problem.startsWith(NOT_JSON)) return error;
  throw error;
}

/** The first index from which on `reached` holds, in a list where it holds from some point on. */
function firstIndex<T>(items: readonly T[], reached: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reached(items[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// ------------------------------------------------------------------------------------------------ a command at a glance

const BEFORE_STAMP = Buffer.from('{"atNs":');
const BEFORE_NODE = Buffer.from(',"node":"');
const AFTER_NODE = Buffer.from('"type":"command",');
const [QUOTE, COMMA, BACKSLASH, ZERO, CLOSING] = [...Buffer.from('",\\0}')] as [number, number, number, number, number];
/** More digits than these are not exact in a number. */
const MOST_DIGITS = 15;

/** When a command was read, by the beginning of its line; NaN where that is not as the recorder writes it. */
function commandAtNs(bytes: Buffer, start: number, end: number): number {
  if (bytes[end - 1] !== CLOSING || !begins(bytes, start, BEFORE_STAMP)) return Number.NaN;
  let at = start + BEFORE_STAMP.length;
  const firstDigit = at;
  let atNs = 0;
  for (let digit = bytes[at]! - ZERO; digit >= 0 && digit <= 9; digit = bytes[++at]! - ZERO) atNs = 10 * atNs + digit;
  if (at === firstDigit || at - firstDigit > MOST_DIGITS || !begins(bytes, at, BEFORE_NODE)) return Number.NaN;
  at += BEFORE_NODE.length;
  while (bytes[at] !== QUOTE) if (bytes[at] === BACKSLASH || ++at >= end) return Number.NaN;
  return bytes[at + 1] === COMMA && begins(bytes, at + 2, AFTER_NODE) ? atNs : Number.NaN;
}

function begins(bytes: Buffer, at: number, text: Buffer): boolean {
  for (let n = 0; n < text.length; n++) if (bytes[at + n] !== text[n]) return false;
  return true;
}

// ------------------------------------------------------------------------------------------------------------- shapes

const storedKeys: Check = (value) =>
  object(value) ??
  Object.values(value as JsonObject)
    .map(
      (stored) =>
        object(stored) ??
        text((stored as JsonObject).owner) ??
        number((stored as JsonObject).pttlMs) ??
        optional(oneOf('string', 'hash', 'other'))((stored as JsonObject).type),
    )
    .find((problem) => problem !== undefined);

const COMMON: Fields = { atNs: stamp, node: nameText };

const SHAPES: Record<ObservationBody['type'], Fields> = {
  command: {
    serverWallMs: number,
    source: nameText,
    client: optional(nameText),
    db: optional(number),
    argv: listOf(text),
  },
  sample: {
    role: oneOf('primary', 'replica', 'unknown'),
    offset: number,
    linkUp: optional(flag),
    runId: text,
    skewMs: number,
    wallMs: optional(listOf(number)),
    isEmpty: optional(flag),
    keys: storedKeys,
    unseen: optional(listOf(text)),
  },
  stored: {
    key: text,
    position: number,
    log: text,
    owner: optional(text),
    isSampled: optional(flag),
    term: optional(number),
    token: optional(number),
    keptMs: optional(number),
    leftMs: optional(number),
    how: optional(oneOf('timed-out')),
    client: optional(nameText),
  },
  role: { role: oneOf('primary', 'replica', 'unknown'), term: number, runId: text },
  evicted: { key: text },
  watch: { watching: flag, reason: optional(text) },
};
