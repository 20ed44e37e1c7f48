/**
 * The server of the protected resource: `node main.js <address> <port> trusting|checking`. Ends with its standard input. Prints
 * `ready` once it listens.
 */
import { createServer } from 'node:net';
import type { ResourceMode } from '../vocabulary/workload.js';
import { resourceServer } from './server.js';

const [address, port, mode] = process.argv.slice(2);
const serve = resourceServer(mode as ResourceMode);

createServer((socket) => {
  const hear = serve({ send: (line) => socket.write(line), close: () => socket.destroy() });
  socket.setEncoding('utf8');
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: string) => hear(chunk));
}).listen(Number(port), address, () => process.stdout.write('ready\n'));
process.stdin.on('end', () => process.exit(0));
process.stdin.resume();
