/** Pages in a real browser, which is watched: whatever a page logs, throws or asks the network for is noted. */
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContext, chromium as engine, type Page } from 'playwright-core';
import { afterAll } from 'vitest';
import { chromium } from './needs.js';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** For a page that never comes; on a busy machine the first one comes late. */
const PAGE_WITHIN_MS = 120_000;

export interface Look {
  width?: number;
  dark?: boolean;
  scripts?: boolean;
  hash?: string;
}

export interface Watched extends AsyncDisposable {
  page: Page;
  /** Errors and warnings on the console, errors thrown, dialogs, and requests for anything but the page itself. */
  trouble: string[];
}

/** One for all pages of a file of tests: to start it takes longer than most of them. */
let browser: Promise<Browser> | undefined;
afterAll(async () => {
  const started = browser;
  browser = undefined;
  await (await started)?.close();
});

/** Opens a file in a context of its own, which shares nothing with others. */
export async function open(file: string, look: Look = {}): Promise<Watched> {
  browser ??= engine.launch({ executablePath: chromium, args: FLAGS });
  const context = await (await browser).newContext({
    viewport: { width: look.width ?? 1280, height: 900 },
    colorScheme: look.dark ? 'dark' : 'light',
    javaScriptEnabled: look.scripts ?? true,
  });
  const dispose = () => context.close();
  try {
    return { ...(await watched(context, file, look)), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function watched(context: BrowserContext, file: string, look: Look): Promise<Pick<Watched, 'page' | 'trouble'>> {
  const page = await context.newPage();
  page.setDefaultNavigationTimeout(PAGE_WITHIN_MS);
  const url = pathToFileURL(file).href;
  const trouble: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) trouble.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => trouble.push(`thrown: ${error.message}`));
  page.on('dialog', (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== url) trouble.push(`request: ${request.url()}`);
  });
  await page.goto(`${url}${look.hash ?? ''}`);
  if (look.scripts ?? true) await page.waitForSelector('html.scripted');
  return { page, trouble };
}

/** What the report's script lets tests look at. */
export interface Inside {
  timeline: {
    frames: number;
    lanes: { x(us: number): number; canvas: HTMLCanvasElement; theme: { colour(name: string): string } };
    layout: { lanes: { name: string; y: number; height: number }[] };
  };
  view: {
    fromUs: number;
    untilUs: number;
    atUs?: number;
    show(fromUs: number, untilUs: number): void;
    pan(part: number): void;
  };
}
