/** What a simulated server says of its files, and how `harness/native/sim-shim.c` writes that. */

/** What a server says of its files. Names are below the host's folder; `id` is a file as it was opened by this process. */
export type DiskNews =
  | {
      kind: 'opened';
      id: number;
      name: string;
      /** There was none of that name. */
      isNew: boolean;
      isEmptied: boolean;
      /** It may be written over anywhere; `held` is what it held until now. */
      inPlace: boolean;
      sizeBytes: number;
      held: Buffer;
    }
  /** `held`: of a file that is written over in place. An id of 0: a folder, which has names only. */
  | { kind: 'synced'; id: number; sizeBytes: number; held: Buffer }
  /** `replaced`: what the file held that had the name until now; absent where there was none. */
  | { kind: 'renamed'; name: string; to: string; replaced?: Buffer }
  | { kind: 'removed'; name: string; held: Buffer }
  | { kind: 'shortened'; name: string; sizeBytes: number }
  | { kind: 'folder'; name: string };

/** As the shim numbers them, one after the other. */
export const DISK_NEWS = ['opened', 'synced', 'renamed', 'removed', 'shortened', 'folder'] as const;

const IS_NEW = 1;
const IS_EMPTIED = 2;
const IS_IN_PLACE = 4;

export function diskNewsIn(kind: DiskNews['kind'], id: number, bytes: Buffer): DiskNews {
  switch (kind) {
    case 'opened': {
      const [is, sizeBytes, end] = [bytes.readUInt8(0), sizeAt(bytes, 1), 11 + bytes.readUInt16LE(9)];
      const [isNew, isEmptied, inPlace] = [IS_NEW, IS_EMPTIED, IS_IN_PLACE].map((bit) => (is & bit) !== 0);
      const flags = { isNew: isNew!, isEmptied: isEmptied!, inPlace: inPlace! };
      return { kind, id, name: bytes.toString('utf8', 11, end), ...flags, sizeBytes, held: bytes.subarray(end) };
    }
    case 'synced':
      return { kind, id, sizeBytes: sizeAt(bytes, 0), held: bytes.subarray(8) };
    case 'renamed': {
      const [name, from] = nameAt(bytes, 0);
      const [to, end] = nameAt(bytes, from);
      const wasThere = bytes.readUInt8(end) !== 0;
      return { kind, name, to, ...(wasThere && { replaced: bytes.subarray(end + 1) }) };
    }
    case 'removed': {
      const [name, end] = nameAt(bytes, 0);
      return { kind, name, held: bytes.subarray(end) };
    }
    case 'shortened':
      return { kind, name: bytes.toString('utf8', 8), sizeBytes: sizeAt(bytes, 0) };
    case 'folder':
      return { kind, name: bytes.toString('utf8') };
  }
}

function sizeAt(bytes: Buffer, at: number): number {
  return Number(bytes.readBigInt64LE(at));
}

/** A name with its 0, and where what follows it begins. */
function nameAt(bytes: Buffer, from: number): [name: string, next: number] {
  const end = bytes.indexOf(0, from);
  return [bytes.toString('utf8', from, end), end + 1];
}
