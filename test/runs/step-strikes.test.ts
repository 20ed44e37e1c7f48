/**
 * Strikes at steps of a lock, held against what the server saw: nothing of the client between the step and the strike.
 *
 * @module-tag namespaces
 */
// biome-ignore-all lint/suspicious/noThenProperty: a word in a plan, never a function
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Plan, PlanStep } from '../../harness/vocabulary/faults.js';
import type { HistoryEvent, Observation } from '../../harness/vocabulary/history.js';
import { freshFolder, torture } from '../support/torture.js';

const STEP = 'before-del';
const lines = <T>(folder: string, file: string): T[] =>
  readFileSync(join(folder, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('no command of the client reaches the server between its step and the strike', async () => {
  // Cutting c2 off says nothing of c1, which must stand all the same until it is done; a pause takes over who stands.
  const cuts = Array.from(
    { length: 8 },
    (_, n): PlanStep => ({
      after: { event: 'step', step: STEP, client: 'c1', count: 2 * n + 1 },
      fault: 'partition',
      target: { names: ['c2'] },
      forMs: 20,
    }),
  );
  const pauses = Array.from(
    { length: 8 },
    (_, n): PlanStep => ({
      after: { event: 'step', step: STEP, count: 5 * n + 3 },
      fault: 'pause',
      target: 'client',
      forMs: 20,
    }),
  );
  const plan: Plan = { version: 1, seed: 1, steps: [...cuts, ...pauses] };
  const file = join(freshFolder(), 'steps.json');
  writeFileSync(file, JSON.stringify(plan));
  const of = ['--topology', 'single', '--lock', 'set-nx-px-get-del', '--clients', '4', '--keys', '2'];
  const run = await torture([...of, '--lease', '2s', '--hold', '0.01x..0.03x', '--plan', file, '--time-limit', '12s']);

  expect(run.folder, run.errors).not.toBe('');
  const history = lines<HistoryEvent>(run.folder, 'history.jsonl');
  const commands = lines<Observation>(run.folder, 'observations.jsonl').filter((one) => one.type === 'command');
  const began = history.find((event) => event.type === 'run')!;
  const wallMs = (ns: number) => began.epochWallMs + ns / 1e6;
  const reached = history.filter((event) => event.type === 'step').filter(({ name }) => name === STEP);
  const faults = history.filter((event) => event.type === 'fault');
  const stood = faults.filter(({ step, did }) => step < 0 && did.includes('until it was struck there'));
  const strikes = faults.filter(({ state }) => state === 'strike');
  expect(strikes).toHaveLength(plan.steps.length);
  for (const strike of strikes) {
    expect(strike.late).toBeUndefined();
    const client = /(c[\d.]+) stood at "before-del"/.exec(strike.proof!)![1]!;
    const step = reached.findLast((event) => event.client === client && event.i < strike.i)!;
    // GET comes right before the step, DEL right after it. The run's epoch is known to a millisecond.
    const fromMs = (argv: readonly string[]) => wallMs(step.clientNs) + (/^get$/i.test(argv[0]!) ? 2 : -2);
    const between = commands.filter(
      (one) => one.client === client && one.serverWallMs > fromMs(one.argv) && one.serverWallMs < wallMs(strike.atNs),
    );
    expect(between.map(({ argv }) => argv.join(' '))).toEqual([]);
    // It went on afterwards, and the record says how long it stood.
    const stand = stood.find(({ targets, i }) => targets[0] === client && i > step.i)!;
    expect(stand.effects).toMatchObject([{ kind: 'stopped', who: [client] }]);
    expect(stand.atNs).toBeGreaterThan(strike.atNs);
  }
  expect(faults.filter(({ state }) => state === 'failed' || state === 'refused')).toEqual([]);
  expect(run.results.reasons.join('\n')).not.toContain('too late');
});
