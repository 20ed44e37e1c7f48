/** An inner process, from its command line to its exit status. */
import { drained, surviveLostOutput } from '../common/closed-output.js';
import { couldNotRun, EXIT_INTERNAL_ERROR, isForUsers } from '../common/errors.js';
import { type CarryOutInside, runInside } from './inside.js';

/** Never resolves: the process ends. Its arguments: `<run folder> [--json] [--live] [--quiet]`. */
export async function insideProcess(carriesOut?: CarryOutInside): Promise<never> {
  surviveLostOutput();
  process.on('uncaughtException', giveUp);
  const [folder, ...flags] = process.argv.slice(2);
  try {
    const given = (flag: string) => flags.includes(flag);
    const options = { json: given('--json'), live: given('--live'), quiet: given('--quiet') };
    const status = await runInside(folder!, options, carriesOut);
    await drained();
    process.exit(status);
  } catch (error) {
    return giveUp(error);
  }
}

/** An unforeseen error is our bug: it must not look like a verdict, and what was recorded must not be lost. */
async function giveUp(error: unknown): Promise<never> {
  const status = couldNotRun(error);
  await drained();
  process.exit(isForUsers(error) ? status : EXIT_INTERNAL_ERROR);
}
