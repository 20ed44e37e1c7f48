/**
 * Whatever process of a run is killed with SIGKILL, nothing of the run is left two seconds later. A client and the outer CLI: smoke/killed.test.ts.
 *
 * @module-tag namespaces
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { NEAR } from '../../../nemesis/levers/link-shaper.js';
import { allInForce, find, inFullSwing, isOuter, LEFT_LIMIT_MS } from '../../support/killed.js';
import { namedServerHere } from '../../support/named-server.js';
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
} from '../../support/torture.js';

let run: Torture;
afterEach(() => {
  // Not every test has one of these.
  if (run) endAll(run);
});

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

const names = (...who: string[]) => ({ names: who });
const LONG_MS = 100_000;
/**
 * What is in force then: programs beside the hosts that lead packets through devices of their own, and a server without power;
 * slots that have moved or are on their way; and failovers that have been asked for, which end by themselves.
 */
const IN_FORCE = {
  'links and power': [
    'single',
    [
      { atMs: 200, fault: 'delay', target: names('c1', 'c2'), forMs: LONG_MS, args: { delayMs: 20 } },
      { atMs: 300, fault: 'loss', target: names('c2'), forMs: LONG_MS },
      { atMs: 300, fault: 'rate', target: names('c3'), forMs: LONG_MS, args: { rateKbps: 50 } },
      { atMs: 400, fault: 'duplicate', target: names('c1'), forMs: LONG_MS },
      { atMs: 400, fault: 'reorder', target: names('c3'), forMs: LONG_MS },
      { atMs: 500, fault: 'reset', target: names('c1'), forMs: LONG_MS },
      { atMs: 600, fault: 'reset-on-reply', target: 'client', forMs: LONG_MS },
      { atMs: 6_000, fault: 'power-cut', target: 'primary', forMs: LONG_MS },
    ],
  ],
  'a slot that has moved': ['cluster', [{ atMs: 300, fault: 'migrate-slots', target: names('r1'), forMs: LONG_MS }]],
  'a slot on its way beside one that has moved': [
    'cluster',
    [
      { atMs: 300, fault: 'move-slot', target: names('r1'), forMs: LONG_MS },
      // Later than the one that moves its slot whole: that one refuses servers with slots on their way.
      { atMs: 5_000, fault: 'move-slot', target: names('r1'), forMs: LONG_MS, args: { until: 'migrating' } },
    ],
  ],
  'a handover in a Cluster': [
    'cluster',
    [{ atMs: 300, fault: 'cluster-failover', target: names('r1'), forMs: LONG_MS }],
  ],
  'a handover by the primary': ['replica', [{ atMs: 300, fault: 'failover-to', target: 'primary', forMs: LONG_MS }]],
  'a failover by Sentinel': [
    'sentinel',
    [{ atMs: 300, fault: 'sentinel-failover', target: 'primary', forMs: LONG_MS }],
  ],
  'a handover that Sentinel asks for': [
    'sentinel',
    [{ atMs: 300, fault: 'sentinel-failover', target: 'primary', forMs: LONG_MS, args: { how: 'coordinated' } }],
  ],
} as const satisfies Record<string, readonly [topology: string, steps: readonly object[]]>;
/** They take a server that knows their commands. */
const OF_VALKEY: ReadonlySet<string> = new Set(['a slot that has moved', 'a handover that Sentinel asks for']);

test('kill -9 of the inner CLI while links are slow, a server is without power, slots move and primaries are replaced', async () => {
  const server = (await namedServerHere('valkey@9')) ? ['--server', 'valkey@9'] : [];
  const before = devicesOfShapers();
  // All at once: nothing is timed but how soon they are gone.
  const plays = Object.entries(IN_FORCE).map(async ([what, [topology, all]]) => {
    const steps: readonly { fault: string }[] = all;
    if (server.length === 0 && OF_VALKEY.has(what)) return;
    const file = join(freshFolder(), 'plan.json');
    writeFileSync(file, JSON.stringify({ version: 1, seed: 1, steps }));
    const flags = ['--topology', topology, '--plan', file, '--time-limit', '120s', '--clients', '3'];
    const play = start([...flags, ...(OF_VALKEY.has(what) ? server : [])]);
    try {
      await killedWhileInForce(play, steps);
    } finally {
      endAll(play);
    }
  });
  const trouble = (await Promise.allSettled(plays)).flatMap((play) =>
    play.status === 'rejected' ? [play.reason] : [],
  );
  if (trouble.length > 0) throw new AggregateError(trouble, trouble.map(String).join('\n'));
  expect(devicesOfShapers().filter((device) => !before.includes(device))).toEqual([]);
});

async function killedWhileInForce(play: Torture, steps: readonly { fault: string }[]): Promise<void> {
  await allInForce(play, steps.length, 100_000);
  if (steps.some(({ fault }) => fault === 'delay')) {
    const shapers = processesOf(play.mark).filter(({ command }) => command.includes('link-shaper'));
    // One beside each host that sends over such a link: all clients and the server.
    expect(shapers.length).toBeGreaterThan(3);
  }
  process.kill(find(play, VICTIMS['the inner CLI']!).pid, 'SIGKILL');
  await until('nothing left', () => processesOf(play.mark).filter(stillOfTheRun).length === 0, 10_000);
  expect(namespacesOf(play.mark)).toEqual([]);
  await until('the end of what judges it', () => processesOf(play.mark).length === 0);
}

/** Those of the machine itself: what a link shaper makes is in a network namespace of the run. */
function devicesOfShapers(): string[] {
  const links = JSON.parse(execFileSync('ip', ['-json', 'link', 'show'], { encoding: 'utf8' })) as { ifname: string }[];
  return links.map(({ ifname }) => ifname).filter((name) => name.startsWith(NEAR));
}

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
