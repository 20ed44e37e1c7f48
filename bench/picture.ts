/**
 * `npm run bench -- picture`: the first screen of a report as Chromium shows it, for the README. The report is that of the recorded
 * run whose verdict the README has (`cli/docs/example-run.ts`).
 */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { ofExampleRun } from '../cli/docs/example-run.js';
import { findOnPath } from '../harness/machine/command.js';
import { PROJECT } from '../harness/machine/project-files.js';
import { htmlReport } from '../reports/index.js';
import { benchCommand } from './command.js';
import { withPalette } from './palette-png.js';
import { print } from './print.js';

const PICTURE = 'docs/report.png';
/** Of the window, in pixels: an ordinary screen. */
const SIZE = { width: 1_280, height: 800 };
/** A page without a network, in a container as well. */
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu'];

export async function benchPicture(argv: string[]): Promise<void> {
  const command = benchCommand('picture').option('--out <file>', `not ${PICTURE}`);
  command.parse(argv, { from: 'user' });
  const { out } = command.opts<{ out?: string }>();
  const file = out === undefined ? join(PROJECT, PICTURE) : resolve(out);
  const executablePath = findOnPath('chromium');
  if (executablePath === undefined) throw new Error('no chromium on PATH; on Debian: apt-get install chromium');
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-picture-'));
  try {
    const page = join(folder, 'report.html');
    // Where the recorded run is unpacked to is nothing to show.
    writeFileSync(page, await ofExampleRun(({ again: _, ...run }) => htmlReport(run)));
    await photograph(page, file, executablePath);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  print(`${file}: ${Math.round(statSync(file).size / 1_000)} kB`);
}

async function photograph(page: string, file: string, executablePath: string): Promise<void> {
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  try {
    const context = await browser.newContext({ viewport: SIZE, colorScheme: 'light' });
    const view = await context.newPage();
    await view.goto(pathToFileURL(page).href);
    await view.waitForSelector('html.scripted');
    writeFileSync(file, withPalette(await view.screenshot()));
  } finally {
    await browser.close();
  }
}
