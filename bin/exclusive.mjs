// Promises: of all processes of this machine and user that ask for the same name, one at a time does its work, and the turn
// passes on when its holder ends, however it ends. Excludes: processes in other network namespaces, and systems other
// than Linux, where everybody is let in at once.
//
// The turn is an abstract unix socket: the kernel frees the name when the last process that has the socket open is
// gone, so nothing is ever left behind that a later start would have to judge stale, as with a lock file. Such a name
// belongs to whoever binds it first, whatever user that is: nobody waits for another user, but takes the next name.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';

/** Names that others may have taken before nobody is waited for any more. */
const NAMES = 4;

/**
 * The user's name for it, of which there are several. It fills the kernel's 108 bytes: some versions of Node pad a shorter one with
 * zeros and others do not, so that two versions would not exclude each other. (Node 20.0 to 20.3 drop the name: there all names are
 * one.)
 *
 * @param {string} name
 * @param {number} [which] from 0 on
 */
export function socketName(name, which = 0) {
  const of = which === 0 ? name : `${name} ${which}`;
  return `\0lock-torture-${process.geteuid()}-${createHash('sha256').update(of).digest('hex')}`.padEnd(108, '-');
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
  const turn = await turnAt(name, onWait);
  try {
    return await work(turn?.descriptor);
  } finally {
    turn?.pass();
  }
}

/** The turn; undefined where others have taken every name. */
async function turnAt(name, onWait) {
  let waits = false;
  for (let which = 0; which < NAMES; ) {
    const path = socketName(name, which);
    const turn = await take(path);
    if (turn) return turn;
    if (isOfAnother(path)) {
      which++;
      continue;
    }
    if (!waits) onWait();
    waits = true;
    await holderGone(path);
  }
  return undefined;
}

/**
 * Whether a name is taken by another user, or by somebody who cannot be seen from here. The kernel tells the number of the
 * socket, and of this user's processes what they have open. False where it is free by now, or the kernel tells neither.
 */
function isOfAnother(path) {
  try {
    const inode = listenerAt(path);
    return inode !== undefined && !isOpenToUs(`socket:[${inode}]`);
  } catch {
    return false;
  }
}

function listenerAt(path) {
  const shown = path.replaceAll('\0', '@');
  for (const line of readFileSync('/proc/net/unix', 'utf8').split('\n')) {
    // Number, references, protocol, flags (this one: it listens), type, state, inode, name.
    const [, , , flags, , , inode, name] = line.trim().split(/\s+/);
    if (name === shown && flags === '00010000') return inode;
  }
  return undefined;
}

function isOpenToUs(socket) {
  const user = process.geteuid();
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      if (statSync(`/proc/${pid}`).uid !== user) return false;
      return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === socket);
    } catch {
      return false; // it has ended
    }
  });
}

function linkOf(path) {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // closed by now
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
