/** A run in full swing whose processes a test kills. */
import { expect } from 'vitest';
import { type Found, historyOf, namespacesOf, processesOf, start, type Torture, until } from './torture.js';

/** How long anything may outlive the process that was killed. */
export const LEFT_LIMIT_MS = 2_000;

export async function inFullSwing(): Promise<Torture> {
  const run = start(['--topology', 'sentinel', '--clients', '6', '--time-limit', '60s'], { viaNpm: true });
  await until(`torture phase; output so far: ${run.output()} ${run.errors()}`, () =>
    historyOf(run).some((event) => event.type === 'phase' && event.phase === 'torture'),
  );
  // 3 Redis, 3 Sentinels, 6 clients and their hosts' holders, and the chain above them: otherwise "nothing left" is cheap.
  expect(processesOf(run.mark).length).toBeGreaterThan(20);
  expect(namespacesOf(run.mark).length).toBeGreaterThan(12);
  return run;
}

/** The process of the run whose command line matches; throws where there is none. */
export function find(run: Torture, matches: (command: string) => boolean): Found {
  const all = processesOf(run.mark);
  const found = all.find(({ command }) => matches(command));
  if (!found) throw new Error(`no such process among ${all.map(({ command }) => command).join('\n')}`);
  return found;
}

export const isOuter = (command: string): boolean =>
  command.includes('bin/torture.mjs') && !command.startsWith('npm') && !command.startsWith('sh ');

/** When each step of the run's plan is in force: it struck, or it was asked for and ends by itself. Rejects at once where one never will be. */
export async function allInForce(run: Torture, steps: number, limitMs: number): Promise<void> {
  const records = () => historyOf(run).flatMap((event) => (event.type === 'fault' ? [event] : []));
  const struck = () => records().filter(({ state, proof }) => state === 'strike' || proof === 'the request was taken');
  const never = () => records().find(({ state }) => state === 'refused' || state === 'failed');
  const isEach = () => new Set(struck().map(({ step }) => step)).size === steps;
  const isOver = () => run.child.exitCode !== null;
  await until('all to be in force', () => isEach() || never() !== undefined || isOver(), limitMs).catch((error) => {
    throw new Error(`${error}: ${run.output()}${run.errors()}`);
  });
  expect(never(), run.output()).toBeUndefined();
  expect(isEach(), `${run.output()}${run.errors()}`).toBe(true);
}
