/**
 * What a lock's client says to a ZooKeeper server, and what it is answered: requests by number, in the order in which they were
 * sent, and the events of watches between them. Of the protocol only what locks need.
 */
import { JuteReader, JuteWriter } from './jute.js';

/** A frame without its length. */
export type Frame = Buffer;

export interface SessionIdentity {
  id: bigint;
  password: Buffer;
}

export const NO_SESSION: SessionIdentity = { id: 0n, password: Buffer.alloc(16) };

/** What a server says to a client that connects. */
export interface Welcome extends SessionIdentity {
  /** What it keeps the session for, milliseconds; 0: the session is over. */
  timeoutMs: number;
}

/** `seenZxid`: the last change that the client has seen; a server that is behind it turns the client away. */
export function connectFrame({ id, password }: SessionIdentity, timeoutMs: number, seenZxid: bigint): Frame {
  return new JuteWriter().int(0).long(seenZxid).int(timeoutMs).long(id).buffer(password).bool(false).bytes();
}

export function readWelcome(frame: Frame): Welcome {
  const reader = new JuteReader(frame);
  reader.int();
  const timeoutMs = reader.int();
  return { timeoutMs, id: reader.long(), password: Buffer.from(reader.buffer()) };
}

/** Numbers of answers that answer no request. */
export const EVENT = -1;
export const PING = -2;

const OP = { create2: 15, delete: 2, setData: 5, sync: 9, getChildren2: 12, ping: 11, closeSession: -11 };

export const PERSISTENT = 0;
export const EPHEMERAL_SEQUENTIAL = 3;

/** What the server answers with instead of carrying it out. */
export const NO_NODE = -101;
export const NODE_EXISTS = -110;

/** Of a node. */
export interface Stat {
  /** The change that made it. */
  czxid: bigint;
}

/** A request, and how its answer is read. */
export interface ZooQuestion<Answer> {
  type: number;
  body: Buffer;
  read(reader: JuteReader): Answer;
}

export function create(path: string, data: string, flags: number): ZooQuestion<{ path: string; stat: Stat }> {
  // Everybody may do everything.
  const acl = (writer: JuteWriter) => writer.int(1).int(31).text('world').text('anyone');
  const body = acl(new JuteWriter().text(path).text(data)).int(flags).bytes();
  return { type: OP.create2, body, read: (reader) => ({ path: reader.text(), stat: readStat(reader) }) };
}

export function remove(path: string): ZooQuestion<void> {
  return { type: OP.delete, body: new JuteWriter().text(path).int(-1).bytes(), read: () => {} };
}

/** Its czxid tells when the node was made. */
export function setData(path: string, data: string): ZooQuestion<Stat> {
  return { type: OP.setData, body: new JuteWriter().text(path).text(data).int(-1).bytes(), read: readStat };
}

/** The names of its children. A watch on them is told when one comes or goes, or the node itself goes: once. */
export function getChildren(path: string, watch = false): ZooQuestion<string[]> {
  const body = new JuteWriter().text(path).bool(watch).bytes();
  return { type: OP.getChildren2, body, read: (reader) => reader.list((item) => item.text()) };
}

/** Answered when the server has all that the leader had carried out by then. */
export function sync(path: string): ZooQuestion<void> {
  return { type: OP.sync, body: new JuteWriter().text(path).bytes(), read: () => {} };
}

export const ping: ZooQuestion<void> = { type: OP.ping, body: Buffer.alloc(0), read: () => {} };
export const closeSession: ZooQuestion<void> = { type: OP.closeSession, body: Buffer.alloc(0), read: () => {} };

export function requestFrame(number: number, { type, body }: ZooQuestion<unknown>): Frame {
  return Buffer.concat([new JuteWriter().int(number).int(type).bytes(), body]);
}

/** An answer's head; the rest is for the question's own `read`. */
export function readHead(frame: Frame): { number: number; zxid: bigint; error: number; rest: JuteReader } {
  const rest = new JuteReader(frame);
  return { number: rest.int(), zxid: rest.long(), error: rest.int(), rest };
}

/** The path that a watch's event is about. */
export function readEvent(rest: JuteReader): string {
  rest.int();
  rest.int();
  return rest.text();
}

/** What is left unread of an answer does not matter. */
function readStat(reader: JuteReader): Stat {
  return { czxid: reader.long() };
}

/** With its length before it, as it goes over the wire. */
export function framed(frame: Frame): Buffer {
  return new JuteWriter().buffer(frame).bytes();
}

/** Cuts what arrives into frames. */
export class FrameSplitter {
  private pending = Buffer.alloc(0);

  push(chunk: Buffer): Frame[] {
    this.pending = Buffer.concat([this.pending, chunk]);
    const frames: Frame[] = [];
    while (this.pending.length >= 4) {
      const end = 4 + this.pending.readInt32BE(0);
      if (this.pending.length < end) break;
      frames.push(this.pending.subarray(4, end));
      this.pending = this.pending.subarray(end);
    }
    return frames;
  }
}
