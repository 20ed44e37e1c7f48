/**
 * From events in order to a `History`: pairs completions with invokes, and releases with the acquires whose holds they end.
 *
 * It promises that whatever was recorded is in the history: a release by a client that holds nothing too, which is then of
 * no hold. No recorded release says which hold it ended; the latest is named here, and where another may be meant, whoever
 * judges the history has to leave it open (`checkers/linearizability/by-owner/`). What cannot be (a completion without an invoke, a second invoke while the first is open) is an error with its
 * line. A client that goes on after an operation of unknown outcome keeps its name, though Jepsen itself would give it
 * another: tests exist that release on behalf of a process that has crashed, and a new name would make a stranger of it.
 */
import type { History, HistoryEvent } from '../../vocabulary/history.js';
import type { LockMode } from '../../vocabulary/protocol.js';
import { wordsOf } from '../column-table.js';
import { MODE, OP } from '../history-columns.js';
import { HistoryTable } from '../history-table.js';
import { DamagedHistory } from '../shapes.js';
import { type EventColumns, TYPE } from './event-columns.js';
import { type RecordedOwners, recordedOwnersOf } from './owners.js';
import type { RecordedTimes } from './timeline.js';

export interface PairingOptions {
  /** What every acquire was granted for; undefined: not known. */
  leaseMs: number | undefined;
  /** A whole number that an acquire came back with is its token, though nothing says so. */
  bareTokens: boolean;
  /** The field that names the owner; undefined: the process is. */
  owner?: string | undefined;
}

export interface Paired {
  history: History;
  /** Granted acquires that came back with a whole number which nothing calls a token. */
  bareTokens: number;
  notes: string[];
}

/** The key of operations that name none. */
export const ONLY_KEY = 'lock';

/** Throws DamagedHistory. */
export function paired(events: EventColumns, timeline: RecordedTimes, file: string, options: PairingOptions): Paired {
  const owners = recordedOwnersOf(events, timeline.order, options.owner);
  const pairing = new Pairing(events, timeline.atNs, owners, file, options);
  for (let place = 0; place < events.count; place++) pairing.add(timeline.order?.[place] ?? place, place);
  return pairing.finish();
}

/** An operation that has begun. */
interface Open {
  client: Client;
  id: number;
  op: number;
  key: number;
  hold: number | undefined;
  row: number;
}

interface Acquired {
  id: number;
  mode: number;
}

/** Who acquires and releases: as the history's clients are. */
class Client {
  nextId = 0;
  /** By key: acquires that were granted, or may have been, and have not been released; the latest last. */
  readonly held = new Map<number, Acquired[]>();
  /** The row of its latest operation of unknown outcome, and whether it went on after it. */
  unknownRow = -1;
  wentOn = false;

  constructor(readonly name: string) {}

  heldOf(key: number): Acquired[] {
    const known = this.held.get(key);
    if (known) return known;
    const held: Acquired[] = [];
    this.held.set(key, held);
    return held;
  }
}

class Pairing {
  private readonly table = new HistoryTable();
  private readonly clients: Client[];
  /** By process. */
  private readonly open: (Open | undefined)[] = [];
  private bareTokens = 0;

  constructor(
    private readonly events: EventColumns,
    private readonly atNs: Float64Array,
    private readonly owners: RecordedOwners,
    private readonly file: string,
    private readonly options: PairingOptions,
  ) {
    this.clients = owners.names.map((name) => new Client(name));
  }

  /** The event in `row` is the `i`-th of the history. */
  add(row: number, i: number): void {
    this.table.add(this.events.column.type.at(row) === TYPE.invoke ? this.invoke(row, i) : this.complete(row, i));
  }

  finish(): Paired {
    // An owner whom a field names is meant to outlive its processes.
    const goneOn = this.options.owner === undefined ? this.clients.filter(({ wentOn }) => wentOn) : [];
    const notes = goneOn.length === 0 ? [] : [wentOnNote(goneOn, this.events)];
    return { history: this.table.finish(false), bareTokens: this.bareTokens, notes: [...this.owners.notes, ...notes] };
  }

  private invoke(row: number, i: number): HistoryEvent {
    const { events } = this;
    const process = events.column.process.at(row);
    const client = this.clients[this.owners.of[row]!]!;
    if (this.open[process])
      throw this.damaged(
        row,
        `${this.processName(row)} invokes while ${this.openText(this.open[process])} is still open`,
      );
    if (client.unknownRow >= 0) client.wentOn = true;
    const op = events.column.op.at(row);
    const key = events.column.key.at(row);
    const id = client.nextId++;
    const hold = op === OP.release ? holdToRelease(client.heldOf(key), events.column.mode.at(row)) : undefined;
    this.open[process] = { client, id, op, key, hold, row };
    const isAcquire = op === OP.acquire;
    // One literal with every field: with spreads, building the history takes twice as long.
    return {
      i,
      atNs: this.atNs[row]!,
      type: 'invoke',
      client: client.name,
      id,
      op: OP_NAMES[op]!,
      key: this.keyName(key),
      hold,
      leaseMs: isAcquire ? this.options.leaseMs : undefined,
      mode: MODES[events.column.mode.at(row)],
    };
  }

