/** The command that makes the README's picture of a report. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../../support/torture.js';

const sizeOf = (png: Buffer) => [png.readUInt32BE(16), png.readUInt32BE(20)];

it('makes it as large as the one that is there, in as few bytes', { tags: ['browser'] }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-picture-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'report.png');
  execFileSync(process.execPath, [join(ROOT, 'dist/bench/main.js'), 'picture', '--out', file], { stdio: 'pipe' });
  const [made, there] = [readFileSync(file), readFileSync(join(ROOT, 'docs/report.png'))];
  expect(made.length).toBeLessThan(150_000);
  const [[width, height], [asWide, asHigh]] = [sizeOf(made), sizeOf(there)] as [number[], number[]];
  expect(width).toBe(asWide);
  // Other fonts break lines elsewhere.
  expect(height! / asHigh!).toBeGreaterThan(0.7);
  expect(height! / asHigh!).toBeLessThan(1.4);
});
