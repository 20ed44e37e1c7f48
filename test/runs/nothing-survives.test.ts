/** Whatever process of a run is killed with SIGKILL, nothing of the run is left two seconds later. A client and the outer CLI: smoke/killed.test.ts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { find, inFullSwing, isOuter, LEFT_LIMIT_MS } from '../support/killed.js';
import {
  endAll,
  type Found,
  freshFolder,
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

/** What is in force then: programs beside the hosts that lead packets through devices of their own, and a server without power. */
const IN_FORCE = [
  { atMs: 200, fault: 'delay', target: { names: ['c1', 'c2'] }, forMs: 100_000, args: { delayMs: 20 } },
  { atMs: 300, fault: 'loss', target: { names: ['c2'] }, forMs: 100_000 },
  { atMs: 500, fault: 'power-cut', target: 'primary', forMs: 90_000 },
];

test('kill -9 of the inner CLI while links are slow and the server is without power', async () => {
  const file = join(freshFolder(), 'plan.json');
  writeFileSync(file, JSON.stringify({ version: 1, seed: 1, steps: IN_FORCE }));
  run = start(['--topology', 'single', '--plan', file, '--time-limit', '120s']);
  const struck = () =>
    historyOf(run).flatMap((event) => (event.type === 'fault' && event.state === 'strike' ? [event.fault] : []));
  await until('all to be in force', () => struck().length === IN_FORCE.length, 100_000);
  const shapers = () => processesOf(run.mark).filter(({ command }) => command.includes('link-shaper'));
  // One beside each host that sends over such a link: both clients and the server.
  expect(shapers().length).toBeGreaterThan(2);
  process.kill(find(run, VICTIMS['the inner CLI']!).pid, 'SIGKILL');
  await until('nothing left', () => processesOf(run.mark).filter(stillOfTheRun).length === 0, 10_000);
  expect(namespacesOf(run.mark)).toEqual([]);
  await until('the end of what judges it', () => processesOf(run.mark).length === 0);
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
