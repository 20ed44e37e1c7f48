/**
 * What MySQL and MariaDB say in different words. Everything else of a server is in `server.ts`, everything else of its failover manager
 * in `watched-mysql.ts`.
 */
import type { ServerRole, Setting } from '../../vocabulary/topology.js';
import type { SqlRow } from '../sql-admin.js';

/** For people and for the server. */
export type GivenSetting = Omit<Setting, 'where'>;

/** Whom a replica follows, by the word of whoever builds it. */
export interface ReplicationSource {
  host: string;
  port: number;
  user: string;
  password: string;
}

export interface Flavour {
  readonly name: 'mysql' | 'mariadb';
  readonly settings: readonly GivenSetting[];
  /** Flags that keep the server small, and say nothing to people. */
  readonly small: readonly string[];
  /** Flags of every start. `usr`: the folder in whose `sbin` its program lies. */
  flags(usr: string): readonly string[];
  /** Where its messages may be, below `usr`. */
  readonly shared: readonly string[];
  /** Of the program that makes system tables in the data folder, with the statements that it reads, if any. */
  systemTables(statementsOf: (name: string) => Promise<string>): Promise<{ flags: readonly string[]; input: string }>;
  /** Of its data folder, by their names: what must not be the same in two. `number` is the server's. */
  files(number: number): Readonly<Record<string, string>>;
  /** The beginning of the names of its semi-synchronous settings, of who is followed and of who follows. */
  readonly semiSync: { source: string; replica: string };
  /** One question, and what its row says; the number of a server's is its `server_id`. */
  readonly state: string;
  stateIn(row: SqlRow): ReplicationState;
  /** To be carried out before anybody is let in, one statement a line. */
  toFollow(source: ReplicationSource): string;
  readonly replication: {
    /** A row where it follows somebody. */
    status: string;
    source: string;
    /** Both `Yes`: it receives, and carries out. */
    running: readonly [receives: string, carriesOut: string];
    /** A set of transactions. */
    received: string;
    stopReceiving: string;
    stop: string;
    forgetSource: string;
    /** Takes a set of transactions and seconds; `waited` is 0 once it has carried them out. */
    carriedOut: string;
  };
  /** How much has been written, in one set of transactions or in both. */
  written(executed: unknown, received?: unknown): number;
}

/**
 * Every server that is built has a number that is greater than those before, and a replica is built after its primary: so the
 * number of whoever is primary rises with every promotion, and names what it wrote.
 */
export interface ReplicationState {
  role: Extract<ServerRole['role'], 'primary' | 'replica'>;
  /** Of a primary its own number; of a replica that of whose writes it had last, 0: of nobody's. */
  term: number;
  /** Who wrote last what it has; undefined: nobody. */
  writer: number | undefined;
  /** A set of transactions. */
  executed: unknown;
}
