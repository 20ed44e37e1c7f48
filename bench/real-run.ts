/** A run in real time, by the command line as a user types it. */
import { join } from 'node:path';
import { runProgram } from '../harness/machine/command.js';
import { PROJECT } from '../harness/machine/project-files.js';

const COULD_NOT_RUN = 3;

/** Its folder is below `base`. `trouble`: the last thing that it said, where it could not be made. Rejects where it takes longer than that. */
export async function realRun(
  flags: readonly string[],
  { base, timeoutMs }: { base: string; timeoutMs: number },
): Promise<{ exitCode: number | undefined; trouble: string | undefined }> {
  const { exitCode, stderr } = await runProgram(
    [process.execPath, join(PROJECT, 'bin/torture.mjs'), ...flags, '--no-config', '--out', base],
    { timeoutMs },
  );
  return { exitCode, trouble: exitCode === COULD_NOT_RUN ? stderr.trim().split('\n').at(-1)! : undefined };
}
