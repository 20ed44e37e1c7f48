/**
 * Writes `history.jsonl` and `observations.jsonl` as the run goes.
 *
 * Every line is handed to the kernel before `record` returns, so whatever kills the harness, what it had recorded can
 * be checked; at worst the last line is torn. Nothing is kept in memory.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, HistoryBody, HistoryEvent, Observation } from './api.js';

export type HistoryListener = (event: HistoryEvent) => void;

/** The append-only history of one run. Listeners hear of an event once it is on its way to the disk. */
export class Recorder {
  private readonly historyFd: number;
  private readonly observationsFd: number;
  private readonly listeners = new Set<HistoryListener>();
  private next = 0;
  private closed = false;

  constructor(
    folder: string,
    private readonly clock: Clock,
  ) {
    this.historyFd = openSync(join(folder, 'history.jsonl'), 'wx');
    this.observationsFd = openSync(join(folder, 'observations.jsonl'), 'wx');
  }

  /** Appends an event, stamped now unless `atNs` says otherwise. */
  record(body: HistoryBody, atNs = this.clock.nowNs()): HistoryEvent {
    if (this.closed) throw new Error(`recorded after the history was closed: ${JSON.stringify(body)}`);
    const event: HistoryEvent = { i: this.next++, atNs, ...body };
    writeSync(this.historyFd, `${JSON.stringify(event)}\n`);
    for (const listener of [...this.listeners]) listener(event);
    return event;
  }

  /** Appends what a server believed. Ignored once closed: a server's last words may come late. */
  observe(observation: Observation): void {
    if (this.closed) return;
    writeSync(this.observationsFd, `${JSON.stringify(observation)}\n`);
  }

  subscribe(listener: HistoryListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.closed = true;
    closeSync(this.historyFd);
    closeSync(this.observationsFd);
  }
}
