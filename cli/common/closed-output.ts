/**
 * What becomes of output whose reader is gone or slow: `npm run torture | head`, or a terminal that was closed, is no reason to
 * leave a run unfinished, and a reader that takes its time still gets all of it.
 */
import { inProject } from '../../harness/machine/project-files.js';

/** `bin/last-resort.mjs` has it, because set-up prints before there is anything else. */
const { surviveLostOutput, uncaughtText } = (await import(inProject('bin/last-resort.mjs'))) as {
  surviveLostOutput: () => void;
  uncaughtText: (error: unknown) => string;
};

export { surviveLostOutput, uncaughtText };

/**
 * Resolves when all that was printed has left the process, or its reader is gone. To be awaited before `process.exit`: a pipe
 * that another process made non-blocking takes 64 KiB at a time, and an exit throws the rest away.
 */
export async function drained(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise<void>((done) => stream.write('', () => done()))),
  );
}
