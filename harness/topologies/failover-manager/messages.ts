/** What the harness and its failover manager say to each other: one JSON object a line, orders and questions in, news out. */

import type { OtherService } from '../../vocabulary/topology.js';

/** The first line that a manager reads. */
export interface Order {
  /** Absent: Redis. */
  service?: OtherService;
  servers: { name: string; host: string; port: number }[];
  primary: string;
  password?: string;
  /** The certificate of who signed those of the servers, PEM: they speak TLS. Absent: in plain text. */
  ca?: string;
  /** A primary that has not answered for this long is down. */
  downAfterMs: number;
  checkEveryMs: number;
}

/** Every further line: what do you see? */
export interface Question {
  id: number;
}

export type News =
  /** Read back from the server itself. */
  | { news: 'promoted'; server: string; instead: string; why: string }
  | { news: 'demoted' | 'repointed'; server: string; primary: string }
  /** It must be built anew to follow the primary; said for as long as that is so. */
  | { news: 'to-rebuild'; server: string; primary: string }
  /** Something cannot be done; said once, until it changes. */
  | { news: 'trouble'; what: string }
  | { news: 'view'; id: number; primary: string; silent: string[] };
