/**
 * The server of the protected resource: `node main.js <address> <port> trusting|checking`. It answers one line for each line
 * that it gets, in the order in which they arrive, and ends with its standard input. Prints `ready` once it listens.
 */
import { createServer, type Socket } from 'node:net';
import { LineSplitter } from '../runtimes/lines.js';
import type { ResourceMode } from '../vocabulary/workload.js';
import type { Access } from './messages.js';
import { Register } from './register.js';

const [address, port, mode] = process.argv.slice(2);
const register = new Register(mode as ResourceMode);

createServer(serve).listen(Number(port), address, () => process.stdout.write('ready\n'));
process.stdin.on('end', () => process.exit(0));
process.stdin.resume();

function serve(socket: Socket): void {
  const lines = new LineSplitter();
  socket.setEncoding('utf8');
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: string) => {
    for (const line of lines.push(chunk)) {
      try {
        socket.write(`${JSON.stringify(register.answer(JSON.parse(line) as Access))}\n`);
      } catch {
        socket.destroy(); // not of this protocol
      }
    }
  });
}
