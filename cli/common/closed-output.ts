/**
 * What becomes of output whose reader is gone or slow: `npm run torture | head` is no reason to leave a run unfinished, and a
 * reader that takes its time still gets all of it.
 */

/** What is printed from then on is lost, and nothing else. */
export function surviveClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
}

/**
 * Resolves when all that was printed has left the process, or its reader is gone. To be awaited before `process.exit`: a pipe
 * that another process made non-blocking takes 64 KiB at a time, and an exit throws the rest away.
 */
export async function drained(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise<void>((done) => stream.write('', () => done()))),
  );
}
