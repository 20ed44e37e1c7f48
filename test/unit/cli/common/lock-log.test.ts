import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { LockLog, lockLogOfRun, PrintedLines } from '../../../../cli/common/lock-log.js';

const heardOf = (log: LockLog, lines: readonly string[]) => lines.flatMap((line) => log.heard(line) ?? []);

describe('what is shown of what a lock prints', () => {
  test('each distinct line once, however often it came', () => {
    const log = new LockLog();
    expect(heardOf(log, ['a', 'b at 10:15', 'a ', '', 'b at 10:16'])).toEqual(['a', 'b at 10:15']);
    expect(log.inAll).toBe('4 lines, 2 of them distinct but for numbers');
  });

  test('nothing more where all of it was shown', () => {
    const log = new LockLog();
    expect(heardOf(log, ['a', 'b'])).toEqual(['a', 'b']);
    expect(log.inAll).toBeUndefined();
  });

  test('the first few of many, each short and without effect on a terminal', () => {
    const log = new LockLog();
    const lines = Array.from({ length: 2_000 }, (_, n) => `\u001b[31m${'y'.repeat(n)} ${'x'.repeat(5_000)}`);
    const told = heardOf(log, lines);
    expect(told).toHaveLength(5);
    for (const line of told) {
      expect(line.length).toBeLessThan(310);
      expect(line).not.toContain('\u001b');
    }
    expect(log.inAll).toMatch(/^2,000 lines, \d+ of them distinct but for numbers$/);
  });
});

describe('lines that come in pieces', () => {
  test('are put together, a character of several bytes too', () => {
    const lines = new PrintedLines();
    const bytes = Buffer.from('one\ntwö\nthree');
    const heard = [...bytes].flatMap((byte) => lines.push(Buffer.of(byte)));
    expect([...heard, ...lines.end(), ...lines.end()]).toEqual(['one', 'twö', 'three']);
  });

  test('one that never ends is not kept', () => {
    const lines = new PrintedLines();
    for (let n = 0; n < 100; n++) expect(lines.push(Buffer.alloc(10_000, 'x'))).toEqual([]);
    expect(lines.end()[0]!.length).toBeLessThan(1_000);
  });
});

describe('what the lock of a run printed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-lock-log-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('is that of its clients, not of its servers; nothing where there are no logs', () => {
    expect(lockLogOfRun(folder)).toEqual([]);
    mkdirSync(join(folder, 'logs'));
    writeFileSync(join(folder, 'logs', 'r1.log'), 'ready\n');
    writeFileSync(join(folder, 'logs', 'c1.log'), 'connecting\nrefused\nrefused\n');
    expect(lockLogOfRun(folder)).toEqual([
      'The lock printed 3 lines, 2 of them distinct but for numbers (logs/c1.log):',
      '  connecting',
      '  refused',
    ]);
    writeFileSync(join(folder, 'logs', 'c10.log'), 'connecting\nlast');
    expect(lockLogOfRun(folder).at(0)).toBe(
      'The lock printed 5 lines, 3 of them distinct but for numbers (logs/c*.log):',
    );
    expect(lockLogOfRun(folder).at(-1)).toBe('  last');
  });
});
