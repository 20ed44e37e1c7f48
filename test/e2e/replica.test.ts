/** The `replica` topology as a user runs it: the virtual address follows the primary, and cuts follow the address. */
// biome-ignore-all lint/suspicious/noThenProperty: a word in a plan, never a function
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HistoryEvent, Observation, PlanStep } from '../../harness/api.js';
import { type Ended, freshFolder, torture } from './torture.js';

interface Seen extends Ended {
  history: HistoryEvent[];
  observations: Observation[];
}

async function withPlan(steps: PlanStep[], ...flags: string[]): Promise<Seen> {
  const plan = join(freshFolder(), 'plan.json');
  writeFileSync(plan, JSON.stringify({ version: 1, seed: 1, steps }));
  const run = await torture(['--topology', 'replica', '--plan', plan, ...flags]);
  const read = (name: string) =>
    readFileSync(join(run.folder, name), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  expect(run.status, run.output + run.errors).toBeLessThan(3);
  return { ...run, history: read('history.jsonl'), observations: read('observations.jsonl') };
}

/** When a step of the plan was struck, or healed. */
function when(run: Seen, step: number, state: 'strike' | 'heal'): number {
  const found = run.history.find((event) => event.type === 'fault' && event.step === step && event.state === state);
  expect(found, run.output).toBeDefined();
  return found!.atNs;
}

/** Slots whose clients were granted a lock by an attempt that began and ended in this time. */
function granted(run: Seen, fromNs: number, untilNs: number): string[] {
  const slots = run.history.flatMap((event) =>
    event.type === 'ok' && event.op === 'acquire' && event.beganNs! > fromNs && event.endedNs! < untilNs
      ? [event.client.split('.')[0]!]
      : [],
  );
  return [...new Set(slots)].sort();
}

/** Commands of clients in one slot (all, if none is given) that a node ran in this time. */
function ran(run: Seen, node: string, fromNs: number, untilNs: number, slot = ''): unknown[] {
  return run.observations.filter(
    (seen) =>
      seen.type === 'command' &&
      seen.node === node &&
      seen.atNs > fromNs &&
      seen.atNs < untilNs &&
      (seen.client ?? '').startsWith(slot || 'c'),
  );
}

/** When a node first said that it is primary, after `fromNs`. */
function promotedNs(run: Seen, nodes: readonly string[], fromNs: number): number {
  const found = run.observations.find(
    (seen) => seen.type === 'sample' && nodes.includes(seen.node) && seen.role === 'primary' && seen.atNs > fromNs,
  );
  expect(found, run.output).toBeDefined();
  return found!.atNs;
}

const promotions = (run: Seen) => run.output.match(/r\d promoted instead of r\d/g) ?? [];
const recovered = (run: Seen) => run.history.find((event) => event.type === 'recovered');

describe('the virtual address', () => {
  test('moves when the primary dies, with a password; clients go on; the old primary comes back as a replica', async () => {
    const run = await withPlan(
      [
        // The manager reaches nobody, and then somebody before somebody else: no reason to replace anybody.
        { atMs: 100, fault: 'partition', target: 'all', forMs: 1_500, args: { mode: 'both' } },
        { atMs: 3_000, fault: 'kill', target: { names: ['r1'] }, forMs: 3_000 },
      ],
      '--auth',
      '--time-limit',
      '9s',
    );
    expect(promotions(run)).toHaveLength(1);
    expect(run.output).toMatch(/r[23] promoted instead of r1: r1 has not answered for \d+ ms; .* moved to r[23] in/);
    const [killedNs, backNs] = [when(run, 1, 'strike'), when(run, 1, 'heal')];
    const nextNs = promotedNs(run, ['r2', 'r3'], killedNs);
    expect(granted(run, nextNs, backNs).length).toBeGreaterThan(1);
    expect(run.output).toContain('r1 demoted, follows r');
    expect(ran(run, 'r1', backNs, Number.POSITIVE_INFINITY)).toEqual([]);
    expect(recovered(run)).toMatchObject({ missing: [] });
  });

  test('a client that is cut from the primary is cut from the address, and reaches it again when it has moved', async () => {
    const run = await withPlan(
      [
        { atMs: 300, fault: 'partition', target: { names: ['c1', 'r1'] }, forMs: 8_000, args: { mode: 'link' } },
        { atMs: 2_800, fault: 'kill', target: { names: ['r1'] }, forMs: 4_000 },
      ],
      '--time-limit',
      '11s',
    );
    const [cutNs, killedNs] = [when(run, 0, 'strike'), when(run, 1, 'strike')];
    expect(granted(run, cutNs, killedNs)).not.toContain('c1');
    expect(granted(run, cutNs, killedNs).length).toBeGreaterThan(1);
    // Not even one way: what it sent did not arrive, by whatever address.
    expect(ran(run, 'r1', cutNs, killedNs, 'c1')).toEqual([]);
    expect(ran(run, 'r1', cutNs, killedNs, 'c2').length).toBeGreaterThan(0);
    const nextNs = promotedNs(run, ['r2', 'r3'], killedNs);
    expect(granted(run, nextNs, when(run, 0, 'heal'))).toContain('c1');
    expect(recovered(run)).toMatchObject({ missing: [] });
  });

  test('leaves a primary that is isolated, clients with it, and exclusion is broken', async () => {
    const run = await withPlan(
      [{ atMs: 300, fault: 'failover', target: 'primary', forMs: 7_500, args: { then: 'isolate' } }],
      // Long holds: those that the old primary granted are still held when the new one grants.
      '--hold',
      '0.5x..0.9x',
      '--time-limit',
      '11s',
    );
    const [struckNs, healedNs] = [when(run, 0, 'strike'), when(run, 0, 'heal')];
    const old = run.history.find((event) => event.type === 'fault' && event.state === 'strike');
    const [name] = old?.type === 'fault' ? old.targets : [];
    expect(ran(run, name!, struckNs, healedNs)).toEqual([]);
    expect(granted(run, struckNs, healedNs).length).toBeGreaterThan(1);
    expect(run.status, run.output).toBe(1);
    expect(run.results.violations.map(({ cause }) => cause.name)).toContain('failover-lost-write');
    expect(recovered(run)).toMatchObject({ missing: [] });
  });
});
