/**
 * `npm run bench -- plain`: what a plain run comes to, and what it costs to keep, judge and report it, beside one whose holds
 * are all as long as `--hold` made them before they were mixed. One run of each, on one seed: figures, not a verdict.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { readRun } from '../cli/judge/judge.js';
import { benchCommand } from './command.js';
import type { MeasuredReading } from './history-case.js';
import { print } from './print.js';

const HOLDS: Record<string, readonly string[]> = { '0.02x..0.7x': ['--hold', '0.02x..0.7x'], mixed: [] };
const FAULTS: Record<string, readonly string[]> = { none: ['--nemesis', 'none'], default: [] };
const FILES = ['history.jsonl', 'observations.jsonl', 'report.html', 'results.json'];

interface PlainRun extends Pick<MeasuredReading, 'cpuMs' | 'maxRssBytes'> {
  grants: number;
  /** Holds that lasted for more than a third of the lease. */
  long: number;
  /** Of `FILES`, bytes. */
  sizes: readonly number[];
}

export async function benchPlain(argv: string[]): Promise<void> {
  const command = benchCommand('plain')
    .option('--topology <name>', 'what to start', 'single')
    .option('--seed <n>', 'of each run', '1');
  command.parse(argv, { from: 'user' });
  const values = command.opts<{ topology: string; seed: string }>();
  print('check: reading, judging and reporting, in seconds of the processor');
  print(columns('faults', 'holds', 'grants', 'long', 'history', 'observed', 'report', 'results', 'check', 'memory'));
  for (const [faults, ofFaults] of Object.entries(FAULTS)) {
    const runs: PlainRun[] = [];
    for (const [holds, ofHolds] of Object.entries(HOLDS)) {
      const one = await measured(['--topology', values.topology, '--seed', values.seed, ...ofHolds, ...ofFaults]);
      print(columns(faults, holds, ...cellsOf(one)));
      runs.push(one);
    }
    const [before, mixed] = runs as [PlainRun, PlainRun];
    const times = (of: (one: PlainRun) => number) => `${(of(mixed) / of(before)).toFixed(1)} x`;
    const ratios = FILES.map((_, n) => times(({ sizes }) => sizes[n]!));
    const counted = [times(({ grants }) => grants), times(({ long }) => long)];
    print(
      columns(
        '',
        '',
        ...counted,
        ...ratios,
        times(({ cpuMs }) => cpuMs),
        times((one) => one.maxRssBytes),
      ),
    );
  }
}

/** Makes a run, whatever comes of it, and checks its folder in a fresh process. */
async function measured(flags: readonly string[]): Promise<PlainRun> {
  const base = mkdtempSync(join(tmpdir(), 'lock-torture-bench-plain-'));
  try {
    const torture = fileURLToPath(new URL('../../bin/torture.mjs', import.meta.url));
    const { stderr } = await execa(process.execPath, [torture, ...flags, '--out', base], { reject: false });
    const id = readdirSync(base).find((name) => name !== 'latest');
    if (id === undefined) throw new Error(`there was no run: ${stderr}`);
    const folder = join(base, id);
    const { stats } = (await readRun(folder)).results;
    const sizes = FILES.map((name) => statSync(join(folder, name)).size);
    const script = fileURLToPath(new URL('./history-case.js', import.meta.url));
    const { stdout } = await execa(process.execPath, [script, folder, 'check']);
    const { cpuMs, maxRssBytes } = JSON.parse(stdout) as MeasuredReading;
    return { grants: stats.acquiresOk!, long: stats.longHolds!, sizes, cpuMs, maxRssBytes };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

function cellsOf({ grants, long, sizes, cpuMs, maxRssBytes }: PlainRun): string[] {
  return [
    String(grants),
    String(long),
    ...sizes.map((size) => `${(size / 1e6).toFixed(2)} MB`),
    `${(cpuMs / 1_000).toFixed(2)} s`,
    `${Math.round(maxRssBytes / 1e6)} MB`,
  ];
}

function columns(...texts: string[]): string {
  return texts.map((text) => text.padStart(12)).join('');
}
