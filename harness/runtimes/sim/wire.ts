/** Connections of the simulated network, as those that have them see them, and as who decides about their messages does. */
import type { Draws } from './draws.js';
import type { Carried } from './links.js';
import type { Appointment } from './timeline.js';

/** One end of a connection, as the program that has it hears of it. */
export interface WireEnd {
  opened(): void;
  refused(): void;
  received(bytes: Buffer): void;
  finished(how: 'ended' | 'reset'): void;
}

/** What that program can do with it. */
export interface Plug {
  send(bytes: Buffer): void;
  close(how?: 'ended' | 'reset'): void;
  /** Of who dialed: while nothing is said, its kernel asks so often whether the other end is there still. */
  keepAlive?(everyMs: number): void;
}

/** In place of an address: all that the host has, whenever it has them. */
export const ANY_ADDRESS = '0.0.0.0';

/** Whoever listens is given a connection, and says what is to hear it. */
export type WireAccept = (from: NetworkPlace, plug: Plug) => WireEnd;

export interface NetworkPlace {
  /** The host's name. */
  host: string;
  address: string;
  port: number;
}

/** A message that waits before who is to hear it. */
export interface HeldMessage {
  readonly carried: Carried;
  deliver(): void;
}

export interface WireWay {
  readonly connection: WireConnection;
  /** From the listener to who dialed. */
  readonly isBack: boolean;
  readonly draw: Draws;
  /** What becomes of its messages on links that do something to them. */
  readonly fates: Draws;
  messages: number;
  lastNs: number;
  /** Bytes that were sent and have not come: as far as the sender knows they may be lost. */
  unacknowledged: number;
  /** What met a cut or was lost, and what was sent behind it, in order. */
  held: HeldMessage[];
  /** The first of these was lost, and is sent again then. */
  again: Appointment | undefined;
  end: WireEnd | undefined;
  closed: boolean;
}

export interface WireConnection {
  /** From 0 on, in the order in which they were dialed. */
  readonly number: number;
  readonly dialer: NetworkPlace;
  /** Its host: who had the address when the connection was accepted. */
  readonly listener: NetworkPlace;
  readonly reset: () => void;
  readonly ways: { there: WireWay; back: WireWay };
  /** Messages that are on their way, both ways together; what meets a cut is not. */
  underWay: number;
  /** When something last came, on either way. */
  heardNs: number;
  /** Absent: nobody asks whether the other end is there. */
  keepAliveNs?: number;
}

/** Decides when messages come, in place of chance. */
export interface Gate {
  /** Whether it takes this one, which then comes when it says so; of what it takes nothing may overtake what it took before. */
  takes(message: GatedMessage): boolean;
}

export interface GatedMessage {
  connection: number;
  from: string;
  to: string;
  isBack: boolean;
  /** Absent: the sender closes its end. */
  bytes?: Buffer;
  come(): void;
  /** Both ends hear that their connection is reset. */
  lose(): void;
}
