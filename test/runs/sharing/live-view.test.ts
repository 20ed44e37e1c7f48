/** What a person sees of a run: on a pseudo-terminal of `script` (bsdutils), and where there is none. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import xterm from '@xterm/headless';
import { afterAll, expect, test } from 'vitest';
import type { Results } from '../../../harness/vocabulary/verdict.js';
import { freshFolder, processesOf, ROOT, torture, until } from '../../support/torture.js';

const SHORT = ['--topology', 'single', '--clients', '3', '--keys', '2', '--nemesis', 'none', '--lease', '1s'];
const MARK = 'LOCK_TORTURE_TEST_MARK';

interface Seen {
  child: ChildProcess;
  mark: string;
  out: string;
  /** Everything that was sent to the terminal. */
  sent(): string;
  status: Promise<number | null>;
}

const started: Seen[] = [];
afterAll(() => {
  for (const { pid } of started.flatMap(({ mark }) => processesOf(mark))) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it ended by itself meanwhile
    }
  }
});

/** Runs the tool on a terminal of 90 by 30. Nothing here is the user's: all words of the command are ours. */
function onTerminal(
  args: readonly string[],
  kind = 'xterm-256color',
  program: readonly string[] = [process.execPath, join(ROOT, 'bin/torture.mjs')],
): Seen {
  const mark = randomUUID();
  const out = freshFolder();
  const words = [...program, '--runtime', 'netns', ...args, '--out', out];
  const command = `stty cols 90 rows 30; exec ${words.map((word) => `'${word}'`).join(' ')}`;
  const { CI: _ci, NO_COLOR: _colour, ...inherited } = process.env;
  const env = { ...inherited, [MARK]: mark, TERM: kind, LC_ALL: 'C.UTF-8', SHELL: '/bin/sh' };
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    cwd: ROOT,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let sent = '';
  child.stdout!.setEncoding('utf8').on('data', (chunk) => {
    sent += chunk;
  });
  const status = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  const seen = { child, mark, out, sent: () => sent, status };
  started.push(seen);
  return seen;
}

/** What a terminal shows after it was sent that: all lines, those that have scrolled away included. */
async function shown(sent: string): Promise<string[]> {
  const terminal = new xterm.Terminal({ cols: 90, rows: 30, scrollback: 10_000, allowProposedApi: true });
  await new Promise<void>((done) => terminal.write(sent, done));
  const buffer = terminal.buffer.active;
  return Array.from({ length: buffer.length }, (_, n) => buffer.getLine(n)?.translateToString(true) ?? '');
}

const isOfBlock = (line: string) => /^── |^clients .* ops\/s|^so far /.test(line);
const HOLDS = /torture \d[\s\S]*lock:\d {2}c\d for \d\.\d s, lease \d\.\d s left/;

// Nothing here depends on timing, so the runs share the machine.

test.concurrent('on a terminal: the run is seen as it goes, and Ctrl-C leaves the plain summary behind', async () => {
  const run = onTerminal([...SHORT, '--time-limit', '60s']);
  await until('a hold in the block', () => HOLDS.test(stripVTControlCharacters(run.sent())));
  run.child.stdin!.write('\u0003');
  const status = await run.status;
  const lines = await shown(run.sent());
  expect(lines.filter(isOfBlock)).toEqual([]);
  expect(lines.filter((line) => line.includes('^C'))).toEqual([]);
  expect(lines.filter((line) => /^ +\d+\.\d s {2}torture$/.test(line))).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith('stopping: healing'))).toHaveLength(1);
  expect(lines.some((line) => line.startsWith('Report: '))).toBe(true);
  const results: Results = JSON.parse(readFileSync(join(run.out, 'latest/results.json'), 'utf8'));
  const first = { held: 'HELD', violated: 'VIOLATED', unknown: 'CANNOT TELL' }[results.verdict];
  expect(lines.some((line) => line.startsWith(first))).toBe(true);
  expect(status).toBe(results.exitStatus);
});

// With a picture that is redrawn; and with lines, below an npm that is hung up as well.
test.concurrent.each([
  { kind: 'xterm-256color', program: undefined },
  { kind: 'dumb', program: ['npm', 'run', '--silent', 'torture', '--'] },
])('a terminal ($kind) that is closed ends the run early, which is judged all the same', async ({ kind, program }) => {
  const run = onTerminal([...SHORT, '--time-limit', '300s'], kind, program);
  const history = () => readFileSync(join(run.out, 'latest/history.jsonl'), 'utf8');
  const hasBegun = () => existsSync(join(run.out, 'latest/history.jsonl')) && history().includes('"type":"ok"');
  await until('a hold on the record', hasBegun);
  // The other end of the terminal goes with it, as with a window.
  run.child.kill('SIGKILL');
  await until('nothing left of it', () => processesOf(run.mark).length === 0, 120_000);
  const results: Results = JSON.parse(readFileSync(join(run.out, 'latest/results.json'), 'utf8'));
  expect(['held', 'violated', 'unknown']).toContain(results.verdict);
  expect(existsSync(join(run.out, 'latest/report.html'))).toBe(true);
  // It was healed and taken down, not cut off.
  expect(history()).toMatch(/"phase":"end"[\s\S]*"type":"closed"/);
});

test.concurrent('on a terminal: a run that is killed leaves no block, and its exit status accuses no lock', async () => {
  const run = onTerminal([...SHORT, '--time-limit', '60s']);
  await until('a hold in the block', () => HOLDS.test(stripVTControlCharacters(run.sent())));
  const inner = processesOf(run.mark).find(({ command }) => /^\S*node \S*inside-main\.js/.test(command));
  process.kill(inner!.pid, 'SIGKILL');
  const status = await run.status;
  const lines = await shown(run.sent());
  expect(lines.filter(isOfBlock)).toEqual([]);
  expect(lines.some((line) => line.includes('judging what it had recorded'))).toBe(true);
  expect(status).toBe(2);
  // Whatever was killed: the cursor was never hidden.
  expect(run.sent()).not.toContain('\u001b[?25l');
});

test.concurrent('in a pipe: lines, and nothing that acts on a terminal', async () => {
  const { output, errors, results, status } = await torture([...SHORT, '--time-limit', '2s']);
  expect(output + errors).not.toContain('\u001b');
  expect(output).toMatch(/^ +\d+\.\d s {2}torture$/m);
  expect(output).toContain('Report: ');
  expect(status).toBe(results.exitStatus);
});
