/** Entries of ZooKeeper's transaction log, for tests. */

const int = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const long = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
};
const text = (value: string) => Buffer.concat([int(value.length), Buffer.from(value)]);

/** Of a file. */
export const HEADER = Buffer.concat([Buffer.from('ZKLG'), int(2), long(0n)]);

type Body = { session: bigint; cxid: number; type: number; record: Buffer };

export function entry(zxid: number, { session, cxid, type, record }: Body): Buffer {
  const head = Buffer.concat([long(session), int(cxid), long(BigInt(zxid)), long(0n), int(type)]);
  // What follows the record is a digest.
  const body = Buffer.concat([head, record, int(2), long(1n)]);
  return Buffer.concat([long(9n), int(body.length), body, Buffer.from('B')]);
}

export const opened = (session: bigint): Body => ({ session, cxid: 0, type: -10, record: int(4_000) });

export function createdBy(session: bigint, path: string, data: string, isEphemeral: boolean): Body {
  const acl = Buffer.concat([int(1), int(31), text('world'), text('anyone')]);
  const record = Buffer.concat([text(path), text(data), acl, Buffer.from([isEphemeral ? 1 : 0]), int(1)]);
  return { session, cxid: 5, type: isEphemeral ? 15 : 1, record };
}

export const deletedBy = (session: bigint, path: string): Body => ({ session, cxid: 6, type: 2, record: text(path) });

/** By its client, or by the leader for its silence. */
export const closedBy = (session: bigint, isAsked: boolean): Body => ({
  session,
  cxid: isAsked ? 7 : 0,
  type: -11,
  record: int(0),
});
