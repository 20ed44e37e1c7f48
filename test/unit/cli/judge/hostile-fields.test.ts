/**
 * Every text in the files of a run was chosen by a lock, a log, a server or whoever made the files. None of it may act on a
 * terminal or a page, hide or reorder what people read there, or be too long for it: each one in turn is made hostile.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { explain, isForUsers } from '../../../../cli/common/errors.js';
import { readRun } from '../../../../cli/judge/judge.js';
import { unpacked } from '../../../../reports/data/pack.js';
import { closingSummary, reports } from '../../../../reports/index.js';

const FIXTURE = resolve(import.meta.dirname, '../../../fixtures/recorded-runs/canary-blind-del.json.br');
const files = (JSON.parse(brotliDecompressSync(readFileSync(FIXTURE)).toString()) as { files: Record<string, string> })
  .files;

const scratch = mkdtempSync(join(tmpdir(), 'hostile-fields-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Acts on a terminal or hides text. */
const HOSTILE = /(?![\n\t])[\p{Cc}\p{Cf}]/u;
const TEXT = '\u001b[31m\u0000\u009b31m\u202e<b>&"\'\u2028';

/** What people read of the run: every report, the terminal's summary, or the one line instead. */
async function shownOf(changed: Record<string, string>): Promise<Record<string, string>> {
  const folder = join(scratch, 'run');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, text] of Object.entries({ ...files, ...changed })) writeFileSync(join(folder, name), text);
  try {
    const input = await readRun(folder);
    const made = Object.entries(reports).flatMap(([name, make]) => {
      const text = make({ ...input, files: [] });
      return text === undefined ? [] : [[name, text]];
    });
    const { results, config } = input;
    const summary = closingSummary({ results, failOn: config.failOn, colour: false });
    const packed = /<script[^>]*id="run-data"[^>]*>([^<]+)</.exec(Object.fromEntries(made)['report.html']!)![1]!;
    return {
      ...Object.fromEntries(made),
      'ctrf.json': allTexts(JSON.parse(Object.fromEntries(made)['ctrf.json']!)),
      'page data': allTexts(unpacked(packed)),
      terminal: summary,
    };
  } catch (error) {
    if (!isForUsers(error)) throw error;
    return { line: explain(error) };
  }
}

/** JSON writes some characters in other words. */
function allTexts(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? Object.entries(value).flat().map(allTexts).join('\n') : '';
}

/** Places of texts, one of each kind: what a line is about and which field, wherever in the file. */
function textsIn(name: string): { line: number; path: string[]; kind: string }[] {
  const kinds = new Map<string, { line: number; path: string[]; kind: string }>();
  const walk = (value: unknown, line: number, path: string[], kind: string) => {
    if (typeof value === 'string' && !kinds.has(kind)) kinds.set(kind, { line, path, kind });
    if (typeof value !== 'object' || value === null) return;
    for (const [field, inner] of Object.entries(value))
      walk(inner, line, [...path, field], `${kind}.${Array.isArray(value) ? '*' : field}`);
  };
  for (const [line, text] of linesOf(name).entries()) {
    const value = JSON.parse(text);
    walk(
      value,
      line,
      [],
      `${name} ${name.endsWith('l') ? `${value.type} ${value.op ?? value.role ?? value.state ?? ''}` : ''}`,
    );
  }
  return [...kinds.values()];
}

function linesOf(name: string): string[] {
  return name.endsWith('.jsonl') ? files[name]!.trimEnd().split('\n') : [files[name]!];
}

function withText(name: string, at: number, path: readonly string[], text: string): Record<string, string> {
  const lines = linesOf(name);
  const value = JSON.parse(lines[at]!);
  const last = path.at(-1)!;
  const holder = path.slice(0, -1).reduce((one, field) => one[field], value);
  holder[last] = text;
  lines[at] = JSON.stringify(value);
  return { [name]: `${lines.join('\n')}\n` };
}

const all = ['config.json', 'plan.json', 'history.jsonl', 'observations.jsonl'].flatMap((name) =>
  textsIn(name).map((place) => ({ name, ...place })),
);

/** Fails with the text around what must not be there. */
function expectNowhere(what: RegExp, shown: Record<string, string>): void {
  const found = Object.entries(shown).flatMap(([where, text]) => {
    const at = what.exec(text)?.index;
    return at === undefined ? [] : [`${where}: ${JSON.stringify(text.slice(Math.max(0, at - 120), at + 60))}`];
  });
  expect(found).toEqual([]);
}

test('the files have all that is made hostile here, and the run as it was recorded is shown', async () => {
  expect(all.length).toBeGreaterThan(75);
  const shown = await shownOf({});
  expect(Object.keys(shown)).toEqual(
    expect.arrayContaining(['junit.xml', 'ctrf.json', 'summary.md', 'report.html', 'page data', 'terminal']),
  );
});

test.each(all)('$kind: neither acts nor hides', async ({ name, line, path }) => {
  expectNowhere(HOSTILE, await shownOf(withText(name, line, path, TEXT)));
});

test.each(all)('$kind: is cut', async ({ name, line, path }) => {
  expectNowhere(/z{25000}/, await shownOf(withText(name, line, path, 'z'.repeat(1e6))));
});
