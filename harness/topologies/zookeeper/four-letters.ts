/** ZooKeeper's four-letter commands, of which one tells a server's state. */
import type { Duplex } from 'node:stream';

/** What a server says of itself. */
export interface ServerState {
  /** Absent: it serves nobody, as one without a quorum. */
  serving?: { version: string; mode: 'leader' | 'follower' | 'standalone' };
}

const NOT_SERVING = 'not currently serving requests';

/** Asks over a stream that is of no use after it. Rejects where no answer comes within `timeoutMs`, or one that is no state. */
export async function serverState(stream: Duplex, timeoutMs: number): Promise<ServerState> {
  return stateIn(await ask(stream, 'srvr', timeoutMs));
}

/** Reads the answer to `srvr`. Throws where it is none. */
export function stateIn(answer: string): ServerState {
  if (answer.includes(NOT_SERVING)) return {};
  const [, version] = /^Zookeeper version: (\d+\.\d+\.\d+)/m.exec(answer) ?? [];
  const [, mode] = /^Mode: (leader|follower|standalone)$/m.exec(answer) ?? [];
  if (version === undefined || mode === undefined)
    throw new Error(`it does not tell its state${answer === '' ? '' : `: ${answer.slice(0, 200)}`}`);
  return { serving: { version, mode: mode as 'leader' | 'follower' | 'standalone' } };
}

function ask(stream: Duplex, command: string, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const late = AbortSignal.timeout(timeoutMs);
    const onLate = () => stream.destroy(new Error(`no answer within ${timeoutMs} ms`));
    late.addEventListener('abort', onLate);
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      answer += chunk;
    });
    stream.on('error', reject);
    stream.on('close', () => {
      late.removeEventListener('abort', onLate);
      resolve(answer);
    });
    stream.write(command);
  });
}
