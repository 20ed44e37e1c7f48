/** What a server was seen to do, literally: one line each, at a time in seconds. */
import { ServerReading } from '../../../../../../harness/record/facts/commands/server-reading.js';
import type { StoredState } from '../../../../../../harness/record/facts/commands/state.js';

export const KEY = 'lock:0';
/** The server's clock at second 0. */
export const EPOCH_MS = 1_700_000_000_000;

export class Lines {
  readonly reading = new ServerReading({ follows: (key) => key.includes('lock:') });
  private next = 0;
  private at = 0;

  /** One command; words are separated by blanks. */
  cmd(atS: number, client: string | undefined, words: string): this {
    return this.line(atS, client === undefined ? '10.0.0.9:6379' : `10.0.0.${client.slice(1)}:1`, words, client);
  }

  /** Called by the script before. */
  lua(words: string): this {
    return this.line(this.at, 'lua', words);
  }

  evicted(atS: number, key = KEY): this {
    this.reading.evicted(this.place(atS), key);
    return this;
  }

  gap(atS: number): this {
    this.reading.gap(this.place(atS));
    return this;
  }

  /** `stored` undefined: the key is not there. `lookedS`: when, if not when it was read. */
  sample(
    atS: number,
    stored?: { owner: string; pttlMs?: number; type?: 'string' | 'hash' | 'other' },
    {
      runId = 'a',
      role = 'primary',
      exact = true,
      isEmpty = false,
      lookedS = atS,
      betweenMs,
    }: {
      runId?: string;
      role?: 'primary' | 'replica';
      exact?: boolean;
      isEmpty?: boolean;
      lookedS?: number;
      /** Within the millisecond, where that is told. */
      betweenMs?: readonly [number, number];
    } = {},
  ): this {
    const wallMs = EPOCH_MS + lookedS * 1_000;
    const [fromMs = 0, untilMs = 0] = betweenMs ?? [];
    this.reading.sample({
      ...this.place(atS),
      ranFromNs: lookedS * 1e9 - 1e6,
      wall: exact ? { fromMs: wallMs, untilMs: wallMs + 1 } : { fromMs: wallMs - 50, untilMs: wallMs + 20 },
      ...(betweenMs && { between: { fromMs: wallMs + fromMs, untilMs: wallMs + untilMs } }),
      exact,
      role,
      linkUp: true,
      runId,
      isEmpty,
      covers: [KEY],
      keys: stored ? { [KEY]: { pttlMs: 5_000, ...stored } } : {},
    });
    return this;
  }

  end(): this {
    this.reading.end();
    return this;
  }

  get state(): StoredState {
    return this.reading.state(KEY);
  }

  get changes() {
    return this.reading.changes(KEY);
  }

  /** Whether each command of a client did what it was to do. */
  applied(client: string): string[] {
    return this.changes.list.filter(({ by }) => by?.client === client).map(({ applied }) => applied);
  }

  private line(atS: number, source: string, words: string, client?: string): this {
    this.at = atS;
    this.reading.command({
      ...this.place(atS),
      // Read a millisecond after it ran.
      ranFromNs: atS * 1e9,
      atNs: atS * 1e9 + 1e6,
      serverWallMs: EPOCH_MS + atS * 1_000,
      source,
      ...(client !== undefined && { client }),
      argv: words.split(' '),
    });
    return this;
  }

  private place(atS: number) {
    return { line: this.next++, atNs: atS * 1e9 };
  }
}

/** A key that is known not to be there at first. */
export const free = () => new Lines().cmd(0, 'c9', `DEL ${KEY}`);
