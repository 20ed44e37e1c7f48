/**
 * `npm run bench -- plain`: what a plain run comes to, and what it costs to keep, judge and report it, beside one whose holds
 * are all as long as `--hold` made them before they were mixed. One run of each, on one seed: figures, not a verdict.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { readRun } from '../cli/judge/judge.js';
import type { MeasuredReading } from './history-case.js';

const HOLDS: readonly (readonly [name: string, flags: readonly string[]])[] = [
  ['mixed', []],
  ['0.02x..0.7x', ['--hold', '0.02x..0.7x']],
];
const FAULTS: readonly (readonly [name: string, flags: readonly string[]])[] = [
  ['none', ['--nemesis', 'none']],
  ['default', []],
];

export async function benchPlain(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: { topology: { type: 'string', default: 'single' }, seed: { type: 'string', default: '1' } },
  });
  print(columns('holds', 'faults', 'grants', 'long', 'history', 'observed', 'report', 'results', 'check', 'memory'));
  for (const [holds, ofHolds] of HOLDS)
    for (const [faults, ofFaults] of FAULTS) {
      const base = mkdtempSync(join(tmpdir(), 'lock-torture-bench-plain-'));
      try {
        const flags = ['--topology', values.topology, '--seed', values.seed, ...ofHolds, ...ofFaults];
        print(columns(holds, faults, ...(await rowOf(await run(flags, base)))));
      } finally {
        rmSync(base, { recursive: true, force: true });
      }
    }
}

/** Resolves with the run's folder, whatever its verdict. */
async function run(flags: readonly string[], base: string): Promise<string> {
  const torture = fileURLToPath(new URL('../../bin/torture.mjs', import.meta.url));
  const { stderr } = await execa(process.execPath, [torture, ...flags, '--out', base], { reject: false });
  const [id] = readdirSync(base).filter((name) => name !== 'latest');
  if (id === undefined) throw new Error(`there was no run: ${stderr}`);
  return join(base, id);
}

async function rowOf(folder: string): Promise<string[]> {
  const { results } = await readRun(folder);
  const script = fileURLToPath(new URL('./history-case.js', import.meta.url));
  const { stdout } = await execa(process.execPath, [script, folder, 'check']);
  const check = JSON.parse(stdout) as MeasuredReading;
  const files = ['history.jsonl', 'observations.jsonl', 'report.html', 'results.json'];
  return [
    String(results.stats.acquiresOk),
    String(results.stats.longHolds),
    ...files.map((name) => `${(statSync(join(folder, name)).size / 1e6).toFixed(1)} MB`),
    `${(check.ms / 1_000).toFixed(2)} s`,
    `${Math.round(check.maxRssBytes / 1e6)} MB`,
  ];
}

function columns(...texts: string[]): string {
  return texts.map((text) => text.padStart(12)).join('');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
