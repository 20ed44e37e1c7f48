/** Whatever process of a run is killed with SIGKILL, nothing of the run is left two seconds later. A client and the outer CLI: smoke/killed.test.ts. */
import { afterEach, describe, expect, test } from 'vitest';
import { find, inFullSwing, isOuter, LEFT_LIMIT_MS } from '../support/killed.js';
import {
  endAll,
  type Found,
  historyOf,
  namespacesOf,
  processesOf,
  start,
  type Torture,
  torture,
  until,
} from '../support/torture.js';

let run: Torture;
afterEach(() => endAll(run));

const VICTIMS: Record<string, (command: string) => boolean> = {
  'the npm wrapper': (command) => command.startsWith('npm'),
  'the outer CLI': isOuter,
  'unshare, between outer and inner': (command) => command.startsWith('unshare ') && command.includes('inside-main.js'),
  'the inner CLI': (command) => command.includes('inside-main.js') && !command.startsWith('unshare'),
};

describe('kill -9', () => {
  test.each(Object.entries(VICTIMS))('%s', async (_, matches) => {
    run = await inFullSwing();
    process.kill(find(run, matches).pid, 'SIGKILL');
    await until('nothing left', () => processesOf(run.mark).filter(stillOfTheRun).length === 0, LEFT_LIMIT_MS);
    expect(namespacesOf(run.mark)).toEqual([]);
    await until('the end of what judges it', () => processesOf(run.mark).length === 0);
    const check = await torture(
      ['latest'].map(() => `${run.out}/latest`),
      { command: 'check' },
    );
    expect([1, 2]).toContain(check.status); // it was cut short: violated, or unknown, but never "held"
  });

  test('npm, before anything else has started', async () => {
    run = start(['--topology', 'sentinel', '--time-limit', '60s'], { viaNpm: true });
    await until('the outer CLI', () => processesOf(run.mark).some(({ command }) => isOuter(command)));
    process.kill(find(run, VICTIMS['the npm wrapper']!).pid, 'SIGKILL');
    await until('nothing left', () => processesOf(run.mark).length === 0, LEFT_LIMIT_MS);
  });
});

describe('kill -9 of what a client lives in', () => {
  test.each([
    ['the shell that is first of its process namespace', /^sh -c .*client\/main\.js/],
    ['unshare, its parent', /^unshare .*client\/main\.js/],
  ])('%s: the client dies with it, and another takes its place', async (_, matches) => {
    run = await inFullSwing();
    process.kill(find(run, (command) => matches.test(command)).pid, 'SIGKILL');
    const down = await until('the death of a client', () =>
      historyOf(run).find((event) => event.type === 'client-down' && event.reason.startsWith('exited by itself')),
    );
    const name = down.type === 'client-down' ? down.client : '';
    await until('its successor', () =>
      historyOf(run).some((event) => event.type === 'client-up' && event.client.startsWith(`${name}.`)),
    );
    // Six clients, each in a shell under unshare: none of those that died is left.
    const living = () => processesOf(run.mark).filter(({ command }) => command.includes('client/main.js'));
    await until('three processes a client', () => living().length === 18);
  });
});

/** When the inner process dies, the outer one (and npm above it) stays a moment to judge what was recorded. */
function stillOfTheRun({ command }: Found): boolean {
  return !command.startsWith('npm') && !command.startsWith('sh ') && !command.includes('bin/torture.mjs');
}

describe('Ctrl-C', () => {
  test('once: heals, tears down, judges and reports what there is', async () => {
    run = await inFullSwing();
    process.kill(find(run, isOuter).pid, 'SIGINT');
    const { code } = await run.ended;
    expect([0, 1, 2]).toContain(code);
    expect(historyOf(run).findLast(({ type }) => type === 'phase')).toMatchObject({ phase: 'end' });
    expect(run.output()).toContain('report.html');
    expect(processesOf(run.mark)).toEqual([]);
  });

  test('twice: stops at once', async () => {
    run = await inFullSwing();
    const { pid } = find(run, isOuter);
    process.kill(pid, 'SIGINT');
    await until('the first to be heard', () => run.errors().includes('once more'));
    process.kill(pid, 'SIGINT');
    await until('nothing left', () => processesOf(run.mark).length === 0, LEFT_LIMIT_MS);
    expect((await run.ended).code).toBe(3);
  });
});
