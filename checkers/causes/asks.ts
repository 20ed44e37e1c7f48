/**
 * What clients asked servers for a key while they were to acquire it, and what each of these requests looked at: an ask.
 *
 * Of all that a client sends during an acquire (it queues, listens, leaves, gives back) an ask is what it sends first, and
 * whatever is like it: the same command, the same script. Every acquire begins by asking, so what most of them send first is
 * how this lock asks.
 *
 * Excludes commands that do not name the key or one that has its name in its own, and what was read so late that its client
 * had gone on to something else.
 */
import { isScript, requestKind } from '../../harness/record/facts/commands/table.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { OP } from '../../harness/record/history-table.js';
import type { CommandObservation, History } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';

export interface Ask {
  /** Line of observations.jsonl. */
  readonly line: number;
  readonly atNs: number;
  readonly node: string;
  readonly client: string;
  /** The row of the acquire that it belongs to. */
  readonly row: number;
  /** What it looked at: commands on keys that belong to the lock's, those of its script, or its own and what followed it. */
  readonly looks: CommandObservation[];
}

/** Which of the run's keys a server's key belongs to: the longest that it has in its name. */
export function runKeyOf(name: string, keys: readonly string[]): string | undefined {
  let longest: string | undefined;
  for (const key of keys)
    if (name.includes(key) && (longest === undefined || key.length > longest.length)) longest = key;
  return longest;
}

/** All asks for the key that servers were seen to carry out between the two instants (ns, both included), in order. */
export function asksOf({ history, observations, config }: CheckInput, key: string, fromNs: number, untilNs: number) {
  const keys = [...new Set([...config.keys, ...history.operations.keys])];
  const isOfKey = (argv: readonly string[]) => argv.slice(1).some((word) => runKeyOf(word, keys) === key);
  const acquireAt = acquiresOf(history, key);
  const requests: (Ask & { kind: string })[] = [];
  const running = new Map<string, Ask>();
  for (const [line, command] of observations.commands(fromNs, untilNs)) {
    const { node, source, client, atNs, argv } = command;
    if (source === 'lua') {
      if (isOfKey(argv)) running.get(node)?.looks.push(command);
      continue;
    }
    running.delete(node);
    if (client === undefined || !isOfKey(argv)) continue;
    const row = acquireAt(client, atNs);
    if (row === undefined) continue;
    const name = argv[0]!.toUpperCase();
    const script = isScript(name);
    const ask = { line, atNs, node, client, row, looks: script ? [] : [command] };
    requests.push({ ...ask, kind: requestKind(argv) });
    if (script) running.set(node, ask);
  }
  return onlyAsks(requests);
}

/** Drops what is not how this lock asks; what followed an ask that is no script says what it looked at, too. */
function onlyAsks(requests: readonly (Ask & { kind: string })[]): Ask[] {
  const firsts = new Map<number, string>();
  for (const { row, kind } of requests) if (!firsts.has(row)) firsts.set(row, kind);
  const counts = new Map<string, number>();
  for (const kind of firsts.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const [asking] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
  const asks: Ask[] = [];
  const last = new Map<string, Ask>();
  for (const { kind, ...request } of requests) {
    const of = `${request.node} ${request.row}`;
    if (kind === asking) {
      asks.push(request);
      last.set(of, request);
    } else last.get(of)?.looks.push(...request.looks);
  }
  return asks;
}

/** The acquire of the key that a client was in the midst of. */
export function acquiresOf(history: History, key: string): (client: string, atNs: number) => number | undefined {
  const { operations: ops } = history;
  const { callNs } = intervalsOf(history);
  const rows = new Map<string, number[]>();
  for (let row = 0; row < ops.count; row++) {
    const client = ops.clients[ops.client[row]!]!;
    const known = rows.get(client);
    if (known) known.push(row);
    else rows.set(client, [row]);
  }
  return (client, atNs) => {
    const own = rows.get(client) ?? [];
    const row = own[firstIndex(own.length, (at) => callNs[own[at]!]! > atNs) - 1];
    return row !== undefined && ops.op[row] === OP.acquire && ops.keys[ops.key[row]!] === key ? row : undefined;
  };
}
