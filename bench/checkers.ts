/**
 * `npm run bench -- checkers`: what it costs to decide a lock history, by its length, by how many clients wait, and by what
 * is wrong with it. Beside the decision stands the general search alone, and with `--porcupine`, where Go is installed, the
 * same histories decided by Porcupine. Ratios are of one run on one machine.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { wholeNumberIn } from '../cli/common/values.js';
import type { Case, MeasuredDecision } from './checkers-case.js';
import { benchCommand } from './command.js';
import type { LockHistory } from './lock-histories.js';
import { buildPorcupine, type Porcupine, type PorcupineAnswer } from './porcupine.js';
import { print } from './print.js';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const CLIENTS = [5, 10, 50];
const KINDS = {
  valid: { unknown: 0, overlap: false },
  '1 % unknown': { unknown: 0.01, overlap: false },
  invalid: { unknown: 0, overlap: true },
} as const;
/** Tries of a case, of which the fastest counts: whatever else the machine does can only add. Slow ones run once. */
const TRIES = 3;
const SLOW_MS = 1_000;
/** The history on which general checkers give up. */
const HARD: LockHistory = { operations: 10_000, clients: 10, unknown: 0.01, overlap: true, seed: 1 };
const HARD_TARGET_MS = 100;

interface Flags {
  max: number;
  porcupine: boolean;
  seconds: number;
  megabytes: number;
}

interface Options {
  most: number;
  porcupine?: Porcupine;
}

export async function benchCheckers(argv: string[]): Promise<void> {
  const number = wholeNumberIn(1, 100_000_000);
  const command = benchCommand('checkers')
    .option('--max <n>', 'operations of the longest history', number, 100_000)
    .option('--porcupine', 'Porcupine decides them, too', false)
    .option('--seconds <n>', 'that Porcupine may take', number, 30)
    .option('--megabytes <n>', 'that Porcupine may take', number, 8_000);
  command.parse(argv, { from: 'user' });
  const { max: most, porcupine: asked, seconds, megabytes } = command.opts<Flags>();
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-bench-checkers-'));
  try {
    const porcupine = asked ? await buildPorcupine(folder, seconds, megabytes) : undefined;
    await allCases({ most, porcupine });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function allCases({ most, porcupine }: Options): Promise<void> {
  print(
    `deciding one history of a mutex: first call in a fresh process (fastest of ${TRIES}, or the one that took over ` +
      `${SLOW_MS} ms), memory at its peak with the history in it; verdicts that differ from ours are given`,
  );
  print(heading(porcupine !== undefined));
  for (const operations of SIZES.filter((size) => size <= most)) {
    for (const clients of CLIENTS) {
      for (const [name, kind] of Object.entries(KINDS)) {
        print(await row(name, { operations, clients, ...kind, seed: 1 }, porcupine));
      }
    }
  }
  print('');
  print(`the history on which general checkers give up (target: under ${HARD_TARGET_MS} ms)`);
  print(await row('invalid, 1 % unknown', HARD, porcupine));
}

async function row(name: string, history: LockHistory, porcupine: Porcupine | undefined): Promise<string> {
  const decided = await measured({ history, engine: 'decide' });
  const searched = await measured({ history, engine: 'search' });
  const columns = [
    history.operations.toLocaleString('en-US').padStart(10),
    String(history.clients).padStart(7),
    name.padEnd(20),
    `${decided.verdict} (${decided.how})`.padEnd(22),
    milliseconds(decided.ms),
    megabytesOf(decided.maxRssKb),
    answer(searched, decided),
    megabytesOf(searched.maxRssKb),
  ];
  if (!porcupine) return columns.join('  ');
  const peer = await decidedByPorcupine(porcupine, history);
  const isAtLeast = peer.verdict === 'unknown' ? '> ' : '';
  const ratio = `${isAtLeast}${(peer.ms / decided.ms).toFixed(1)} x`.padStart(9);
  return [...columns, answer(peer, decided), megabytesOf(peer.maxRssKb), ratio].join('  ');
}

function heading(withPorcupine: boolean): string {
  const columns = [
    'operations',
    'clients',
    'history'.padEnd(20),
    'verdict (by)'.padEnd(22),
    'decide'.padStart(9),
    'memory'.padStart(8),
    'search alone'.padStart(16),
    'memory'.padStart(8),
  ];
  if (withPorcupine) columns.push('Porcupine'.padStart(16), 'memory'.padStart(8), '/ decide'.padStart(9));
  return columns.join('  ');
}

/** The time of another procedure, and its verdict where that is not ours. */
function answer({ verdict, ms }: Pick<PorcupineAnswer, 'verdict' | 'ms'>, { verdict: ours }: MeasuredDecision): string {
  return `${verdict === ours ? '' : `${verdict}! `}${milliseconds(ms).trimStart()}`.padStart(16);
}

async function measured(one: Case): Promise<MeasuredDecision> {
  return fastest(() => inProcess(one));
}

async function inProcess(one: Case): Promise<MeasuredDecision> {
  const script = fileURLToPath(new URL('./checkers-case.js', import.meta.url));
  const { stdout } = await execa(process.execPath, [script, JSON.stringify(one)]);
  return JSON.parse(stdout) as MeasuredDecision;
}

async function fastest<Tried extends { ms: number }>(attempt: () => Promise<Tried>): Promise<Tried> {
  let best = await attempt();
  for (let tries = 1; tries < TRIES && best.ms < SLOW_MS; tries++) {
    const next = await attempt();
    if (next.ms < best.ms) best = next;
  }
  return best;
}

// ---------------------------------------------------------------------------------------------------------- Porcupine

/** The same histories, each in the file that Porcupine reads. */
async function decidedByPorcupine(porcupine: Porcupine, history: LockHistory): Promise<PorcupineAnswer> {
  await inProcess({ history, engine: 'none', writeTo: porcupine.file });
  return fastest(() => porcupine.decide());
}

// --------------------------------------------------------------------------------------------------------------- text

function milliseconds(ms: number): string {
  return `${ms < 100 ? ms.toFixed(1) : ms.toFixed(0)} ms`.padStart(9);
}

function megabytesOf(kb: number): string {
  return `${(kb / 1024).toFixed(0)} MB`.padStart(8);
}
