/**
 * A host's files after a power cut, rebuilt from what was recorded of its syncs (`native/durable-shim.c`; in virtual time
 * `sim/disk.ts`): what was synced stays, what was only written is gone, in part there, or zeros; a name whose change was not
 * durable is the old file's again.
 *
 * Of what the record never mentions nothing is known but that its server did not write it: it stays as it is.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { FileAfterPowerCut, PowerCut } from '../vocabulary/host.js';

/** The record's own folder, below the host's. */
export const DISK_RECORD = 'durable';
/** Page cache and block devices have pages of this size: one is written whole or not at all. */
const PAGE_BYTES = 4096;
/** A disk that is slow to sync keeps a killed process until it is done. */
const GONE_TIMEOUT_S = 20;

/** The environment in which a process's files are recorded; the library itself is to be preloaded. */
export function diskRecordEnv(folder: string): Record<string, string> {
  return { LOCK_TORTURE_DURABLE: join(folder, DISK_RECORD), LOCK_TORTURE_DISK: folder };
}

/** Why the files of process `pid` could not be rebuilt now, in words; undefined if they could. */
export function diskRecordTrouble(folder: string, pid: number): string | undefined {
  let table: Table;
  try {
    table = readTable(join(folder, DISK_RECORD));
  } catch {
    return NOT_LOADED;
  }
  if (table.pid !== pid) return NOT_LOADED;
  return TROUBLES.find(([bit]) => (table.troubles & bit) !== 0)?.[1];
}

const NOT_LOADED =
  'its program did not load the library that records what it syncs: it must be dynamically linked, and not setuid';

const TROUBLES: readonly (readonly [bit: number, words: string])[] = [
  [1, 'more files were written than the record has room for'],
  [2, 'its file system has no hard links'],
  [4, 'what it synced could not be recorded (is the disk full?)'],
  [8, 'a file of more than 1 MB is written over in place'],
  [16, 'a file has a name that the record has no room for'],
];

/**
 * Makes the host's files what they are after a power cut, and begins a new record. Waits until every process whose files are
 * recorded is gone, with its threads and children. Rejects if one lives on, or there is no record.
 */
export async function losePower(folder: string, cut: PowerCut): Promise<FileAfterPowerCut[]> {
  const record = join(folder, DISK_RECORD);
  if (!existsSync(join(record, 'names'))) throw new Error('nothing is recorded of what was synced here');
  await allGone(join(record, 'names'));
  const files = rebuild(folder, recordIn(record), cut);
  rmSync(record, { recursive: true, force: true });
  return files;
}

/** Each of them holds a lock on the file, which the kernel takes away with the last of its threads. */
function allGone(path: string): Promise<void> {
  const argv = ['--exclusive', '--timeout', String(GONE_TIMEOUT_S), path, 'true'];
  return new Promise((resolve, reject) => {
    execFile('flock', argv, (error) => {
      if (!error) resolve();
      else if (error.code === 1)
        reject(new Error(`a process that was killed is still there after ${GONE_TIMEOUT_S} s`));
      else reject(new Error(`flock does not run: ${error.message}`));
    });
  });
}

// ---------------------------------------------------------------------------------------------------------- the record

interface Table {
  pid: number;
  troubles: number;
  /** How much of `names` is durable. */
  namesBytes: number;
  /** By the file's number. */
  slots: Map<number, { durableBytes: number; inPlace: boolean }>;
}

const MAGIC = 0x3130656c62617264n;
const HEAD_FIELDS = 8;
const SLOT_FIELDS = 4;

function readTable(record: string): Table {
  const bytes = readFileSync(join(record, 'table'));
  const fields = new BigUint64Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 8));
  const [magic, pid, troubles, , durable] = fields;
  if (magic !== MAGIC) throw new Error(`${record} is no record of what was synced`);
  const slots: Table['slots'] = new Map();
  for (let at = HEAD_FIELDS; at + SLOT_FIELDS <= fields.length; at += SLOT_FIELDS) {
    const ino = Number(fields[at]);
    if (ino !== 0) slots.set(ino, { durableBytes: Number(fields[at + 1]), inPlace: fields[at + 2] !== 0n });
  }
  return { pid: Number(pid), troubles: Number(troubles), namesBytes: Number(durable), slots };
}

