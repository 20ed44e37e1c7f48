/** What shows each second, on standard error, that something goes on which says nothing by itself (`bin/signs-of-life.mjs`). */
import { inProject } from './project-files.js';

export interface SignsOfLife {
  /** Ends them; what is printed next begins at the beginning of a line. More than once does no more. */
  stop(): void;
}

const { signsOfLife } = (await import(inProject('bin/signs-of-life.mjs'))) as { signsOfLife: () => SignsOfLife };

export { signsOfLife };

/** Shows them until `work` has come to its end. */
export async function showingLife<T>(work: () => Promise<T>): Promise<T> {
  const signs = signsOfLife();
  try {
    return await work();
  } finally {
    signs.stop();
  }
}
