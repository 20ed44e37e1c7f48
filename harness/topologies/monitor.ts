/**
 * Follows the commands that a Redis server runs, in its own order (MONITOR), over a stream that is already open; on
 * demand also the keys that it evicts, each in its place in that order: both come through the one connection.
 *
 * Read here and not with ioredis: it takes commands that arrive in one packet with MONITOR's own OK for answers to
 * questions it never asked, and throws where it cannot be caught.
 */
import type { Duplex } from 'node:stream';
import type { MonitoredCommand, Monitoring } from '../vocabulary/topology.js';
import { textOf } from './text-of-bytes.js';

/**
 * The source of what no client sent: the server threw `argv[0]` away because its memory was full. `serverWallMs` is that of
 * the command before.
 */
export const EVICTION = 'evicted';

export interface MonitorOptions {
  /** What the server asks for. */
  password?: string;
  /** Whether it publishes evictions (`notify-keyspace-events Ee`), and they are to be reported. */
  evictions?: boolean;
}

const EVICTED_CHANNEL = '__keyevent@0__:evicted';

/** Resolves once the server follows; rejects when it refuses or the stream ends first. */
export function monitor(
  stream: Duplex,
  onCommand: (command: MonitoredCommand) => void,
  { password, evictions }: MonitorOptions = {},
): Promise<Monitoring> {
  const requests = [
    ...(password ? [`AUTH ${password}`] : []),
    'MONITOR',
    // Asked second: a connection that has subscribed may not ask for MONITOR any more.
    ...(evictions ? [`SUBSCRIBE ${EVICTED_CHANNEL}`] : []),
  ];
  return new Promise((resolve, reject) => {
    const replies = new Replies();
    let granted = 0;
    let wallMs = 0;
    const closed = new Promise<string>((done) => {
      stream.on('error', (error) => done(error.message));
      stream.once('close', () => done('the connection was closed'));
    });
    const fail = (reason: string): void => void stream.destroy(new Error(reason));
    void closed.then((reason) => reject(new Error(reason))); // no effect once it follows
    stream.on('data', (chunk: Buffer) => {
      for (const reply of replies.read(chunk)) {
        // Once MONITOR is granted, commands may come before the answer to SUBSCRIBE.
        const command = typeof reply === 'string' ? parseMonitorLine(reply) : evictionOf(reply, wallMs);
        if (command) {
          wallMs = command.serverWallMs;
          onCommand(command);
          continue;
        }
        if (granted === requests.length) return fail(`not a line of MONITOR: ${reply}`);
        const asked = requests[granted]!.split(' ')[0]!;
        if (reply !== '+OK' && reply[0] !== asked.toLowerCase()) return fail(`${asked} was answered with ${reply}`);
        granted++;
        if (granted === requests.length) resolve({ closed, close: () => stream.destroy() });
      }
    });
    stream.write(requests.map((request) => `${request}\r\n`).join(''));
  });
}

/** Puts together what arrives in pieces: a line is a string, a list of the protocol (what is published) is a list. */
class Replies {
  private rest = '';
  private list: { length: number; items: string[]; bulk?: { bytes: number; lines: string[] } } | undefined;

  *read(chunk: Buffer): Generator<string | string[]> {
    const lines = (this.rest + chunk.toString('latin1')).split('\r\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      const reply = this.add(line);
      if (reply !== undefined) yield reply;
    }
  }

  private add(line: string): string | string[] | undefined {
    const { list } = this;
    if (!list) {
      if (!/^\*\d+$/.test(line)) return line;
      this.list = { length: Number(line.slice(1)), items: [] };
      return undefined;
    }
    if (list.bulk) {
      // A key may contain a line break: its length tells.
      list.bulk.lines.push(line);
      const text = list.bulk.lines.join('\r\n');
      if (text.length < list.bulk.bytes) return undefined;
      list.items.push(text);
      delete list.bulk;
    } else if (line.startsWith('$')) {
      list.bulk = { bytes: Number(line.slice(1)), lines: [] };
    } else {
      list.items.push(line);
    }
    if (list.items.length < list.length) return undefined;
    this.list = undefined;
    return list.items;
  }
}

function evictionOf([kind, channel, key]: readonly string[], serverWallMs: number): MonitoredCommand | undefined {
  if (kind !== 'message' || channel !== EVICTED_CHANNEL || key === undefined) return undefined;
  return { serverWallMs, source: EVICTION, argv: [utf8(key)] };
}

/** `+1339518083.107412 [0 127.0.0.1:60866] "set" "k\x00"`; undefined if it is anything else. */
export function parseMonitorLine(line: string): MonitoredCommand | undefined {
  const head = /^\+(\d+\.\d+) \[(\d+) (.*?)\] (?=")/.exec(line);
  if (!head) return undefined;
  const quoted = line.slice(head[0].length);
  const words = [...quoted.matchAll(/"((?:[^"\\]|\\.)*)"(?: |$)/gy)];
  const isWhole = words.reduce((length, word) => length + word[0].length, 0) === quoted.length;
  const argv = isWhole ? words.map((word) => unquote(word[1]!)) : unescapedScript(quoted);
  if (!argv) return undefined;
  const db = Number(head[2]);
  return {
    serverWallMs: Number(head[1]) * 1_000,
    source: head[3]!,
    ...(db !== 0 && { db }),
    argv,
  };
}

/**
 * Valkey 8.1 prints quotes as they are (tried on 8.1.1). Where one word ends and the next begins can then be guessed only,
 * which will do for a script: what it writes is in lines of their own.
 */
function unescapedScript(quoted: string): string[] | undefined {
  if (!/^"(?:EVAL|FCALL)[^"]*" .*"$/is.test(quoted)) return undefined;
  return quoted.slice(1, -1).split('" "');
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t', a: '\u0007', b: '\b' };

/** Nearly every word: nothing in it stands for something else. */
const PLAIN = /^[ -[\]-~]*$/;

/** Redis quotes bytes; what they spell is text in UTF-8. */
function unquote(text: string): string {
  if (PLAIN.test(text)) return text;
  const bytes = text.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex: string | undefined, escaped: string) =>
    hex === undefined ? (ESCAPES[escaped] ?? escaped) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return utf8(bytes);
}

function utf8(bytes: string): string {
  return textOf(Buffer.from(bytes, 'latin1'));
}
