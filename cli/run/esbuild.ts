/**
 * esbuild while it is needed. One process of it serves all builds, and ending it leaves those that still go on without an answer,
 * for ever: with several runs at once it is ended with the last of their builds.
 */
let building = 0;

/** Loaded only when needed: it costs more than the rest of the start together. */
export async function withEsbuild<T>(build: (esbuild: typeof import('esbuild')) => Promise<T>): Promise<T> {
  const esbuild = await import('esbuild');
  building++;
  try {
    return await build(esbuild);
  } finally {
    building--;
    if (building === 0) await esbuild.stop();
  }
}
