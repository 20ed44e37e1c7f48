/** TCP connections as a host's kernel lists them: what proves that one is gone, or that an answer is still unacknowledged. */
import { endianness } from 'node:os';
import type { Host } from '../../harness/vocabulary/host.js';

export interface End {
  readonly address: string;
  readonly port: number;
}

export interface Connection {
  readonly own: End;
  readonly peer: End;
  readonly isEstablished: boolean;
  /** Bytes sent and not acknowledged. */
  readonly unacknowledged: number;
}

const ESTABLISHED = '01';

export async function connectionsOf(host: Host): Promise<Connection[]> {
  const result = await host.exec(['cat', '/proc/net/tcp']);
  if (result.exitCode !== 0) throw new Error(`${host.name}: its connections cannot be read: ${result.stderr}`);
  return parseConnections(result.stdout);
}

/** Of `/proc/net/tcp`: `sl local_address rem_address st tx_queue:rx_queue ...`, numbers in hexadecimal. */
export function parseConnections(text: string, littleEndian = endianness() === 'LE'): Connection[] {
  return text
    .trim()
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', remote = '', state = '', queues = ''] = line.trim().split(/\s+/);
      const [own, peer] = [endOf(local, littleEndian), endOf(remote, littleEndian)];
      if (!own || !peer) return [];
      const unacknowledged = Number.parseInt(queues.split(':')[0]!, 16);
      return [{ own, peer, isEstablished: state === ESTABLISHED, unacknowledged }];
    });
}

export function endName({ address, port }: End): string {
  return `${address}:${port}`;
}

function endOf(text: string, littleEndian: boolean): End | undefined {
  const [, hex, port] = /^([0-9A-F]{8}):([0-9A-F]{4})$/i.exec(text) ?? [];
  if (hex === undefined || port === undefined) return undefined;
  const bytes = [0, 2, 4, 6].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return { address: (littleEndian ? bytes.reverse() : bytes).join('.'), port: Number.parseInt(port, 16) };
}
