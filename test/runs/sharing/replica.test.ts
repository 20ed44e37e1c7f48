/** The `replica` topology as a user runs it: the virtual address follows the primary, and cuts follow the address. */
// biome-ignore-all lint/suspicious/noThenProperty: a word in a plan, never a function
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PlanStep } from '../../../harness/vocabulary/faults.js';
import type { HistoryEvent, Observation } from '../../../harness/vocabulary/history.js';
import { type Ended, freshFolder, torture } from '../../support/torture.js';

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

/** Commands that a node ran for lock clients in this time, or for those of one slot. */
function ran(run: Seen, node: string, fromNs: number, untilNs: number, slot = 'c') {
  return run.observations.flatMap((seen) =>
    seen.type === 'command' && seen.node === node && seen.atNs > fromNs && seen.atNs < untilNs
      ? [seen].filter(({ client = '' }) => client.startsWith(slot))
      : [],
  );
}

/** Slots whose clients a node served in this time. */
function served(run: Seen, node: string, fromNs: number, untilNs: number): string[] {
  return [...new Set(ran(run, node, fromNs, untilNs).map(({ client }) => client!.split('.')[0]!))].sort();
}

/** Who first said that it is primary, after `fromNs`. */
function successor(run: Seen, old: string, fromNs: number): { node: string; atNs: number } {
  const found = run.observations.find(
    (seen) => seen.type === 'sample' && seen.node !== old && seen.role === 'primary' && seen.atNs > fromNs,
  );
  expect(found, run.output).toBeDefined();
  return found!;
}

const promotions = (run: Seen) => run.output.match(/r\d promoted instead of r\d/g) ?? [];
const recovered = (run: Seen) => run.history.find((event) => event.type === 'recovered');

describe('the virtual address', () => {
  test('moves when the primary dies, with a password; clients go on; the old primary comes back as a replica', async () => {
    const run = await withPlan(
      [
        // The manager reaches no node, and then one before another: no reason to replace the primary.
        { atMs: 100, fault: 'partition', target: 'all', forMs: 1_500, args: { mode: 'both' } },
        // A busy machine takes seconds until the address has moved and clients have found it.
        { atMs: 3_000, fault: 'kill', target: { names: ['r1'] }, forMs: 8_000 },
      ],
      '--auth',
      '--time-limit',
      '14s',
    );
    // A busy machine may have its successor replaced, too.
    expect(promotions(run).filter((one) => one.endsWith('instead of r1'))).toHaveLength(1);
    expect(run.output).toMatch(/r[23] promoted instead of r1: r1 has not answered for \d+ ms; .* moved to r[23] in/);
    const [killedNs, backNs] = [when(run, 1, 'strike'), when(run, 1, 'heal')];
    expect(successor(run, 'r1', 0).atNs).toBeGreaterThan(killedNs);
    const next = successor(run, 'r1', killedNs);
    expect(served(run, next.node, next.atNs, backNs).length, run.output).toBeGreaterThan(1);
    expect(run.output).toContain('r1 demoted, follows r');
    expect(ran(run, 'r1', backNs, Number.POSITIVE_INFINITY)).toEqual([]);
    expect(recovered(run)).toMatchObject({ missing: [] });
  });

  test('a client that is cut from the primary is cut from the address, and reaches it again when it has moved', async () => {
    const run = await withPlan(
      [
        { atMs: 300, fault: 'partition', target: { names: ['c1', 'r1'] }, forMs: 12_000, args: { mode: 'link' } },
        { atMs: 2_800, fault: 'kill', target: { names: ['r1'] }, forMs: 8_000 },
      ],
      '--time-limit',
      '15s',
    );
    const [cutNs, killedNs] = [when(run, 0, 'strike'), when(run, 1, 'strike')];
    expect(granted(run, cutNs, killedNs)).not.toContain('c1');
    // Not even one way: what it sent did not arrive, by whatever address.
    expect(ran(run, 'r1', cutNs, killedNs, 'c1')).toEqual([]);
    expect(served(run, 'r1', cutNs, killedNs).length).toBeGreaterThan(1);
    const next = successor(run, 'r1', killedNs);
    expect(served(run, next.node, next.atNs, when(run, 0, 'heal'))).toContain('c1');
    expect(recovered(run)).toMatchObject({ missing: [] });
  });

  test('leaves a primary that is isolated, and clients with it', async () => {
    const run = await withPlan(
      // A busy machine takes seconds until the address has moved and clients have found it.
      [{ atMs: 300, fault: 'failover', target: 'primary', forMs: 10_000, args: { then: 'isolate' } }],
      '--time-limit',
      '13s',
    );
    const [struckNs, healedNs] = [when(run, 0, 'strike'), when(run, 0, 'heal')];
    const next = successor(run, 'r1', 0);
    expect(ran(run, 'r1', struckNs, healedNs)).toEqual([]);
    expect(served(run, next.node, struckNs, healedNs).length).toBeGreaterThan(1);
    // Whether a lost hold is still held when somebody asks for it is a matter of luck; why is never said wrongly.
    const may = ['failover-lost-write', 'failover-lost-renewal', 'unexplained'];
    // Whole, with the chain: what is said wrongly once in many runs is understood by that alone.
    expect(run.results.violations.filter(({ cause }) => !may.includes(cause.name))).toEqual([]);
    expect(recovered(run)).toMatchObject({ missing: [] });
  });
});
