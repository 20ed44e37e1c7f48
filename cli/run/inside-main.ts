/** Entry of the inner process: `inside-main.js <run folder> [--json] [--live] [--quiet]`. Started by the outer one only. */
import { drained, surviveLostOutput } from '../common/closed-output.js';
import { couldNotRun, EXIT_INTERNAL_ERROR, isForUsers } from '../common/errors.js';
import { runInside } from './inside.js';

/** An unforeseen error is our bug: it must not look like a verdict, and what was recorded must not be lost. */
async function giveUp(error: unknown): Promise<never> {
  const status = couldNotRun(error);
  await drained();
  process.exit(isForUsers(error) ? status : EXIT_INTERNAL_ERROR);
}

surviveLostOutput();
process.on('uncaughtException', giveUp);
const [folder, ...flags] = process.argv.slice(2);
try {
  const given = (flag: string) => flags.includes(flag);
  const status = await runInside(folder!, {
    json: given('--json'),
    live: given('--live'),
    quiet: given('--quiet'),
  });
  await drained();
  process.exit(status);
} catch (error) {
  await giveUp(error);
}
