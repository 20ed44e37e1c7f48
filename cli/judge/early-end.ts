/**
 * Ends a run as soon as something that fails it is found (`--stop-at-first`): what is recorded so far is judged again and again,
 * in a thread of its own, so that the run is not disturbed. It only decides when to stop; what the run came to is decided at
 * its end, as always.
 */
import { Worker } from 'node:worker_threads';

export interface EarlyEnd extends AsyncDisposable {
  /** Aborts when something was found; the reason says what. */
  readonly signal: AbortSignal;
}

/** Watches the run that goes on in `folder`, until it is disposed. */
export function watchForFindings(folder: string, say: (line: string) => void): EarlyEnd {
  const found = new AbortController();
  const worker = new Worker(new URL('./early-end-worker.js', import.meta.url), { workerData: folder });
  worker.on('message', (what: string) => {
    say(`${what}; ending the run`);
    found.abort(what);
  });
  // Nothing is lost but time: the run goes on to its end, and is judged there.
  worker.on('error', (error) => say(`cannot look for findings meanwhile: ${error.message}`));
  return {
    signal: found.signal,
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}
