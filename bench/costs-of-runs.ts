/** What a lock cost in a run, by the stamps of its clients: milliseconds, medians of what there was; undefined: too little of it. */
import { middle } from '../cli/docs/costs.js';
import type { HistoryEvent, Observation } from '../harness/vocabulary/history.js';

/** Fewer tell nothing. */
const LEAST = 20;

interface Done {
  op: string;
  key: string;
  client: string;
  type: string;
  beganNs: number;
  endedNs: number;
}

/** From asking for a lock to being granted it. */
export function latencyMs(events: readonly HistoryEvent[]): number | undefined {
  return medianMs(grantsIn(events).map(({ beganNs, endedNs }) => endedNs - beganNs));
}

/** From a holder's release to the next grant, where another client was waiting by then. */
export function handOverMs(events: readonly HistoryEvent[]): number | undefined {
  const done = doneIn(events);
  const grants = grantsIn(events).sort((a, b) => a.endedNs - b.endedNs);
  const releases = done.filter(({ op, type }) => op === 'release' && type === 'ok');
  return medianMs(
    releases.flatMap((release) => {
      const next = grants.find((grant) => grant.key === release.key && grant.endedNs > release.beganNs);
      const waited = done.some(
        ({ op, key, client, beganNs, endedNs }) =>
          op === 'acquire' &&
          key === release.key &&
          client !== release.client &&
          beganNs < release.beganNs &&
          endedNs > release.beganNs,
      );
      return next && waited ? [next.endedNs - release.beganNs] : [];
    }),
  );
}

/** From the death of a server that was struck to the first grant of what was asked for after it. One death, so no median. */
export function withoutHolderMs(events: readonly HistoryEvent[]): number | undefined {
  const diedNs = diedAtNs(events);
  if (diedNs === undefined) return undefined;
  const after = grantsIn(events).filter(({ beganNs }) => beganNs >= diedNs);
  if (after.length === 0) return undefined;
  return (Math.min(...after.map(({ endedNs }) => endedNs)) - diedNs) / 1e6;
}

/**
 * How long after the death of a server that was struck another said that it leads, in a newer term: not by `notYetMs`, when it was last
 * asked before, and by `saidMs`.
 */
export function newLeaderMs(
  events: readonly HistoryEvent[],
  observations: readonly Observation[],
): { notYetMs: number; saidMs: number } | undefined {
  const diedNs = diedAtNs(events);
  if (diedNs === undefined) return undefined;
  const roles = observations.flatMap((one) => (one.type === 'role' ? [one] : []));
  const oldTerm = Math.max(...roles.filter(({ atNs }) => atNs <= diedNs).map(({ term }) => term));
  const said = roles.find(({ atNs, role, term }) => atNs > diedNs && role === 'primary' && term > oldTerm);
  if (!said) return undefined;
  const before = roles.findLast(({ atNs, node }) => node === said.node && atNs < said.atNs);
  const sinceMs = (atNs: number) => (atNs - diedNs) / 1e6;
  return { notYetMs: Math.max(0, sinceMs(before?.atNs ?? diedNs)), saidMs: sinceMs(said.atNs) };
}

/** How long after the death of a server that was struck another, which was a replica when it was last looked at, was the primary. */
export function promotedMs(events: readonly HistoryEvent[], observations: readonly Observation[]): number | undefined {
  const diedNs = diedAtNs(events);
  if (diedNs === undefined) return undefined;
  const before = new Map<string, string>();
  for (const one of observations) {
    if (one.type !== 'sample') continue;
    if (one.atNs > diedNs && one.role === 'primary' && before.get(one.node) === 'replica')
      return (one.atNs - diedNs) / 1e6;
    before.set(one.node, one.role);
  }
  return undefined;
}

function diedAtNs(events: readonly HistoryEvent[]): number | undefined {
  const deaths = events.flatMap((event) =>
    event.type === 'fault' && event.state === 'strike'
      ? event.effects.flatMap(({ kind, sinceNs }) => (kind === 'killed' ? [sinceNs ?? event.atNs] : []))
      : [],
  );
  return deaths[0];
}

function grantsIn(events: readonly HistoryEvent[]): Done[] {
  return doneIn(events).filter(({ op, type }) => op === 'acquire' && type === 'ok');
}

function doneIn(events: readonly HistoryEvent[]): Done[] {
  return events.flatMap((event) => {
    if (event.type !== 'ok' && event.type !== 'fail' && event.type !== 'info') return [];
    const { type, op, key, client, beganNs, endedNs } = event;
    return beganNs === undefined || endedNs === undefined ? [] : [{ type, op, key, client, beganNs, endedNs }];
  });
}

function medianMs(timesNs: number[]): number | undefined {
  return timesNs.length < LEAST ? undefined : middle(timesNs.sort((a, b) => a - b)) / 1e6;
}
