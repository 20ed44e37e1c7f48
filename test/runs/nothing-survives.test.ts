/** Whatever process of a run is killed with SIGKILL, nothing of the run is left two seconds later. */
import { afterEach, describe, expect, test } from 'vitest';
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

const LEFT_LIMIT_MS = 2_000;
let run: Torture;
afterEach(() => endAll(run));

async function inFullSwing(): Promise<void> {
  run = start(['--topology', 'sentinel', '--time-limit', '60s'], { viaNpm: true });
  await until(`torture phase; output so far: ${run.output()} ${run.errors()}`, () =>
    historyOf(run).some((event) => event.type === 'phase' && event.phase === 'torture'),
  );
  // 3 Redis, 3 Sentinels, 6 clients and their hosts' holders, and the chain above them: otherwise "nothing left" is cheap.
  expect(processesOf(run.mark).length).toBeGreaterThan(20);
  expect(namespacesOf(run.mark).length).toBeGreaterThan(12);
}

function find(matches: (command: string) => boolean): Found {
  const found = processesOf(run.mark).find(({ command }) => matches(command));
  if (!found)
    throw new Error(
      `no such process among ${processesOf(run.mark)
        .map(({ command }) => command)
        .join('\n')}`,
    );
  return found;
}

const VICTIMS: Record<string, (command: string) => boolean> = {
  'the npm wrapper': (command) => command.startsWith('npm'),
  'the outer CLI': (command) =>
    command.includes('bin/torture.mjs') && !command.startsWith('npm') && !command.startsWith('sh '),
  'unshare, between outer and inner': (command) => command.startsWith('unshare ') && command.includes('inside-main.js'),
  'the inner CLI': (command) => command.includes('inside-main.js') && !command.startsWith('unshare'),
};

describe('kill -9', () => {
  test.each(Object.entries(VICTIMS))('%s', async (_, matches) => {
    await inFullSwing();
    process.kill(find(matches).pid, 'SIGKILL');
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
    const outer = VICTIMS['the outer CLI']!;
    await until('the outer CLI', () => processesOf(run.mark).some(({ command }) => outer(command)));
    process.kill(find(VICTIMS['the npm wrapper']!).pid, 'SIGKILL');
    await until('nothing left', () => processesOf(run.mark).length === 0, LEFT_LIMIT_MS);
  });

  test('a client: the run goes on with another in its place', async () => {
    await inFullSwing();
    const client = find((command) => command.includes('client/main.js'));
    process.kill(client.pid, 'SIGKILL');
    const down = await until('its death in the history', () =>
      historyOf(run).find((event) => event.type === 'client-down' && event.reason.includes('SIGKILL')),
    );
    const name = down.type === 'client-down' ? down.client : '';
    await until('its successor', () =>
      historyOf(run).some((event) => event.type === 'client-up' && event.client.startsWith(`${name}.`)),
    );
    process.kill(find(VICTIMS['the outer CLI']!).pid, 'SIGKILL');
    await until('nothing left', () => processesOf(run.mark).length === 0, LEFT_LIMIT_MS);
  });
});

/** When the inner process dies, the outer one (and npm above it) stays a moment to judge what was recorded. */
function stillOfTheRun({ command }: Found): boolean {
  return !command.startsWith('npm') && !command.startsWith('sh ') && !command.includes('bin/torture.mjs');
}

describe('Ctrl-C', () => {
  test('once: heals, tears down, judges and reports what there is', async () => {
    await inFullSwing();
    process.kill(find(VICTIMS['the outer CLI']!).pid, 'SIGINT');
    const { code } = await run.ended;
    expect([0, 1, 2]).toContain(code);
    expect(historyOf(run).at(-1)).toMatchObject({ type: 'phase', phase: 'end' });
    expect(run.output()).toContain('report.html');
    expect(processesOf(run.mark)).toEqual([]);
  });

  test('twice: stops at once', async () => {
    await inFullSwing();
    const { pid } = find(VICTIMS['the outer CLI']!);
    process.kill(pid, 'SIGINT');
    await until('the first to be heard', () => run.errors().includes('once more'));
    process.kill(pid, 'SIGINT');
    await until('nothing left', () => processesOf(run.mark).length === 0, LEFT_LIMIT_MS);
    expect((await run.ended).code).toBe(3);
  });
});
