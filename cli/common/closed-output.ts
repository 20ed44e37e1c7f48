/** Output that nobody reads any more (`npm run torture | head`) is no reason to leave a run unfinished. */

/** What is printed from then on is lost, and nothing else. */
export function surviveClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
}
