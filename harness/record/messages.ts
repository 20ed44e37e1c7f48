/**
 * `messages.jsonl`: every message of a simulated run with what became of it, as the coordinator that carried it knows. Only the
 * run of a hunt's finding has it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { conform, conformText } from './schemas/conform.js';
import { describes } from './schemas/describes.js';
import { StoreError, writeWhole } from './store.js';

/** What is sent over one connection, one way, at one instant; or that an end was closed. Times in ns since the run's epoch. */
export interface Message {
  /** The connection's number, from 0 on. */
  connection: number;
  /** Hosts. */
  from: string;
  to: string;
  /** Of the listener. */
  port: number;
  /** From the listener to who dialed. */
  isBack: boolean;
  sentNs: number;
  /** When the other end had it; absent: it never did. A stopped process may look at it much later. */
  arrivedNs?: number;
  /** When a cut stopped it: it waited for the end of that. */
  heldNs?: number;
  /** When a packet of it was lost: it was sent again later. */
  resentNs?: number;
  /** The bytes, one character each; absent: the sender closed its end. */
  bytes?: string;
  /** It was lost, and its connection with it. */
  isLost?: true;
}

export const MESSAGES = 'messages.jsonl';

const nanoseconds = z.number();

const messageSchema = describes<Message>()(
  z.object({
    connection: z.number().int(),
    from: z.string(),
    to: z.string(),
    port: z.number().int(),
    isBack: z.boolean(),
    sentNs: nanoseconds,
    arrivedNs: nanoseconds.optional(),
    heldNs: nanoseconds.optional(),
    resentNs: nanoseconds.optional(),
    bytes: z.string().optional(),
    isLost: z.literal(true).optional(),
  }),
);

/** `epochNs`: what the messages' times are counted from in the file. */
export function writeMessages(folder: string, messages: readonly Message[], epochNs: number): void {
  const since = (ns: number | undefined) => (ns === undefined ? undefined : ns - epochNs);
  const lines = messages.map((one) =>
    JSON.stringify({
      ...one,
      sentNs: since(one.sentNs),
      arrivedNs: since(one.arrivedNs),
      heldNs: since(one.heldNs),
      resentNs: since(one.resentNs),
    }),
  );
  writeWhole(join(folder, MESSAGES), `${lines.join('\n')}\n`);
}

/** In the order in which they were sent; undefined where the run has none. Throws a StoreError where the file is damaged. */
export function readMessages(folder: string): Message[] | undefined {
  const path = join(folder, MESSAGES);
  if (!existsSync(path)) return undefined;
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line, n) => {
    const { value, problem } = conformText(line, (data) => conform(messageSchema, data));
    if (value === undefined) throw new StoreError(`${path}, line ${n + 1}: ${problem}`);
    return value;
  });
}
