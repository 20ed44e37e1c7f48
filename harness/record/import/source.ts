/**
 * A file as the text that it holds: as it is, or unpacked where it is gzip. By its first bytes, as endings of names lie. What
 * is known to be something else than a history is refused with what to give instead.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { constants, gunzipSync } from 'node:zlib';
import { DamagedHistory } from '../shapes.js';

export interface Source {
  path: string;
  /** What a packed file holds; undefined: the file is read as it is. */
  unpacked: Buffer | undefined;
  /** The beginning of the text. */
  head: string;
}

const HEAD_BYTES = 4096;
/** A packed file is unpacked in memory. */
const UNPACKED_BYTES_MAX = 2 ** 31;
const BYTE_ORDER_MARK = 0xfeff;

/** Throws DamagedHistory, or as the file system does. `torn`: a packed file may have lost its end. */
export function sourceOf(path: string, torn: boolean): Source {
  const first = headOf(path);
  const isPacked = startsWith(first, [0x1f, 0x8b]);
  const unpacked = isPacked ? unpackedFrom(path, torn) : undefined;
  const bytes = unpacked?.subarray(0, HEAD_BYTES) ?? first;
  const text = bytes.toString('utf8');
  const head = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
  const instead = otherThing(bytes, head, basename(path));
  if (instead !== undefined) throw new DamagedHistory(path, 1, instead);
  return { path, unpacked, head };
}

function headOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(HEAD_BYTES);
    return buffer.subarray(0, readSync(file, buffer, 0, HEAD_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

function unpackedFrom(path: string, torn: boolean): Buffer {
  try {
    const end = torn ? { finishFlush: constants.Z_SYNC_FLUSH } : {};
    return gunzipSync(readFileSync(path), { maxOutputLength: UNPACKED_BYTES_MAX, ...end });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_BUFFER_TOO_LARGE' && !code?.startsWith('Z_')) throw error;
    const why = code === 'Z_BUF_ERROR' ? 'its end is missing' : message;
    const remedy = code === 'ERR_BUFFER_TOO_LARGE' ? 'unpack it first' : `--torn judges what is whole of it`;
    throw new DamagedHistory(path, 1, `gzip that cannot be unpacked (${why}); ${remedy}`);
  }
}

const PACKED: Record<string, readonly number[]> = {
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
  xz: [0xfd, 0x37, 0x7a, 0x58, 0x5a],
  bzip2: [0x42, 0x5a, 0x68],
  zip: [0x50, 0x4b, 0x03, 0x04],
};

/** What a file is that is no history, with the remedy; undefined where it may be one. */
function otherThing(bytes: Buffer, head: string, name: string): string | undefined {
  if (head.startsWith('JEPSEN') || name === 'test.fressian')
    return "this is Jepsen's binary store: give history.edn, which stands beside it";
  const packed = Object.keys(PACKED).find((one) => startsWith(bytes, PACKED[one]!));
  if (packed !== undefined) return `this is packed by ${packed}: unpack it first`;
  // `0  :invoke  :acquire  nil`, with a date before it in logs.
  if (/^(?:INFO\b[^\n]*\s)?:?\w+\s+:(?:invoke|ok|fail|info)\s+:/.test(head))
    return "this is Jepsen's history.txt, which has no times: give history.edn, which stands beside it";
  return undefined;
}

function startsWith(bytes: Buffer, magic: readonly number[]): boolean {
  return magic.every((byte, at) => bytes[at] === byte);
}
