/** Entry of the inner process: `inside-main.js <run folder> [--json]`. Started by the outer one only. */
import { couldNotRun } from './errors.js';
import { runInside } from './inside.js';

const [folder, ...flags] = process.argv.slice(2);
try {
  process.exit(await runInside(folder!, { json: flags.includes('--json') }));
} catch (error) {
  process.exit(couldNotRun(error));
}
