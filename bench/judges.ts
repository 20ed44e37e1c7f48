/**
 * `npm run bench -- judges`: every key of every recorded run that a mutex was tried in, decided under the strict reading by the
 * linearizability checker and by Porcupine. Lists where they differ, and then ends with exit status 1.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { decide } from '../checkers/linearizability/decide.js';
import { READINGS } from '../checkers/linearizability/decide-readings.js';
import { keyHistoriesOf } from '../checkers/linearizability/key-histories.js';
import { BUDGET_OF_RUNS, type KeyHistory } from '../checkers/linearizability/types.js';
import { readInput } from '../cli/judge/judge.js';
import { OP, OUTCOME } from '../harness/record/history-table.js';
import { benchCommand } from './command.js';
import { buildPorcupine, type Porcupine } from './porcupine.js';
import { print } from './print.js';

const SECONDS = 30;
const MEGABYTES = 4_000;
const RUNS = fileURLToPath(new URL('../../test/fixtures/recorded-runs', import.meta.url));

export async function benchJudges(argv: string[]): Promise<void> {
  benchCommand('judges').parse(argv, { from: 'user' });
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-bench-judges-'));
  try {
    const porcupine = await buildPorcupine(folder, SECONDS, MEGABYTES);
    if (!porcupine) {
      process.exitCode = 3;
      return;
    }
    await compare(porcupine, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(porcupine: Porcupine, folder: string): Promise<void> {
  const counts = { same: 0, undecided: 0, different: 0, invalid: 0 };
  for (const name of readdirSync(RUNS)) {
    const { files } = JSON.parse(brotliDecompressSync(readFileSync(join(RUNS, name))).toString()) as {
      files: Record<string, string>;
    };
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    const { input } = await readInput(folder);
    if (input.model.kind !== 'mutex') continue;
    for (const key of keyHistoriesOf(input.history)) {
      const { verdict } = decide(key, input.model, READINGS.strict.reading, { witnesses: 1, search: BUDGET_OF_RUNS });
      writeFileSync(porcupine.file, forPorcupine(key));
      const { verdict: other } = await porcupine.decide();
      if (verdict === 'invalid') counts.invalid++;
      if (verdict === 'unknown' || other === 'unknown') counts.undecided++;
      else if (verdict === other) counts.same++;
      else {
        counts.different++;
        print(`${name.replace('.json.br', '')}, ${key.key}: ${verdict} here, ${other} by Porcupine`);
      }
    }
  }
  print(
    `${counts.same} keys decided alike (${counts.invalid} invalid), ${counts.different} otherwise, ${counts.undecided} left open by one`,
  );
  if (counts.different > 0) process.exitCode = 1;
}

/** What had an effect or may have had one, a line each. A hold goes by the row of its acquire. */
function forPorcupine({ operations: ops, rows, callNs, returnNs }: KeyHistory): string {
  return [...rows]
    .filter((row) => ops.outcome[row] !== OUTCOME.fail)
    .map((row) => {
      const isAcquire = ops.op[row] === OP.acquire;
      const returned = ops.outcome[row] === OUTCOME.ok ? String(Math.round(returnNs[row]!)) : '-';
      return `${isAcquire ? 'a' : 'r'} ${isAcquire ? row : ops.hold[row]!} ${Math.round(callNs[row]!)} ${returned}\n`;
    })
    .join('');
}
