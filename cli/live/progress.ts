/** Progress while a run goes on: plain lines for people, or one JSON object a line for machines. */

import { isOwnEnd } from '../../harness/record/facts/own-end.js';
import { plural } from '../../harness/record/facts/words.js';
import { visible } from '../../harness/record/schemas/foreign-text.js';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';
import type { SpansReconnect } from '../../harness/vocabulary/protocol.js';

export interface Progress {
  say(line: string): void;
  event(event: HistoryEvent): void;
}

const EVERY_NS = 5e9;

/** `write` gets whole lines without their end. What locks and clients said is made harmless for a terminal. */
export function createProgress(json: boolean, write: (line: string) => void): Progress {
  const counts = { ok: 0, fail: 0, info: 0, grants: 0, faults: 0 };
  const lineOf = eventLines();
  let lastNs = 0;
  const say = (line: string) => write(json ? JSON.stringify({ type: 'progress', line }) : visible(line));
  return {
    say,
    event(event) {
      if (event.type === 'ok' || event.type === 'fail' || event.type === 'info') {
        counts[event.type]++;
        if (event.type === 'ok' && event.op === 'acquire') counts.grants++;
      }
      if (event.type === 'fault') {
        if (event.state === 'strike') counts.faults++;
        if (json) write(JSON.stringify(event));
      }
      const line = json ? undefined : lineOf(event);
      if (line !== undefined) say(line);
      if (event.atNs - lastNs > EVERY_NS) {
        lastNs = event.atNs;
        if (json) write(JSON.stringify({ type: 'progress', atMs: Math.round(event.atNs / 1e6), ...counts }));
        else say(stamped(event.atNs, countsLine(counts)));
      }
    },
  };
}

/**
 * The lines for people about the events of one run that are worth one. A client's process ends with each request whose outcome is not
 * known: that is told when another one is in its place.
 */
export function eventLines(): (event: HistoryEvent) => string | undefined {
  const slots = new Map<string, string>();
  /** Whom nothing has followed yet, by slot. */
  const ended = new Map<string, { client: string; why: string }>();
  return (event) => {
    if (event.type === 'fault') return stamped(event.atNs, faultLine(event));
    if (event.type === 'phase') return stamped(event.atNs, event.phase);
    if (event.type === 'client-down') {
      const { client, reason, broke } = event;
      if (broke !== undefined || isOwnEnd(reason)) return stamped(event.atNs, `${client} ended: ${reason}`);
      ended.set(slots.get(client) ?? client, { client, why: whyItEnded(reason) });
      return undefined;
    }
    if (event.type !== 'client-up') return undefined;
    const { client, slot } = event;
    const before = ended.get(slot);
    ended.delete(slot);
    slots.set(client, slot);
    return before && stamped(event.atNs, `${before.client} restarts as ${client}: ${before.why}`);
  };
}

/** What a reason means, in words; the libraries' own are in brackets. */
function whyItEnded(reason: string): string {
  if (reason === 'killed by the nemesis') return 'a fault had killed it';
  if (reason === ('reconnect' satisfies SpansReconnect) || LOST.test(reason)) return 'its connection was lost';
  if (UNANSWERED.test(reason)) return `a request got no answer (${reason})`;
  return `a request failed, and nobody knows whether a server carried it out (${reason})`;
}

const LOST = /connection is closed|socket closed|ECONNRESET|EPIPE/i;
const UNANSWERED = /timed? ?out|timeout|no answer/i;

function countsLine({ grants, fail, info }: { grants: number; fail: number; info: number }): string {
  return `${plural(grants, 'grant')}, ${plural(fail, 'refusal')}, ${plural(info, 'unknown outcome')}`;
}

/** With the run's own clock before it. */
export function stamped(atNs: number, text: string): string {
  return `${(atNs / 1e9).toFixed(1).padStart(6)} s  ${text}`;
}

function faultLine(event: Extract<HistoryEvent, { type: 'fault' }>): string {
  const what = `${event.fault} ${event.targets.join(', ')}`.trim();
  // By no fault's doing: a client that stopped itself at a step of its lock, and goes on.
  if (event.state === 'heal' && event.step < 0) return `         ${event.did}`;
  if (event.state === 'heal') return `healed   ${what}`;
  if (event.state === 'strike') return `struck   ${what}: ${event.did}`;
  if (event.state === 'phase') return `         ${what}: ${event.did}`;
  return `${event.state.padEnd(8)} ${what}: ${event.did}${event.proof ? ` (${event.proof})` : ''}`;
}
