/**
 * `npm run bench -- conform`: whether every adapter of a library of another language tells the truth, one `conform` after the
 * other. Each is made once: what it says is what is printed.
 */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../cli/common/errors.js';
import { runProgram } from '../harness/machine/command.js';
import { PROJECT } from '../harness/machine/project-files.js';
import { topologiesOfService } from '../harness/topologies/index.js';
import { externalLocks } from '../lock-impl/external/index.js';
import { locks } from '../lock-impl/index.js';
import { benchCommand } from './command.js';

interface Flags {
  only?: string;
  builtIn?: true;
  out?: string;
}

/** A build of a library, and a run at a busy time. */
const EACH_MS = 15 * 60_000;

/** Prints a line for each; the process's exit status is 1 where one makes a mistake, 2 where one cannot be told. */
export async function benchConform(argv: string[]): Promise<void> {
  const command = benchCommand('conform')
    .option('--only <names>', 'only these locks, with commas between them')
    .option('--built-in', 'the locks of the tool itself, too')
    .option('--out <folder>', 'where the runs are kept');
  command.parse(argv, { from: 'user' });
  const { only, builtIn, out } = command.opts<Flags>();
  const all = [...OF_OTHER_LANGUAGES, ...(builtIn ? OUR_OWN : [])];
  const named = only?.split(',') ?? all;
  const unknown = named.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new UsageError(`no adapter is called "${unknown}"; there are ${all.join(', ')}`);
  const statuses: number[] = [];
  for (const name of named) {
    const flags = ['--lock', name, ...needsOf(name), '--json', ...(out === undefined ? [] : ['--out', out])];
    const [load] = loadavg();
    const argv = [process.execPath, join(PROJECT, 'bin/torture.mjs'), 'conform', ...flags];
    const { exitCode, stdout, stderr } = await runProgram(argv, { timeoutMs: EACH_MS });
    statuses.push(exitCode);
    process.stdout.write(`${name.padEnd(32)} ${told(exitCode, stdout, stderr)} (load ${load!.toFixed(1)})\n`);
  }
  const conforming = statuses.filter((status) => status === 0).length;
  process.stdout.write(`${conforming} of ${named.length} conform\n`);
  process.exitCode = statuses.includes(3) ? 3 : statuses.includes(1) ? 1 : Math.max(...statuses);
}

const ON_REDIS = topologiesOfService('redis');
const OF_OTHER_LANGUAGES = Object.keys(externalLocks).filter((name) =>
  ON_REDIS.includes(externalLocks[name]!.topologies[0]!),
);
/** Without the broken ones, those that are another package's, and those that are not on Redis, whose commands are not read. */
const OUR_OWN = Object.keys(locks).filter(
  (name) => !/^(broken|third-party)\//.test(name) && ON_REDIS.includes(locks[name]!.topologies[0]!),
);

/** It is granted only where a disk has its key. */
const NEEDS_DISK = ['waitaof'];

/** Flags of the server without which a lock is never granted. */
function needsOf(name: string): string[] {
  const server = locks[name]?.serverNeeds?.server;
  return [
    ...(server === undefined ? [] : ['--server', server]),
    ...(NEEDS_DISK.includes(name) ? ['--persistence', 'aof-always'] : []),
  ];
}

/** What was found, in a line and one for each mistake. */
function told(exitCode: number, stdout: string, stderr: string): string {
  const line = stdout.split('\n').find((one) => one.startsWith('{'));
  if (line === undefined) return `could not run: ${stderr.trim().split('\n').at(-1)}`;
  const { findings, open, grants, answers, folder } = JSON.parse(line);
  const head = { 0: 'conforms', 1: 'DOES NOT CONFORM', 2: `cannot tell: ${open[0]}` }[exitCode] ?? 'could not run';
  const lines = findings.map(
    (one: { weight: string; rule: string; count: number; text: string }) =>
      `\n    ${one.weight} ${one.rule}, ${one.count} times, the first: ${one.text}`,
  );
  return `${head}: ${grants} grants, ${answers} other answers; ${folder}${lines.join('')}`;
}
