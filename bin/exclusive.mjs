// Promises: of all processes of this machine that ask for the same name, one at a time does its work, and the turn
// passes on when its holder ends, however it ends. Excludes: processes in other network namespaces, and systems other
// than Linux, where everybody is let in at once.
//
// The turn is an abstract unix socket: the kernel frees the name when the last process that has the socket open is
// gone, so nothing is ever left behind that a later start would have to judge stale, as with a lock file.

import { createHash } from 'node:crypto';
import { connect, createServer } from 'node:net';

/**
 * The socket's name fills the kernel's 108 bytes: some versions of Node pad a shorter one with zeros and others do not,
 * so that two versions would not exclude each other. (Node 20.0 to 20.3 drop the name: there all names are one.)
 *
 * @param {string} name
 */
export function socketName(name) {
  return `\0lock-torture-${createHash('sha256').update(name).digest('hex')}`.padEnd(108, '-');
}

/**
 * Runs `work` when no other process is at it. `work` gets the socket's file descriptor: children that inherit it keep the
 * turn even if this process dies before them.
 *
 * @template T
 * @param {string} name
 * @param {() => void} onWait called once, if another process is at it
 * @param {(turn: number | undefined) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function exclusively(name, onWait, work) {
  if (process.platform !== 'linux') return work(undefined);
  const path = socketName(name);
  let turn = await take(path);
  if (!turn) onWait();
  while (!turn) {
    await holderGone(path);
    turn = await take(path);
  }
  try {
    return await work(turn.descriptor);
  } finally {
    turn.pass();
  }
}

/** The turn, or undefined when somebody else has it. */
function take(path) {
  return new Promise((resolve, reject) => {
    // Those who wait connect, and learn from the end of the connection that the turn has passed on.
    const waiting = new Set();
    const server = createServer((socket) => {
      waiting.add(socket);
      socket.on('error', () => {}).on('close', () => waiting.delete(socket));
    });
    const pass = () => {
      server.close();
      for (const socket of waiting) socket.destroy();
    };
    server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    // Node has no public way to a server's descriptor; without it a child merely does not prolong the turn.
    server.listen(path, () => resolve({ descriptor: server._handle?.fd, pass }));
  });
}

function holderGone(path) {
  return new Promise((resolve) => {
    // An error is an answer too: the holder went between our two looks, or with our connection unaccepted.
    connect(path)
      .on('error', () => {})
      .on('close', resolve);
  });
}
