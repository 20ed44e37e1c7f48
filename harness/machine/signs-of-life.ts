/** What shows each second, on standard error, that something goes on which says nothing by itself (`bin/signs-of-life.mjs`). */
import { inProject } from './project-files.js';

export interface SignsOfLife {
  /** Ends them; what is printed next begins at the beginning of a line. More than once does no more. */
  stop(): void;
}

const { signsOfLife } = (await import(inProject('bin/signs-of-life.mjs'))) as { signsOfLife: () => SignsOfLife };

export { signsOfLife };

/** Shows them until `work` has come to its end, or calls `stop`, as it does before it prints anything. */
export async function showingLife<T>(work: (stop: () => void) => Promise<T>): Promise<T> {
  const signs = signsOfLife();
  try {
    return await work(signs.stop);
  } finally {
    signs.stop();
  }
}