/** A change of a name. `other` is the number of the file that had the second name, 0 if none had. */
export interface NameChange {
  op: 'create' | 'found' | 'rename' | 'unlink' | 'mkdir';
  ino: number;
  other: number;
  path: string;
  to: string;
  durable: boolean;
}

function readNames(record: string, durableBytes: number): NameChange[] {
  const bytes = readFileSync(join(record, 'names'));
  const changes: NameChange[] = [];
  for (let from = 0, end = bytes.indexOf(10); end >= 0; from = end + 1, end = bytes.indexOf(10, from)) {
    const [what = '', path = '', to = ''] = bytes.toString('utf8', from, end).split('\t');
    const [op = '', ino, other] = what.split(' ');
    const change = { ino: Number(ino), other: Number(other), path, to, durable: end < durableBytes };
    if (!op.startsWith('!')) changes.push({ op: op as NameChange['op'], ...change });
    else
      changes.splice(
        changes.findLastIndex((one) => `!${one.op}` === op && one.path === path && one.to === to),
        1,
      );
  }
  return changes;
}

/** Which file has each name that was mentioned, after the power cut; 0: none. And the folders that are not there. */
function durableNames(changes: readonly NameChange[]): { files: Map<string, number>; lostFolders: string[] } {
  const files = new Map<string, number>();
  // What it was before the first change that is known of it.
  const mention = (path: string, ino: number) => void (files.has(path) || files.set(path, ino));
  for (const { op, ino, other, path, to } of changes) {
    if (op === 'create') mention(path, 0);
    else if (op !== 'mkdir') mention(path, ino);
    if (op === 'rename') mention(to, other);
  }
  for (const { op, ino, path, to } of changes.filter(({ durable }) => durable)) {
    if (op === 'create') files.set(path, ino);
    if (op === 'unlink' || op === 'rename') files.set(path, 0);
    if (op === 'rename') files.set(to, ino);
  }
  return { files, lostFolders: changes.flatMap(({ op, path, durable }) => (op === 'mkdir' && !durable ? [path] : [])) };
}

function recordIn(record: string): DiskRecord {
  const table = readTable(record);
  return {
    changes: readNames(record, table.namesBytes),
    slot: (ino) => table.slots.get(ino),
    copy: (ino) => {
      const path = join(record, 'copies', String(ino));
      return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    },
    has: (path) => lstatSync(path, { throwIfNoEntry: false })?.ino,
    giveName: (ino, path) => linkSync(join(record, 'files', String(ino)), path),
  };
}

// --------------------------------------------------------------------------------------------------------- the rebuilding

/** What is known of a disk. Files have numbers, other than 0. */
export interface DiskRecord {
  /** In the order in which they were made. */
  changes: readonly NameChange[];
  /** How much of a file is durable; undefined: all of it. */
  slot(ino: number): { durableBytes: number; inPlace: boolean } | undefined;
  /** What a file that is written over in place held when it was last synced. */
  copy(ino: number): Buffer;
  /** Which file has this path; undefined: there is none. */
  has(path: string): number | undefined;
  /** Gives the file, with all that was written of it, that path, which nothing has. */
  giveName(ino: number, path: string): void;
}

