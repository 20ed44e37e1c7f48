/** Progress while a run goes on: plain lines for people, or one JSON object a line for machines. */
import type { HistoryEvent } from '../api.js';

export interface Progress {
  say(line: string): void;
  event(event: HistoryEvent): void;
}

const EVERY_NS = 5e9;

/** `write` gets whole lines without their end. */
export function createProgress(json: boolean, write: (line: string) => void): Progress {
  const counts = { ok: 0, fail: 0, info: 0, grants: 0, faults: 0 };
  let lastNs = 0;
  const say = (line: string) => write(json ? JSON.stringify({ type: 'progress', line }) : line);
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
        else write(`${seconds(event.atNs)}  ${faultLine(event)}`);
      }
      if (event.type === 'phase' && !json) write(`${seconds(event.atNs)}  ${event.phase}`);
      if (event.type === 'client-down' && !json)
        write(`${seconds(event.atNs)}  ${event.client} is gone: ${event.reason}`);
      if (event.atNs - lastNs > EVERY_NS) {
        lastNs = event.atNs;
        if (json) write(JSON.stringify({ type: 'progress', atMs: Math.round(event.atNs / 1e6), ...counts }));
        else write(`${seconds(event.atNs)}  ${counts.grants} grants, ${counts.fail} refusals, ${counts.info} unknown`);
      }
    },
  };
}

function seconds(atNs: number): string {
  return `${(atNs / 1e9).toFixed(1).padStart(6)} s`;
}

function faultLine(event: Extract<HistoryEvent, { type: 'fault' }>): string {
  const what = `${event.fault} ${event.targets.join(', ')}`.trim();
  if (event.state === 'heal') return `healed   ${what}`;
  if (event.state === 'strike') return `struck   ${what}: ${event.did}`;
  if (event.state === 'phase') return `         ${what}: ${event.did}`;
  return `${event.state.padEnd(8)} ${what}: ${event.did}${event.proof ? ` (${event.proof})` : ''}`;
}
