/**
 * Writes `history.jsonl` and `observations.jsonl` as the run goes.
 *
 * Every line is handed to the kernel before `record` returns, so whatever kills the harness, what it had recorded can
 * be checked; at worst the last line is torn. Nothing is kept in memory.
 *
 * A disk that takes no more ends the run, not the record: a line goes down whole or not at all, a reserve (see `store.ts`)
 * takes the events of the run's end, and should even that be used up, nothing is written any more. What stands on the disk
 * is then the beginning of what happened, without a hole.
 */
import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { HistoryBody, HistoryEvent, Observation } from '../vocabulary/history.js';
import type { Clock } from '../vocabulary/time.js';
import { asStoreError, DISK_REMEDY, diskTrouble, giveBackForRecord, giveBackReserve, takeReserve } from './store.js';

export type HistoryListener = (event: HistoryEvent) => void;

/** The append-only history of one run. Listeners hear of an event once it is on its way to the disk. */
export class Recorder {
  private readonly history: Lines;
  private readonly observations: Lines;
  private readonly listeners = new Set<HistoryListener>();
  private readonly observed = new Set<string>();
  private readonly troubled = new AbortController();
  private next = 0;
  private closed = false;

  /** `atOnce`: false where nobody needs the record of a run that was killed; then it is written when it is closed. */
  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
    { atOnce }: { atOnce: boolean } = { atOnce: true },
  ) {
    try {
      if (atOnce) takeReserve(folder);
      const fileOf = (name: string) => (atOnce ? new LineFile(join(folder, name)) : new HeldLines(join(folder, name)));
      this.history = fileOf('history.jsonl');
      this.observations = fileOf('observations.jsonl');
    } catch (error) {
      throw asStoreError(error);
    }
  }

  /** Aborts once something could not be written, with what happened and the remedy as its reason: the run must end. */
  get trouble(): AbortSignal {
    return this.troubled.signal;
  }

  /** Appends an event, stamped now unless `atNs` says otherwise. */
  record(body: HistoryBody, atNs = this.clock.nowNs()): HistoryEvent {
    if (this.closed) throw new Error(`recorded after the history was closed: ${JSON.stringify(body)}`);
    const event: HistoryEvent = { i: this.next++, atNs, ...body };
    const failure = this.history.append(event);
    if (failure && !this.trouble.aborted) {
      giveBackForRecord(this.folder);
      this.history.retry(event);
      this.tell(failure);
    }
    for (const listener of [...this.listeners]) listener(event);
    return event;
  }

  /** Appends what a server believed. Ignored once closed (a server's last words may come late) or in trouble. */
  observe(observation: Observation): void {
    if (this.closed || this.trouble.aborted) return;
    this.observed.add(observation.node);
    const failure = this.observations.append(observation);
    if (!failure) return;
    giveBackForRecord(this.folder);
    this.tell(failure);
  }

  subscribe(listener: HistoryListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Ends the record; its last event says how much was observed. */
  close(): void {
    this.record({ type: 'closed', observations: this.observations.lines });
    this.closed = true;
    this.history.close();
    this.observations.close();
    giveBackReserve(this.folder);
  }

  /** Nothing is observed any more, and it must not look as if nothing had happened; then everybody hears of it. */
  private tell(failure: Error): void {
    const atNs = this.clock.nowNs();
    const what = diskTrouble(failure) ?? failure.message;
    const reason = `${what} at ${(atNs / 1e9).toFixed(3)} s, and the run was ended there; ${DISK_REMEDY}`;
    for (const node of this.observed) this.observations.retry({ atNs, node, type: 'watch', watching: false, reason });
    const body: HistoryBody = {
      type: 'fault',
      step: -1,
      fault: 'disk',
      state: 'failed',
      targets: [],
      did: 'could not write what happened',
      proof: reason,
      effects: [],
      mishap: 'disk',
    };
    this.history.append({ i: this.next++, atNs, ...body });
    this.troubled.abort(reason);
  }
}

interface Lines {
  /** How many there are, whole. */
  readonly lines: number;
  /** What went wrong, if anything did. */
  append(value: object): Error | undefined;
  /** Appends, once more, the line that could not be written. */
  retry(value: object): void;
  close(): void;
}

/** JSON lines that become a file when it is closed; throws then what cannot be written. */
class HeldLines implements Lines {
  private readonly held: string[] = [];

  constructor(private readonly path: string) {}

  get lines(): number {
    return this.held.length;
  }

  append(value: object): undefined {
    this.held.push(`${JSON.stringify(value)}\n`);
  }

  retry(value: object): void {
    this.append(value);
  }

  close(): void {
    writeFileSync(this.path, this.held.join(''), { flag: 'ax' });
  }
}

/** A file of JSON lines, each of which is in it whole or not at all. */
class LineFile implements Lines {
  /** How many are in it, whole. */
  lines = 0;
  private readonly fd: number;
  private size = 0;
  /** A line is missing: what follows it must not be written. */
  private ended = false;
  private torn = false;

  constructor(path: string) {
    this.fd = openSync(path, 'ax');
  }

  append(value: object): Error | undefined {
    if (this.ended) return undefined;
    const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
    let written = 0;
    try {
      // A disk that is nearly full takes a part of the line, and says so only when it is given the rest.
      while (written < bytes.length) written += writeSync(this.fd, bytes, written);
      this.size += written;
      this.lines++;
      return undefined;
    } catch (error) {
      this.ended = true;
      this.torn = written > 0 && !this.untear();
      return error as Error;
    }
  }

  retry(value: object): void {
    this.ended = this.torn;
    this.append(value);
  }

  close(): void {
    closeSync(this.fd);
  }

  /** Takes the beginning of a line away again; a reader forgives a torn last line, but nothing may follow it. */
  private untear(): boolean {
    try {
      ftruncateSync(this.fd, this.size);
      return true;
    } catch {
      return false;
    }
  }
}
