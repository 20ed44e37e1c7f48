/**
 * How the client program (`main.ts`) is started. Its protocol has a descriptor of its own, so that nothing else in its process
 * can write into it: a library in native code prints on descriptor 1 whatever `process.stdout` was made to do. What comes on 1
 * and 2 is the lock's log.
 */

/** The descriptor on which the client program writes the protocol. */
export const PROTOCOL_FD = 3;

/** The command that starts it. Whoever starts that reads the protocol on standard output, and the lock's log on standard error. */
export function clientProgram(argv: readonly string[]): string[] {
  // The shell replaces itself, so the number of the process stays the one that it was given.
  return ['sh', '-c', `exec "$@" ${PROTOCOL_FD}>&1 1>&2`, 'lock-client', ...argv];
}
