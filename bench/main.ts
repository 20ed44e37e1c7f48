/**
 * `npm run bench -- <name>`: what it costs to get a deployment ready, to read and judge a long run and a plain one, to
 * decide a history, to play schedules in virtual time, how often runs say what they must, and whether scenarios go as written.
 */
import { CommanderError } from 'commander';
import { drained } from '../cli/common/closed-output.js';
import { couldNotRun, UsageError } from '../cli/common/errors.js';
import { benchmarks } from './benchmarks.js';

const [name = '', ...argv] = process.argv.slice(2);
const benchmark = Object.hasOwn(benchmarks, name) ? benchmarks[name] : undefined;
if (name === '' || name === '--help') {
  const lines = Object.entries(benchmarks).map(
    ([one, { summary }]) => `  npm run bench -- ${one.padEnd(9)} ${summary}`,
  );
  process.stdout.write(`${lines.join('\n')}\n`);
  await drained();
  process.exit();
}
try {
  if (!benchmark)
    throw new UsageError(`no benchmark is called "${name}"; there are ${Object.keys(benchmarks).join(', ')}`);
  await benchmark.run(argv);
  await drained();
  process.exit();
} catch (error) {
  // Help was asked for, and is printed.
  if (error instanceof CommanderError && error.exitCode === 0) {
    await drained();
    process.exit();
  }
  process.exit(couldNotRun(error));
}
