/** What a lock cost in a run, by the stamps of its clients: milliseconds, medians of what there was; undefined: too little of it. */
import { middle } from '../cli/docs/costs.js';
import type { HistoryEvent } from '../harness/vocabulary/history.js';

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
  const deaths = events.flatMap((event) =>
    event.type === 'fault' && event.state === 'strike'
      ? event.effects.flatMap(({ kind, sinceNs }) => (kind === 'killed' ? [sinceNs ?? event.atNs] : []))
      : [],
  );
  const [diedNs] = deaths;
  if (diedNs === undefined) return undefined;
  const after = grantsIn(events).filter(({ beganNs }) => beganNs >= diedNs);
  if (after.length === 0) return undefined;
  return (Math.min(...after.map(({ endedNs }) => endedNs)) - diedNs) / 1e6;
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
