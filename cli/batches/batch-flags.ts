/** The flags that commands which make many runs have in common. */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { DEFAULT_CLIENT_IMAGE, DEFAULT_IMAGE } from '../../docker/index.js';
import { nameAmong, wholeNumberIn } from '../common/values.js';
import { images, PROJECT_RUNS } from '../run/flags.js';
import type { Asked } from '../run/machine.js';
import { runtimeNames } from '../run/runtimes.js';

export interface BatchFlags extends Asked {
  jobs: number;
  out: string;
  json: boolean;
}

export function addBatchFlags(command: Command): Command {
  for (const option of images(`${DEFAULT_IMAGE}, and ${DEFAULT_CLIENT_IMAGE}`)) command.addOption(option);
  return command
    .addOption(new Option('--runtime <name>', 'where hosts live').argParser(nameAmong(runtimeNames)).default('auto'))
    .addOption(new Option('--redis <path>', 'the redis-server to torture (default: from PATH, else downloaded)'))
    .addOption(
      new Option('--jobs <n>', 'how many runs at once')
        .argParser(wholeNumberIn(1, 64))
        .default(availableParallelism(), 'one for each core'),
    )
    .addOption(new Option('--out <folder>', 'where run folders go').default(PROJECT_RUNS, 'runs/ of the project'))
    .addOption(new Option('--json', 'progress and results as JSON lines').default(false, 'text'));
}

/** What was asked of the machine, with paths as they are from here. */
export function askedOf({ runtime, redis, image, clientImage }: BatchFlags, cwd: string): Asked {
  return { runtime, image, clientImage, ...(redis && { redis: resolve(cwd, redis) }) };
}
