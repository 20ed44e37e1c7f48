/**
 * A recorded run's acquires and releases as Jepsen writes a history: for Knossos, Porcupine, or whoever else decides one. What only
 * this project knows of (leases, renewals, losses) is not in it, so it is to be decided strictly.
 */
import { callsAndReturns, intervalsOf, isReturn, rowOf } from '../../harness/record/facts/intervals.js';
import { MODE, OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';

export const EXPORT_FORMATS = ['edn', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** After the options of `export --help`. */
export const EXPORT_HELP = `
Acquires and releases with their processes, keys, outcomes and times. Leases, renewals and losses are not in it: other checkers know
none, and decide it strictly. A run that is HELD may be invalid so, where a lease ended or a client died.

Examples:
  npm run torture -- export latest > history.edn
  npm run torture -- export latest --format jsonl --key lock:0 > history.jsonl
  npm run torture -- check history.edn                   decided by this tool, as whoever else decides it
`;

export interface ExportedEvent {
  type: 'invoke' | 'ok' | 'fail' | 'info';
  f: 'acquire' | 'release';
  /** One number for each process that held locks: a client that came up again has another. */
  process: number;
  /** The process's name in the run. */
  client: string;
  key: string;
  value: null;
  mode?: 'read' | 'write';
  /** Why it failed, or is not known. */
  error?: string;
  /** Fencing token of a grant. */
  token?: number;
  /** Nanoseconds since the run began: a client's own stamps where they can be true, else the harness's. */
  time: number;
  index: number;
}

const TYPES = { [OUTCOME.ok]: 'ok', [OUTCOME.fail]: 'fail', [OUTCOME.info]: 'info' } as const;

/** In the order of time. */
export function* exportedEvents(history: History, key?: string): Generator<ExportedEvent> {
  const { operations: ops } = history;
  const intervals = intervalsOf(history);
  const { callNs, returnNs } = intervals;
  const rows: number[] = [];
  for (let row = 0; row < ops.count; row++) {
    const isLockOp = ops.op[row] === OP.acquire || ops.op[row] === OP.release;
    if (isLockOp && (key === undefined || ops.keys[ops.key[row]!] === key)) rows.push(row);
  }
  let index = 0;
  for (const event of callsAndReturns(rows, (row) => Number.isFinite(returnNs[row]!), intervals)) {
    const row = rowOf(event);
    const isAnswer = isReturn(event);
    const reason = ops.reasons[ops.reason[row]!];
    yield {
      type: isAnswer ? (TYPES[ops.outcome[row] as keyof typeof TYPES] ?? 'info') : 'invoke',
      f: ops.op[row] === OP.acquire ? 'acquire' : 'release',
      process: ops.client[row]!,
      client: ops.clients[ops.client[row]!]!,
      key: ops.keys[ops.key[row]!]!,
      value: null,
      ...(ops.mode[row] !== MODE.exclusive && { mode: ops.mode[row] === MODE.read ? 'read' : 'write' }),
      ...(isAnswer && reason !== undefined && { error: reason }),
      ...(isAnswer && !Number.isNaN(ops.token[row]) && { token: ops.token[row]! }),
      time: (isAnswer ? returnNs : callNs)[row]!,
      index: index++,
    };
  }
}

/** One event a line. */
export function exportedLine(event: ExportedEvent, format: ExportFormat): string {
  if (format === 'jsonl') return `${JSON.stringify(event)}\n`;
  return `{${Object.entries(event)
    .map(([name, value]) => `:${name} ${ednOf(name, value)}`)
    .join(', ')}}\n`;
}

/** What are words of Jepsen's are keywords; a text has JSON's escapes, which are EDN's too. */
function ednOf(name: string, value: string | number | null): string {
  if (value === null) return 'nil';
  if (typeof value === 'number') return String(value);
  return ['type', 'f', 'mode'].includes(name) ? `:${value}` : JSON.stringify(value);
}