  private complete(row: number, i: number): HistoryEvent {
    const { events } = this;
    const process = events.column.process.at(row);
    const open = this.open[process];
    const type = TYPE_NAMES[events.column.type.at(row)] as 'ok' | 'fail' | 'info';
    if (!open) throw this.damaged(row, `${this.processName(row)} completes ${this.opText(row)}, and has invoked none`);
    const { client } = open;
    const isOther =
      open.op !== events.column.op.at(row) ||
      (events.column.key.at(row) >= 0 && events.column.key.at(row) !== open.key);
    if (isOther)
      throw this.damaged(
        row,
        `${this.processName(row)} completes ${this.opText(row)}, and has invoked ${this.openText(open)}`,
      );
    this.open[process] = undefined;
    if (type === 'info') client.unknownRow = row;
    if (open.op === OP.acquire && type !== 'fail')
      client.heldOf(open.key).push({ id: open.id, mode: events.column.mode.at(open.row) });
    if (open.op === OP.release && type === 'ok') forget(client.heldOf(open.key), open.hold);
    return {
      i,
      atNs: this.atNs[row]!,
      type,
      client: client.name,
      id: open.id,
      op: OP_NAMES[open.op]!,
      key: this.keyName(open.key),
      hold: open.hold,
      reason: events.column.reason.at(row) < 0 ? undefined : events.names.reasons.texts[events.column.reason.at(row)]!,
      token: open.op === OP.acquire && type === 'ok' ? this.tokenOf(open.row, row) : undefined,
    };
  }

  private tokenOf(invokeRow: number, row: number): number | undefined {
    const { token, bareValue } = this.events.column;
    if (!Number.isNaN(token.at(row))) return token.at(row);
    // A Jepsen client hands the value of the invoke back with the completion: that is no token.
    if (Number.isNaN(bareValue.at(row)) || bareValue.at(row) === bareValue.at(invokeRow)) return undefined;
    this.bareTokens++;
    if (!this.options.bareTokens) return undefined;
    if (!Number.isSafeInteger(bareValue.at(row)))
      throw this.damaged(row, `the token ${bareValue.at(row)} is too large to be compared exactly`);
    return bareValue.at(row);
  }

  private processName(row: number): string {
    return this.events.names.processes.texts[this.events.column.process.at(row)]!;
  }

  private keyName(key: number): string {
    return key < 0 ? ONLY_KEY : this.events.names.keys.texts[key]!;
  }

  private opText(row: number): string {
    const { op, key } = this.events.column;
    return `${op.at(row) === OP.acquire ? 'an acquire' : 'a release'}${key.at(row) < 0 ? '' : ` of ${this.keyName(key.at(row))}`}`;
  }

  private openText(open: Open): string {
    return `${this.opText(open.row)} (line ${this.events.column.line.at(open.row)})`;
  }

  private damaged(row: number, problem: string): DamagedHistory {
    return new DamagedHistory(this.file, this.events.column.line.at(row), problem);
  }
}

const [OP_NAMES, TYPE_NAMES] = [wordsOf(OP), wordsOf(TYPE)];
const MODES: readonly (LockMode | undefined)[] = wordsOf(MODE).map((mode) => (mode === 'exclusive' ? undefined : mode));

/** The latest that is still held; of that mode, where the release says one. Other modes than `read` exclude, all alike. */
function holdToRelease(held: readonly Acquired[], mode: number): number | undefined {
  return held.findLast((acquired) => mode === MODE.exclusive || (acquired.mode === MODE.read) === (mode === MODE.read))
    ?.id;
}

function forget(held: Acquired[], id: number | undefined): void {
  const at = held.findLastIndex((acquired) => acquired.id === id);
  if (at >= 0) held.splice(at, 1);
}

function wentOnNote(clients: readonly Client[], events: EventColumns): string {
  const { name, unknownRow } = clients[0]!;
  const others = clients.length === 1 ? '' : ` (and ${clients.length - 1} others)`;
  return `${name}${others} goes on after an operation of unknown outcome (line ${events.column.line.at(unknownRow)}), where Jepsen would number it anew; it is taken for the same owner`;
}
