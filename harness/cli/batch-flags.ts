/** The flags that commands which make many runs have in common. */
import { availableParallelism } from 'node:os';
import { type Command, Option } from 'commander';
import { PROJECT_RUNS } from './flags.js';
import { runtimeNames } from './runtimes.js';
import { count, oneOf } from './values.js';

export interface BatchFlags {
  runtime: string;
  redis?: string;
  jobs: number;
  out: string;
  json: boolean;
}

export function addBatchFlags(command: Command): Command {
  return command
    .addOption(new Option('--runtime <name>', 'where hosts live').argParser(oneOf(runtimeNames)).default('auto'))
    .addOption(new Option('--redis <path>', 'the redis-server to torture (default: from PATH, else downloaded)'))
    .addOption(
      new Option('--jobs <n>', 'how many runs at once')
        .argParser(count(1, 64))
        .default(availableParallelism(), 'one for each core'),
    )
    .addOption(new Option('--out <folder>', 'where run folders go').default(PROJECT_RUNS, 'runs/ of the project'))
    .addOption(new Option('--json', 'progress and results as JSON lines').default(false, 'text'));
}
