/** Whatever becomes of the inner process, the verdict of what is on disk is printed, and once. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import { judgeRun } from '../../../../cli/judge/judge.js';
import { enterNamespaces, type InnerEnd } from '../../../../cli/run/enter-namespaces.js';
import { StopRequests, supervise } from '../../../../cli/run/supervise.js';
import { readConfig, readPlan } from '../../../../harness/record/store.js';

// Modules are loaded anew with the false one, and are not left to the files that come after.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());
vi.mock('../../../../cli/run/enter-namespaces.js');

let folder: string;
let printed: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'supervise-'));
  const packed = readFileSync(
    resolve(import.meta.dirname, '../../../fixtures/recorded-runs/topology-single-calm.json.br'),
  );
  const { files } = JSON.parse(brotliDecompressSync(packed).toString()) as { files: Record<string, string> };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  // Signals are the test runner's own.
  vi.spyOn(process, 'on').mockReturnValue(process);
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** Supervises a run whose inner process ends so, having judged or not. */
async function supervised(end: InnerEnd, hasJudged: boolean, quiet = false): Promise<number> {
  if (hasJudged) await judgeRun(folder);
  const inner = { ended: Promise.resolve(end), channel: process.stdin, askToStop() {}, kill() {} };
  vi.mocked(enterNamespaces).mockResolvedValue(inner);
  const run = { folder, config: readConfig(folder), plan: readPlan(folder) };
  await supervise(run, { json: false, quiet }, new StopRequests(false));
  return printed.match(/^(HELD|VIOLATED|CANNOT TELL)\b.* \(exit status \d\)$/gm)?.length ?? 0;
}

it.each<[string, InnerEnd, boolean]>([
  ['that judged and ended', { code: 0 }, true],
  ['that was killed before it judged', { signal: 'SIGKILL' }, false],
  ['that was killed after it had judged', { signal: 'SIGKILL' }, true],
  ['that failed after it had judged', { code: 70 }, true],
])('of an inner process %s', async (_, end, hasJudged) => {
  expect(await supervised(end, hasJudged)).toBe(1);
});

it('or not at all, of one of many runs', async () => {
  expect(await supervised({ code: 0 }, true, true)).toBe(0);
});