/** Makes the files below `folder` what they are after a power cut; returns those that the record mentions, by their names. */
export function rebuild(folder: string, record: DiskRecord, cut: PowerCut): FileAfterPowerCut[] {
  const { files, lostFolders } = durableNames(record.changes);
  const told: FileAfterPowerCut[] = [];
  for (const [name, ino] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const path = join(folder, name);
    const writtenBytes = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const before = record.has(path);
    if (before === undefined && ino === 0) continue;
    if (before !== undefined && before !== ino) rmSync(path);
    if (ino === 0) {
      told.push({ name, writtenBytes, durableBytes: 0, leftBytes: 0, became: 'gone' });
      continue;
    }
    const isBack = before !== ino;
    if (isBack) {
      mkdirSync(dirname(path), { recursive: true });
      record.giveName(ino, path);
    }
    const chance = drawn(cut.seed, name);
    const slot = record.slot(ino);
    const content = slot?.inPlace
      ? putBack(path, record.copy(ino), cut, chance)
      : cutOff(path, slot?.durableBytes, cut, chance);
    const readBack = lstatSync(path).size;
    if (readBack !== content.leftBytes) throw new Error(`${name} has ${readBack} bytes, not ${content.leftBytes}`);
    told.push({ name, writtenBytes, ...content, ...(isBack && { became: 'back' as const }) });
  }
  for (const name of lostFolders.reverse()) rmSync(join(folder, name), { recursive: true, force: true });
  return told;
}

type Content = Pick<FileAfterPowerCut, 'durableBytes' | 'leftBytes' | 'zeroedBytes'>;

/** A file that only grew: what follows its durable part is gone, torn or zeroed. `known` is absent where all of it is durable. */
function cutOff(path: string, known: number | undefined, { mode }: PowerCut, chance: Chance): Content {
  const { size: sizeBytes } = lstatSync(path);
  const durableBytes = Math.min(known ?? sizeBytes, sizeBytes);
  if (mode === 'zeros') {
    const zeroedBytes = zeroPages(path, durableBytes, sizeBytes, chance);
    return { durableBytes, leftBytes: sizeBytes, ...(zeroedBytes > 0 && { zeroedBytes }) };
  }
  const leftBytes = mode === 'torn' ? durableBytes + chance('left', sizeBytes - durableBytes + 1) : durableBytes;
  truncateSync(path, leftBytes);
  return { durableBytes, leftBytes };
}

/** The size of a file is written before its pages are: those that were not are zeros. At least one is, if any may be. */
function zeroPages(path: string, fromBytes: number, sizeBytes: number, chance: Chance): number {
  const starts: number[] = [];
  for (let at = fromBytes; at < sizeBytes; at = (Math.floor(at / PAGE_BYTES) + 1) * PAGE_BYTES) starts.push(at);
  const chosen = starts.filter((at) => chance(`page ${at}`, 2) === 0);
  const fd = openSync(path, 'r+');
  let zeroed = 0;
  try {
    for (const at of chosen.length > 0 ? chosen : starts.slice(-1)) {
      const end = Math.min((Math.floor(at / PAGE_BYTES) + 1) * PAGE_BYTES, sizeBytes);
      zeroed += writeSync(fd, Buffer.alloc(end - at), 0, end - at, at);
    }
  } finally {
    closeSync(fd);
  }
  return zeroed;
}

/** A file that is written over in place: what it held when it was synced; of what was written since, some pages or none. */
function putBack(path: string, durable: Buffer, { mode }: PowerCut, chance: Chance): Content {
  const written = readFileSync(path);
  const left = mode === 'exact' ? durable : mixed(durable, written, chance);
  writeFileSync(path, left);
  return { durableBytes: durable.length, leftBytes: left.length };
}

function mixed(durable: Buffer, written: Buffer, chance: Chance): Buffer {
  const pages: Buffer[] = [];
  for (let at = 0; at < Math.max(durable.length, written.length); at += PAGE_BYTES) {
    const from = chance(`page ${at}`, 2) === 0 ? durable : written;
    const page = from.subarray(at, at + PAGE_BYTES);
    pages.push(page);
    if (page.length < PAGE_BYTES) break;
  }
  return Buffer.concat(pages);
}

/** A whole number from 0, below `below`; the same for the same seed, file and question. */
type Chance = (what: string, below: number) => number;

function drawn(seed: number, name: string): Chance {
  return (what, below) => createHash('sha256').update(`${seed}\0${name}\0${what}`).digest().readUIntBE(0, 6) % below;
}
