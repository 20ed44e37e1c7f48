/** What goes between a lock client and the server of the protected resource: one JSON object a line, over TCP. */

export interface Access {
  id: number;
  op: 'read' | 'write';
  key: string;
  /** Of a write: what is to be stored. */
  value?: number;
  /** The fencing token under which the client acts, where its lock gives one. */
  token?: number;
}

export type AccessAnswer =
  /** Taken. `value`: what is stored now; `version`: how many writes of the key were taken by now. */
  | { id: number; value: number; version: number }
  /** Certainly not taken, and why. */
  | { id: number; refused: string };
