/**
 * Follows the commands that a Redis server runs, in its own order (MONITOR), over a stream that is already open.
 *
 * Read here and not with ioredis: it takes commands that arrive in one packet with MONITOR's own OK for answers to
 * questions it never asked, and throws where nobody can catch it.
 */
import type { Duplex } from 'node:stream';

export interface MonitoredCommand {
  /** The server's wall clock, milliseconds since 1970. */
  serverWallMs: number;
  /** `address:port`, `lua`, or `unix:path`. */
  source: string;
  argv: string[];
}

export interface Monitoring {
  /** Resolves with the reason when nothing more will come. */
  readonly closed: Promise<string>;
  close(): void;
}

/** Resolves once the server follows; rejects when it refuses or the stream ends first. `password`: what it asks for. */
export function monitor(
  stream: Duplex,
  onCommand: (command: MonitoredCommand) => void,
  password?: string,
): Promise<Monitoring> {
  const requests = [...(password ? [`AUTH ${password}`] : []), 'MONITOR'];
  return new Promise((resolve, reject) => {
    let rest = '';
    let granted = 0;
    const closed = new Promise<string>((done) => {
      stream.on('error', (error) => done(error.message));
      stream.once('close', () => done('the connection was closed'));
    });
    const fail = (reason: string) => stream.destroy(new Error(reason));
    void closed.then((reason) => reject(new Error(reason))); // no effect once it follows
    stream.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString('latin1')).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (granted < requests.length) {
          if (line !== '+OK') return fail(`${requests[granted]!.split(' ')[0]} was answered with ${line}`);
          granted++;
          if (granted === requests.length) resolve({ closed, close: () => stream.destroy() });
          continue;
        }
        const command = parseMonitorLine(line);
        if (!command) return fail(`not a line of MONITOR: ${line}`);
        onCommand(command);
      }
    });
    stream.write(requests.map((request) => `${request}\r\n`).join(''));
  });
}

/** `+1339518083.107412 [0 127.0.0.1:60866] "set" "k\x00"`; undefined if it is anything else. */
export function parseMonitorLine(line: string): MonitoredCommand | undefined {
  const head = /^\+(\d+\.\d+) \[\d+ (.*?)\] (?=")/.exec(line);
  if (!head) return undefined;
  const quoted = line.slice(head[0].length);
  const words = [...quoted.matchAll(/"((?:[^"\\]|\\.)*)"(?: |$)/gy)];
  if (words.reduce((length, word) => length + word[0].length, 0) !== quoted.length) return undefined;
  return { serverWallMs: Number(head[1]) * 1_000, source: head[2]!, argv: words.map((word) => unquote(word[1]!)) };
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t', a: '\u0007', b: '\b' };

/** Redis quotes bytes; what they spell is text in UTF-8. */
function unquote(text: string): string {
  const bytes = text.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex: string | undefined, escaped: string) =>
    hex === undefined ? (ESCAPES[escaped] ?? escaped) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
