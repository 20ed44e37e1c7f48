/**
 * Whether what stands under a key is there because a client asked for the lock: what one stored when it gave the lock back, say that
 * it is free, stands in nobody's way.
 *
 * Promises: said only where clients were seen to store it, each while it had asked for the key, and while it gave nothing back; and
 * where nobody else stored it as well, or made it last for ever.
 */
import { type Change, ownersBy, ownersOf, storedBy } from '../../harness/record/facts/commands/changes.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { mayTakeEffectWithin } from '../../harness/record/facts/intervals.js';
import { ownerIs } from '../../harness/record/facts/key-writes.js';
import { OP } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import { acquiresOf, runKeyOf } from './asks.js';
import { wholeEvidenceOf } from './whole-evidence.js';

/** `stored`: as a sample shows it, or an owner. `trying`: who is not in its own way by what it has stored since. */
export function isStoredByAsking(
  key: string,
  stored: string,
  input: CheckInput,
  trying?: { client: string; fromNs: number },
): boolean {
  const evidence = wholeEvidenceOf(input);
  const acquireAt = acquiresOf(input.history, key);
  const changes = evidence ? changesOf(key, input, evidence) : [];
  const isStored = ({ after, line }: Change) => ownersBy(after, line).some((owner) => ownerIs(stored, owner));
  const strangers = changes.filter(({ node, change }) => isStrangers(node, change, evidence!));
  if (strangers.some(({ change }) => isStored(change) || keepsForEver(change))) return false;
  const stores = changes.map(({ change }) => change).filter((change) => change.by?.client && isStored(change));
  return (
    stores.length > 0 &&
    stores.every(({ by, ranFromNs, atNs }) => {
      const client = by!.client!;
      if (client === trying?.client && atNs > trying.fromNs) return false;
      return acquireAt(client, atNs) !== undefined && !isReleasing(client, ranFromNs, atNs, input.history);
    })
  );
}

/**
 * Whether what stands under a key is as clients left it: no stranger's command was seen to leave anything there, be it what a client had
 * stored, for longer; and after a time in which a server was not watched, or may have had other data, what stands there is what clients
 * were seen to store.
 */
export function isLeftByClients(key: string, input: CheckInput): boolean {
  const evidence = wholeEvidenceOf(input);
  if (!evidence) return false;
  const changes = changesOf(key, input, evidence);
  if (changes.some(({ node, change }) => change.after.exists !== 'no' && isStrangers(node, change, evidence)))
    return false;
  const byPlace = new Map<string, Change[]>();
  for (const { node, name, change } of changes) {
    const place = JSON.stringify([node, name]);
    byPlace.set(place, [...(byPlace.get(place) ?? []), change]);
  }
  return [...byPlace.values()].every(isKnownSinceItsGap);
}

/** Whether nothing that stands there can have come unseen. */
function isKnownSinceItsGap(list: readonly Change[]): boolean {
  if (!list.some(({ how }) => how === 'gap')) return true;
  const { after } = list.at(-1)!;
  if (after.exists === 'no') return true;
  const byClients = new Set(list.flatMap(({ by, after: state, line }) => (by?.client ? ownersBy(state, line) : [])));
  const owners = ownersOf(after);
  return owners.length > 0 && owners.every((owner) => [...byClients].some((one) => ownerIs(owner, one)));
}

/**
 * Whether what a look shows under a key was left there without an end by the last command of a client on it that was seen. Who took its
 * end from it unseen, while the server was not watched, is not known; a place in a queue that says the same may have none.
 */
export function isLeftForEver(key: string, stored: string, input: CheckInput): boolean {
  const evidence = wholeEvidenceOf(input);
  const last = new Map<string, Change>();
  for (const { node, name, change } of evidence ? changesOf(key, input, evidence) : [])
    if (name === key && change.by?.client !== undefined && change.applied !== 'no')
      if (ownersOf(change.after).some((owner) => ownerIs(stored, owner))) last.set(node, change);
  return [...last.values()].some(({ after }) => after.expires.fromMs === Number.POSITIVE_INFINITY);
}

/** What a client stored under a key, or one that is named after it, and where. */
export interface Standing {
  client: string;
  name: string;
  node: string;
  atNs: number;
  /** Of observations.jsonl. */
  line: number;
}

/** What certainly stands there at that instant and which client's command stored it, as far as servers were watched. */
export function leftStanding(
  key: string,
  { config, history }: CheckInput,
  evidence: Evidence,
  atNs: number,
): Standing[] {
  const keys = [...new Set([...config.keys, ...history.operations.keys])];
  return evidence.nodes.flatMap((node) => {
    const reading = evidence.readingOf(node);
    const names = [...(reading?.keys() ?? [])].filter((name) => runKeyOf(name, keys) === key);
    return names.flatMap((name) => {
      const changes = reading!.changes(name);
      const state = changes.spans(atNs, atNs).at(-1)?.state;
      const stored = (state ? ownersOf(state) : []).flatMap((owner) => {
        const by = changes.storedAt(owner, atNs).truth === 'yes' ? storedBy(state!, owner) : undefined;
        return by?.client === undefined ? [] : [{ client: by.client, name, node, atNs: by.atNs, line: by.line }];
      });
      return stored.slice(0, 1);
    });
  });
}

/** All that became of a key, and of those that are named after it, on any node. */
function changesOf(key: string, { config, history }: CheckInput, evidence: Evidence) {
  const keys = [...new Set([...config.keys, ...history.operations.keys])];
  return evidence.nodes.flatMap((node) => {
    const reading = evidence.readingOf(node);
    const names = [...(reading?.keys() ?? [])].filter((name) => runKeyOf(name, keys) === key);
    return names.flatMap((name) => reading!.changes(name).list.map((change) => ({ node, name, change })));
  });
}

/** Whether somebody unknown did it, and it did not come from a primary. */
function isStrangers(node: string, { by, applied, atNs }: Change, evidence: Evidence): boolean {
  if (!by || by.client !== undefined || applied === 'no') return false;
  return evidence.lastSample(node, atNs)?.[1].role !== 'replica';
}

/** Whether it took its end from what had one. */
function keepsForEver({ before, after }: Change): boolean {
  return after.expires.fromMs === Number.POSITIVE_INFINITY && Number.isFinite(before.expires.untilMs);
}

/** What is read late may have run in an operation before. */
function isReleasing(client: string, fromNs: number, untilNs: number, history: History): boolean {
  const { operations: ops } = history;
  const who = ops.clients.indexOf(client);
  for (let row = 0; row < ops.count; row++)
    if (ops.client[row] === who && ops.op[row] === OP.release && mayTakeEffectWithin(history, row, fromNs, untilNs))
      return true;
  return false;
}
