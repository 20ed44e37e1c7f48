/**
 * What the server of the protected resource says on its connections: one line for each line that it gets, in the order in which
 * they arrive.
 */
import { LineSplitter } from '../runtimes/lines.js';
import type { ResourceMode } from '../vocabulary/workload.js';
import type { Access } from './messages.js';
import { Register } from './register.js';

/** A connection as a server has it. */
export interface ServedConnection {
  send(text: string): void;
  close(): void;
}

/** Is given each connection; the result takes what comes on it. A connection on which something else comes is closed. */
export function resourceServer(mode: ResourceMode): (connection: ServedConnection) => (text: string) => void {
  const register = new Register(mode);
  return ({ send, close }) => {
    const lines = new LineSplitter();
    return (text) => {
      for (const line of lines.push(text)) {
        try {
          send(`${JSON.stringify(register.answer(JSON.parse(line) as Access))}\n`);
        } catch {
          close(); // not of this protocol
        }
      }
    };
  };
}
