/**
 * What clients and servers said to each other, request by request, from the recorded messages of a simulated run: what was asked,
 * what was answered, and when each of them left and came.
 *
 * A server answers in the instant in which it carries out what it was asked: time stands still meanwhile. So an answer's `sentNs` is
 * when that happened, but for a command that waits (BLPOP): of that it is when it was served.
 */
import type { Message } from '../messages.js';
import { RespReader, type RespValue } from './resp.js';

export interface Exchange {
  client: string;
  server: string;
  argv: string[];
  /** What completed the request; several requests may share one. */
  request: Message;
  /** Absent: the server never answered. */
  answer?: { value: RespValue; message: Message };
}

/** Of all connections that a host of `isClient` dialed, in the order in which the requests were sent. */
export function exchangesOf(messages: readonly Message[], isClient: (host: string) => boolean): Exchange[] {
  const conversations = new Map<number, Conversation>();
  const all: Exchange[] = [];
  for (const message of messages) {
    const { connection, isBack, from, to, bytes } = message;
    if (bytes === undefined || !isClient(isBack ? to : from)) continue;
    const conversation = conversations.get(connection) ?? new Conversation();
    conversations.set(connection, conversation);
    if (isBack) conversation.answered(bytes, message);
    else all.push(...conversation.asked(bytes, message));
  }
  return all;
}

class Conversation {
  private readonly there = new RespReader();
  private readonly back = new RespReader();
  /** With how many values are still to come for each. */
  private readonly open: { exchange: Exchange; left: number }[] = [];

  asked(bytes: string, request: Message): Exchange[] {
    const made = this.there.read(bytes).flatMap((value): Exchange[] => {
      if (value.type !== 'list') return [];
      const argv = value.items.map((item) => ('text' in item ? item.text : ''));
      return [{ client: request.from, server: request.to, argv, request }];
    });
    this.open.push(...made.map((exchange) => ({ exchange, left: valuesFor(exchange.argv) })));
    return made;
  }

  answered(bytes: string, message: Message): void {
    for (const value of this.back.read(bytes)) {
      // What a server tells without being asked answers nothing.
      if (isTold(value)) continue;
      const [first] = this.open;
      if (!first) continue;
      first.exchange.answer ??= { value, message };
      if (--first.left <= 0) this.open.shift();
    }
  }
}

/** A subscription is answered channel by channel. */
function valuesFor([name = '', ...channels]: readonly string[]): number {
  return SUBSCRIBED.includes(name.toLowerCase()) ? Math.max(1, channels.length) : 1;
}

/** Messages of channels come as pushes, or in the older version of the protocol as lists that begin so. */
function isTold(value: RespValue): boolean {
  if (value.type === 'push') return !isOf(value.items[0], SUBSCRIBED);
  return value.type === 'list' && isOf(value.items[0], TOLD);
}

const TOLD = ['message', 'pmessage', 'smessage'];
const SUBSCRIBED = ['subscribe', 'psubscribe', 'ssubscribe', 'unsubscribe', 'punsubscribe', 'sunsubscribe'];

function isOf(value: RespValue | undefined, words: readonly string[]): boolean {
  return value?.type === 'bulk' && words.includes(value.text);
}
