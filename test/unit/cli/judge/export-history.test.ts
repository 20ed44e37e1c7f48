/** A run's history as other checkers read one: read back by our own importer it is decided as it was. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { decideReadings } from '../../../../checkers/linearizability/decide-readings.js';
import {
  EXPORT_FORMATS,
  type ExportFormat,
  exportedEvents,
  exportedLine,
} from '../../../../cli/judge/export-history.js';
import { readInput } from '../../../../cli/judge/judge.js';
import { importHistory } from '../../../../harness/record/import/index.js';
import type { CheckInput } from '../../../../harness/vocabulary/run.js';
import { Story } from '../../checkers/build.js';

const FIXTURES = join(import.meta.dirname, '../../../fixtures/recorded-runs');
const folder = mkdtempSync(join(tmpdir(), 'lock-torture-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const exported = ({ history }: Pick<CheckInput, 'history'>, format: ExportFormat, key?: string) =>
  [...exportedEvents(history, key)].map((event) => exportedLine(event, format)).join('');

it('has each call and answer with its process, key, outcome and time, in the order of time', () => {
  const input = new Story()
    .acquire('c1', [1, 2], { token: 7 })
    .acquire('c2', [1.5, 3], { reason: 'held' })
    .acquire('c"3', [2, 2.5], { key: 'lock:1', mode: 'read' })
    .release('c1', [4])
    .input();
  expect(exported(input, 'edn', 'lock:0')).toBe(
    `{:type :invoke, :f :acquire, :process 0, :client "c1", :key "lock:0", :value nil, :time 1000000000, :index 0}
{:type :invoke, :f :acquire, :process 1, :client "c2", :key "lock:0", :value nil, :time 1500000000, :index 1}
{:type :ok, :f :acquire, :process 0, :client "c1", :key "lock:0", :value nil, :token 7, :time 2000000000, :index 2}
{:type :fail, :f :acquire, :process 1, :client "c2", :key "lock:0", :value nil, :error "held", :time 3000000000, :index 3}
{:type :invoke, :f :release, :process 0, :client "c1", :key "lock:0", :value nil, :time 4000000000, :index 4}
`,
  );
  expect(exported(input, 'edn', 'lock:1')).toContain(':client "c\\"3", :key "lock:1", :value nil, :mode :read');
  expect(JSON.parse(exported(input, 'jsonl').split('\n')[0]!)).toEqual({
    ...{ type: 'invoke', f: 'acquire', process: 0, client: 'c1', key: 'lock:0', value: null, time: 1e9, index: 0 },
  });
});

it('is decided strictly as the run itself, in either format', async () => {
  const options = { witnesses: 1, search: { configurations: 10_000, steps: 100_000 } };
  const decided = ({ history, model }: Pick<CheckInput, 'history' | 'model'>) => {
    const [strict] = decideReadings(history, model, options);
    return `${strict!.reading}: ${strict!.verdict}`;
  };
  const seen: Record<string, number> = {};
  // One of ten, of every kind.
  for (const name of readdirSync(FIXTURES).filter((_, n) => n % 10 === 0)) {
    const { files } = JSON.parse(brotliDecompressSync(readFileSync(join(FIXTURES, name))).toString()) as {
      files: Record<string, string>;
    };
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    const { input } = await readInput(folder);
    const own = decided(input);
    for (const format of EXPORT_FORMATS) {
      const path = join(folder, `exported.${format}`);
      writeFileSync(path, exported(input, format));
      const { history } = await importHistory(path, {});
      expect(`${name}: ${decided({ history, model: input.model })}`).toBe(`${name}: ${own}`);
    }
    seen[own] = (seen[own] ?? 0) + 1;
  }
  expect(Object.keys(seen).sort()).toEqual(['strict: invalid', 'strict: valid']);
});
