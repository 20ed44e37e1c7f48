/**
 * Runs whose files were damaged, by accident or on purpose: what `check`, `report` and `replay` read. Whatever they hold, there
 * is a verdict or one clear line; nothing hangs, and no run that was violated passes unless its own settings say so.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { isForUsers } from '../../../../cli/common/errors.js';
import { readRun } from '../../../../cli/judge/judge.js';
import { junitXml } from '../../../../reports/junit.js';
import { drawn } from '../../../support/drawn.js';

const FIXTURE = resolve(import.meta.dirname, '../../../fixtures/recorded-runs/canary-blind-del.json.br');
const files = (JSON.parse(brotliDecompressSync(readFileSync(FIXTURE)).toString()) as { files: Record<string, string> })
  .files;
const NAMES = ['config.json', 'plan.json', 'history.jsonl', 'observations.jsonl'];

const scratch = mkdtempSync(join(tmpdir(), 'damaged-runs-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** The verdict and its reports, or the line that is said instead. Throws where that is a bug. */
async function check(changed: Record<string, string | Buffer>) {
  const folder = join(scratch, 'run');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, text] of Object.entries({ ...files, ...changed })) writeFileSync(join(folder, name), text);
  try {
    const { results, config } = await readRun(folder);
    return { results, junit: junitXml(results, config.failOn) };
  } catch (error) {
    if (!isForUsers(error)) throw error;
    return { line: (error as Error).message };
  }
}

/** All that acts on a terminal or hides text, but for line breaks. */
const HOSTILE = /(?!\n)[\p{Cc}\p{Cf}]/u;

function expectSound({ results, junit, line }: Awaited<ReturnType<typeof check>>, settled: boolean): void {
  if (line !== undefined) {
    expect(line).not.toMatch(HOSTILE);
    expect(line).not.toContain('\n');
    expect(line.length).toBeLessThan(2_000);
    return;
  }
  expect(junit).not.toMatch(HOSTILE);
  // What happened cannot be inferred from other numbers in a line; what was to be judged, and how much of it, can.
  if (settled && results!.verdict === 'held') expect(results!.headline).toMatch(/but 6 overlaps/);
}

/** Every place in a JSON value. */
function* places(value: unknown, path: string[] = []): Generator<string[]> {
  if (path.length > 0) yield path;
  if (typeof value === 'object' && value !== null)
    for (const name of Object.keys(value)) yield* places((value as Record<string, unknown>)[name], [...path, name]);
}

/** The text of `value` with `other` in that place; undefined takes it away. JSON of its own where JSON.stringify cannot make it. */
function replaced(value: unknown, [name, ...rest]: readonly string[], other: string | undefined): string {
  if (name === undefined) return other!;
  const entries = Object.entries(value as object).flatMap(([key, inner]) => {
    if (key !== name) return [[key, JSON.stringify(inner)] as const];
    return rest.length === 0 && other === undefined ? [] : [[key, replaced(inner, rest, other)] as const];
  });
  return Array.isArray(value)
    ? `[${entries.map(([, text]) => text).join()}]`
    : `{${entries.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join()}}`;
}

const DEEP = '['.repeat(100_000) + ']'.repeat(100_000);
const OTHERS = [
  undefined,
  'null',
  '-1',
  '0',
  '1.5',
  '1e9',
  '1e999',
  '"x"',
  '""',
  '[]',
  '["x"]',
  '{}',
  'true',
  DEEP,
].concat(['\u001b[31m', '\u0000', '\u009b31m', '\u202e', 'y'.repeat(1e6)].map((text) => JSON.stringify(text)));

/** One field of one line of one file is something else. */
const fieldChanged = fc
  .record({
    file: fc.constantFrom(...NAMES),
    line: fc.nat(),
    place: fc.nat(),
    other: fc.constantFrom(...OTHERS),
  })
  .map(({ file, line, place, other }) => {
    const lines = file.endsWith('.jsonl') ? files[file]!.trimEnd().split('\n') : [files[file]!];
    const at = line % lines.length;
    const value = JSON.parse(lines[at]!);
    const all = [...places(value)];
    lines[at] = replaced(value, all[place % all.length]!, other);
    return { [file]: `${lines.join('\n')}\n` };
  });

