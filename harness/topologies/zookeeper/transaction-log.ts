/**
 * ZooKeeper's transaction log, as far as who holds a key is told by it: files of a header and entries, each with its length, that
 * end in zeros where nothing has been written yet. Numbers have the highest byte first.
 *
 * Excludes checksums: what is cut off in the midst of being written is read when the rest has come.
 */

/** What one entry did to nodes. */
export type NodeChange =
  | { type: 'created'; path: string; data: string; isEphemeral: boolean }
  | { type: 'deleted'; path: string }
  | { type: 'session-closed' };

export interface Transaction {
  /** Rises from entry to entry: the leader's epoch above 32 bits of a counter. */
  zxid: number;
  /** Whose it is. */
  session: bigint;
  /** Its own client asked for it; false: the leader did by itself, as when it ends a session of which nothing was heard. */
  isAsked: boolean;
  changes: NodeChange[];
}

const FILE_HEADER_BYTES = 16;
const MAGIC = Buffer.from('ZKLG');
/** Checksum and length. */
const ENTRY_HEADER_BYTES = 12;
/** After each entry. */
const MARK_BYTES = 1;

const CREATE = new Set([1, 15, 19, 21]);
const DELETE = new Set([2, 20]);
const MULTI = 14;
const CLOSE_SESSION = -11;

/** Entries from `offset` on (0: of a whole file), and where the next is to begin. Throws where the file is no such log. */
export function transactionsIn(bytes: Buffer, offset: number): { transactions: Transaction[]; next: number } {
  let at = 0;
  if (offset === 0) {
    if (bytes.length < FILE_HEADER_BYTES) return { transactions: [], next: 0 };
    if (!bytes.subarray(0, 4).equals(MAGIC)) throw new Error('not a transaction log');
    at = FILE_HEADER_BYTES;
  }
  const transactions: Transaction[] = [];
  while (at + ENTRY_HEADER_BYTES <= bytes.length) {
    const length = bytes.readInt32BE(at + 8);
    const end = at + ENTRY_HEADER_BYTES + length;
    // Zeros; or the end of it has not been written yet, which is a mark that is not zero.
    if (length <= 0 || end + MARK_BYTES > bytes.length || bytes[end] === 0) break;
    transactions.push(transactionIn(new Fields(bytes.subarray(at + ENTRY_HEADER_BYTES, end))));
    at = end + MARK_BYTES;
  }
  return { transactions, next: offset + at };
}

function transactionIn(fields: Fields): Transaction {
  const session = fields.long();
  const cxid = fields.int();
  const zxid = Number(fields.long());
  fields.long();
  const changes = changesIn(fields.int(), fields);
  return { zxid, session, isAsked: cxid !== 0, changes };
}

function changesIn(type: number, fields: Fields): NodeChange[] {
  if (CREATE.has(type)) {
    const [path, data] = [fields.text(), fields.text()];
    for (let left = fields.int(); left > 0; left--) {
      fields.int();
      fields.text();
      fields.text();
    }
    // Of the other kinds none goes with its session.
    return [{ type: 'created', path, data, isEphemeral: (type === 1 || type === 15) && fields.byte() === 1 }];
  }
  if (DELETE.has(type)) return [{ type: 'deleted', path: fields.text() }];
  if (type === CLOSE_SESSION) return [{ type: 'session-closed' }];
  if (type !== MULTI) return [];
  const changes: NodeChange[] = [];
  for (let left = fields.int(); left > 0; left--) changes.push(...changesIn(fields.int(), new Fields(fields.buffer())));
  return changes;
}

class Fields {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  byte(): number {
    return this.bytes.readInt8(this.at++);
  }

  int(): number {
    this.at += 4;
    return this.bytes.readInt32BE(this.at - 4);
  }

  long(): bigint {
    this.at += 8;
    return this.bytes.readBigInt64BE(this.at - 8);
  }

  buffer(): Buffer {
    const length = Math.max(0, this.int());
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  text(): string {
    return this.buffer().toString();
  }
}
