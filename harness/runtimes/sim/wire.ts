/** Connections of the simulated network, as those that have them see them, and as who decides about their messages does. */

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
}

export interface NetworkPlace {
  /** The host's name. */
  host: string;
  address: string;
  port: number;
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
