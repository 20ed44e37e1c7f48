/**
 * `npm run bench -- history`: what it costs to read a run back, and to judge and report it, by its length. Both should grow
 * with the length and no faster, and memory by far less than the files.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { wholeNumberIn } from '../cli/common/values.js';
import { benchCommand } from './command.js';
import type { MeasuredReading, What } from './history-case.js';
import { print } from './print.js';
import { writeRecordedRun } from './recorded-run.js';

const SIZES = [10_000, 100_000, 1_000_000];
const OVERLAPS = 5;

export async function benchHistory(argv: string[]): Promise<void> {
  const command = benchCommand('history').option(
    '--max <n>',
    'operations of the longest run',
    wholeNumberIn(1, 100_000_000),
    1_000_000,
  );
  command.parse(argv, { from: 'user' });
  const { max: most } = command.opts<{ max: number }>();
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-bench-history-'));
  try {
    print('each in a fresh process, with its memory at its peak');
    print(columns('operations', 'history', 'observed', 'read', 'memory', 'check', 'memory', '/ shorter'));
    let shorter: MeasuredReading | undefined;
    for (const operations of SIZES.filter((size) => size <= most)) shorter = await row(folder, operations, shorter);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function row(base: string, operations: number, shorter: MeasuredReading | undefined): Promise<MeasuredReading> {
  const folder = join(base, String(operations));
  mkdirSync(folder);
  writeRecordedRun(folder, { operations, overlaps: OVERLAPS, observed: true, seed: 1 });
  const read = await measured(folder, 'read');
  const check = await measured(folder, 'check');
  if (check.violations !== OVERLAPS)
    throw new Error(`found ${check.violations} overlaps where ${OVERLAPS} were written`);
  print(
    columns(
      operations.toLocaleString('en-US'),
      megabytes(statSync(join(folder, 'history.jsonl')).size),
      megabytes(statSync(join(folder, 'observations.jsonl')).size),
      seconds(read.ms),
      megabytes(read.maxRssBytes),
      seconds(check.ms),
      megabytes(check.maxRssBytes),
      shorter ? `${(check.ms / shorter.ms).toFixed(1)} x` : '',
    ),
  );
  return check;
}

async function measured(folder: string, what: What): Promise<MeasuredReading> {
  const script = fileURLToPath(new URL('./history-case.js', import.meta.url));
  const { stdout } = await execa(process.execPath, [script, folder, what]);
  return JSON.parse(stdout) as MeasuredReading;
}

function columns(...texts: string[]): string {
  return texts.map((text) => text.padStart(11)).join('');
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