/** Some bytes of one file are others, or it ends early. */
const bytesChanged = fc
  .record({
    file: fc.constantFrom(...NAMES),
    changes: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 5 }),
    end: fc.option(fc.nat(), { freq: 2 }),
  })
  .map(({ file, changes, end }) => {
    const bytes = Buffer.from(files[file]!);
    for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
    return { [file]: end === null ? bytes : bytes.subarray(0, end % bytes.length) };
  });

test('the run as it was recorded is violated', async () => {
  expect((await check({})).results).toMatchObject({ verdict: 'violated', found: { exclusion: 6 } });
});

test('one field of another type or value', async () => {
  const settled = (changed: Record<string, unknown>) => 'config.json' in changed || 'plan.json' in changed;
  await fc.assert(
    fc.asyncProperty(fieldChanged, async (changed) => {
      expectSound(await check(changed), settled(changed));
    }),
    drawn(10),
  );
}, 600_000);

test('some bytes that are changed or missing', async () => {
  await fc.assert(
    fc.asyncProperty(bytesChanged, async (changed) => {
      expectSound(await check(changed), false);
    }),
    drawn(10),
  );
}, 600_000);

const config = (fields: object) => ({
  'config.json': JSON.stringify({ ...JSON.parse(files['config.json']!), ...fields }),
});

test.each([
  [{ clients: 1e9 }, /config\.json: clients: expected a whole number from 1 to 200, got 1000000000$/],
  [{ failOn: ['x'] }, /config\.json: failOn\[0\]: expected one of exclusion, harm, stale, liveness, lock, got "x"$/],
  [{ keys: Array(1_001).fill('a') }, /config\.json: keys: /],
])('settings that no run has are refused (%#)', async (fields, says) => {
  expect((await check(config(fields))).line).toMatch(says);
});

test('a text of ten megabytes in a reason is cut, as a name it is refused', async () => {
  const lines = files['history.jsonl']!.trimEnd().split('\n');
  const at = lines.findIndex((line) => line.includes('"type":"probe"'));
  const told = (fields: object) => {
    const changed = [...lines];
    changed[at] = JSON.stringify({ ...JSON.parse(lines[at]!), ...fields });
    return { 'history.jsonl': `${changed.join('\n')}\n` };
  };
  const long = `\u001b[31m\u009b\u202e${'z'.repeat(1e7)}`;
  const { junit } = await check(told({ acquired: false, reason: long }));
  expect(junit).toContain('zzz');
  expect(junit!.length).toBeLessThan(200_000);
  expect(junit).not.toMatch(HOSTILE);
  expect((await check(told({ key: long }))).line).toMatch(/"key" is longer than 300 characters$/);
});

test.each(NAMES)('a field of %s that is nested 100,000 deep is one line', async (file) => {
  const lines = file.endsWith('.jsonl') ? files[file]!.trimEnd().split('\n') : [files[file]!];
  const value = JSON.parse(lines[0]!);
  // One that is checked against a list, and so is shown.
  const field = ['op', 'type', 'persistence'].find((name) => name in value) ?? 'version';
  lines[0] = replaced(value, [field], DEEP);
  const { line } = await check({ [file]: `${lines.join('\n')}\n` });
  // Newer versions of Node can show it, and then it is shown in part.
  expect(line).toMatch(/something nested too deep|\[{10}/);
  expect(line!.length).toBeLessThan(2_000);
});

test('so is the type of a later line', async () => {
  const lines = files['history.jsonl']!.trimEnd().split('\n');
  lines[5] = replaced(JSON.parse(lines[5]!), ['type'], DEEP);
  const { line } = await check({ 'history.jsonl': `${lines.join('\n')}\n` });
  expect(line).toMatch(/line 6: unknown type (something nested too deep|\[{10})/);
});
