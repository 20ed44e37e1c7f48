/** Progress while a run goes on: plain lines for people, or one JSON object a line for machines. */

import { visible } from '../../harness/record/schemas/foreign-text.js';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';

export interface Progress {
  say(line: string): void;
  event(event: HistoryEvent): void;
}

const EVERY_NS = 5e9;

/** `write` gets whole lines without their end. What locks and clients said is made harmless for a terminal. */
export function createProgress(json: boolean, write: (line: string) => void): Progress {
  const counts = { ok: 0, fail: 0, info: 0, grants: 0, faults: 0 };
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
      const line = json ? undefined : eventLine(event);
      if (line !== undefined) say(line);
      if (event.atNs - lastNs > EVERY_NS) {
        lastNs = event.atNs;
        if (json) write(JSON.stringify({ type: 'progress', atMs: Math.round(event.atNs / 1e6), ...counts }));
        else say(stamped(event.atNs, `${counts.grants} grants, ${counts.fail} refusals, ${counts.info} unknown`));
      }
    },
  };
}

/** The line for people about an event that is worth one. */
export function eventLine(event: HistoryEvent): string | undefined {
  if (event.type === 'fault') return stamped(event.atNs, faultLine(event));
  if (event.type === 'phase') return stamped(event.atNs, event.phase);
  if (event.type === 'client-down') return stamped(event.atNs, `${event.client} is gone: ${event.reason}`);
  return undefined;
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
