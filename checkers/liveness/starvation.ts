/**
 * Keys that were free, asked for, and granted to no client for too long, as servers were seen to be asked; and who was in the way.
 *
 * The history says when a key was free and wanted (`free-and-asked.ts`). What makes a starvation of it are requests that a
 * server carried out: one soon after the key was free, another when all that may have been in the way was over, and none of
 * them granted. So a lock that sleeps for long between two looks, and is granted the key by the next one, starves no client.
 *
 * Without a blocker that the servers' record proves, no part of the lock may have been stored anew meanwhile: clients that take
 * parts of it and give them back may only be in each other's way. Nor is it said of independent nodes then, nor where a server
 * may have refused writes for want of replicas.
 */

import type { Change } from '../../harness/record/facts/commands/changes.js';
import { majorityOf } from '../../harness/record/facts/quorum.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause } from '../../harness/vocabulary/verdict.js';
import { type Ask, asksOf, runKeyOf } from '../causes/asks.js';
import { blockerOf } from '../causes/blocker.js';
import { wholeEvidenceOf } from '../causes/whole-evidence.js';
import { longWishes, mostNs, type Wish } from './free-and-asked.js';

export interface Starvation {
  readonly key: string;
  /** When the first and the last of the asks were carried out, ns since the epoch. */
  readonly fromNs: number;
  readonly untilNs: number;
  readonly first: Ask;
  readonly last: Ask;
  readonly asks: number;
  readonly clients: number;
  /** Undefined: the record does not prove who was in the way. */
  readonly cause: Cause | undefined;
}

const known = new WeakMap<History, Starvation[]>();

/** All starvations of a run, by time; made once for each history. */
export function starvationsOf(input: CheckInput): readonly Starvation[] {
  const { history } = input;
  const made = known.get(history);
  if (made) return made;
  const starvations = longWishes(history).flatMap((wish) => starvation(wish, input) ?? []);
  const all = oneEach(starvations);
  known.set(history, all);
  return all;
}

/**
 * Who was in the way of those who asked for a key between two instants (ns); undefined where the record does not prove it.
 */
export function blockerBetween(input: CheckInput, key: string, fromNs: number, untilNs: number): Cause | undefined {
  const asks = asksOf(input, key, fromNs, untilNs);
  return asks.length === 0 ? undefined : blocker(asks, input);
}

function blocker(asks: readonly Ask[], input: CheckInput): Cause | undefined {
  const seen = wholeEvidenceOf(input);
  return seen && blockerOf({ key: keyOf(asks[0]!, input), asks }, seen, input, majorityOf(input.history));
}

function keyOf({ row }: Ask, { history: { operations: ops } }: CheckInput): string {
  return ops.keys[ops.key[row]!]!;
}

function starvation(wish: Wish, input: CheckInput): Starvation | undefined {
  const { history } = input;
  const key = history.operations.keys[wish.key]!;
  const asks = asksOf(input, key, wish.fromNs, wish.untilNs);
  const [first, last] = [asks[0], asks.at(-1)];
  if (!first || !last || last.atNs - first.atNs <= mostNs(history)) return undefined;
  // So many of them are too many already; the others may tell more than can be followed.
  const enough = asks.slice(0, asks.findIndex(({ atNs }) => atNs - first.atNs > mostNs(history)) + 1);
  const cause = blocker(enough, input);
  if (!cause && !isPlain(enough, input)) return undefined;
  const clients = new Set(asks.map(({ client }) => client)).size;
  return { key, fromNs: first.atNs, untilNs: last.atNs, first, last, asks: asks.length, clients, cause };
}

/** Whether nothing that was observed could have kept a sound lock from being granted. */
function isPlain(asks: readonly Ask[], input: CheckInput): boolean {
  const { history, config } = input;
  const nodes = new Set(asks.map(({ node }) => node));
  const evidence = wholeEvidenceOf(input);
  if (!evidence || majorityOf(history) || nodes.size !== 1 || config.topologyOptions.minReplicasToWrite > 0)
    return false;
  const [fromNs, untilNs] = [asks[0]!.atNs, asks.at(-1)!.atNs];
  const node = asks[0]!.node;
  const samples = evidence.samples(node, fromNs, untilNs).map(([, sample]) => sample);
  const same = samples.every(({ role, runId }) => role === 'primary' && runId === samples[0]!.runId);
  if (samples.length === 0 || !same || !evidence.watchedThroughout(node, fromNs, untilNs)) return false;
  const reading = evidence.readingOf(node);
  const keys = [...new Set([...config.keys, ...history.operations.keys])];
  const key = keyOf(asks[0]!, input);
  const names = [...(reading?.keys() ?? [])].filter((name) => runKeyOf(name, keys) === key);
  return names.every((name) => reading!.changes(name).list.every((one) => !madeAnew(one, fromNs, untilNs)));
}

/** Whether a client may have stored something where nothing was. */
function madeAnew({ how, atNs, before, after, applied }: Change, fromNs: number, untilNs: number): boolean {
  if (atNs < fromNs || atNs > untilNs || how === 'sample') return false;
  if (how !== 'command') return how !== 'expired';
  return before.exists !== 'yes' && after.exists !== 'no' && applied !== 'no';
}

/** The same blocker of the same key is reported once, however often it was in the way. */
function oneEach(starvations: readonly Starvation[]): Starvation[] {
  const all: Starvation[] = [];
  for (const one of starvations) {
    const at = all.findIndex(({ key, cause }) => key === one.key && cause && cause.sentence === one.cause?.sentence);
    if (at < 0) all.push(one);
    else {
      const { untilNs, last } = one;
      const before = all[at]!;
      all[at] = {
        ...before,
        untilNs,
        last,
        asks: before.asks + one.asks,
        clients: Math.max(before.clients, one.clients),
      };
    }
  }
  return all;
}
