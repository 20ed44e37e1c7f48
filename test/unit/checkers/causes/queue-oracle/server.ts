/**
 * One server with a lock and the queue of those who wait for it, as scripts of a fair lock see them; what is known of each
 * entry that it had, and what is recorded of it. It shares no code with what reads the record.
 */
import { EPOCH_WALL_MS, MS, type Simulation } from '../oracle/simulation.js';

export const KEY = 'lock:0';
export const QUEUE = `{${KEY}}:queue`;

/** What a lock that does not remove its key stores in it when it is given back. */
export const FREE = 'free';

/** A grant as it is stored, or a place in the queue. */
export interface Entry {
  readonly name: string;
  readonly client: string;
  /** The acquire that it was stored in. */
  readonly acquire: number;
  readonly storedNs: number;
  readonly storedWallMs: number;
  /** By the server's clock; Infinity: it stays. Of a grant. */
  expiresMs: number;
  /** What it was first given. */
  readonly ttlMs: number;
  readonly prolonged: { by: string; ns: number }[];
  /** When its client last asked in this place, by the server's clock. */
  shownWallMs: number;
  /** `by`: the client whose command removed it. */
  gone?: { ns: number; wallMs: number; by: string | undefined; isForgotten?: true };
}

/** What stood in the way of a request that was refused. */
export interface Refusal {
  readonly ns: number;
  readonly lock: Entry | undefined;
  /** The first in the queue, if that is another's place. */
  readonly head: Entry | undefined;
}

/** How commands get into the record. */
export interface Recorder {
  command(source: string, client: string | undefined, argv: string[], wallMs: number): void;
  died(): void;
  started(): void;
}

export interface Asked {
  /** Of its place in the queue: the lowest is the first. */
  score: number;
  client: string;
  source: string;
  acquire: number;
  place: string;
}

export class Server {
  lock: Entry | undefined;
  queue: (Entry & { score: number })[] = [];
  /** The key is there, and says that nobody holds. */
  isMarkedFree = false;
  runId = 'run-1';
  /** It is not there: whoever asks is refused, and nothing is carried out. */
  isDown = false;
  private offsetMs = 0;
  readonly refusals: Refusal[] = [];
  readonly grants: Entry[] = [];
  readonly places: Entry[] = [];

  constructor(
    private readonly sim: Simulation,
    private readonly recorder: Recorder,
  ) {}

  wallMs(): number {
    return EPOCH_WALL_MS + this.sim.nowNs / MS + this.offsetMs;
  }

  get aheadMs(): number {
    return this.offsetMs;
  }

  jump(byMs: number): void {
    this.offsetMs += byMs;
  }

  restart(): void {
    if (this.isDown) return;
    this.expire();
    if (this.lock) this.end(this.lock, undefined);
    for (const place of this.queue) {
      this.end(place, undefined);
      place.gone!.isForgotten = true;
    }
    this.lock = undefined;
    this.queue = [];
    this.isMarkedFree = false;
    this.runId = `${this.runId}+`;
    this.isDown = true;
    this.recorder.died();
    this.sim.after(3, () => {
      this.isDown = false;
      this.recorder.started();
    });
  }

  /** A script that queues its client where it is not queued, and grants it the lock when that is free and it is the first. */
  ask(
    by: Asked,
    ttlMs: number | undefined,
    { prolongs = false, sweepsAfterMs = Number.POSITIVE_INFINITY, marksFree = false },
  ): boolean {
    if (this.isDown) return false;
    this.show(by, ['EVALSHA', 'ask', '2', KEY, QUEUE, by.place, String(ttlMs ?? 0)]);
    this.expire();
    this.inner(['zadd', QUEUE, String(by.score), by.place]);
    const own = this.queue.find(({ name }) => name === by.place);
    if (own) own.shownWallMs = this.wallMs();
    else this.enter(by);
    this.inner(['zrange', QUEUE, '0', '0']);
    const [head] = this.queue;
    if (head && head.name !== by.place && this.wallMs() - head.shownWallMs > sweepsAfterMs) {
      this.inner(['zrem', QUEUE, head.name]);
      this.leave(head, by.client);
    }
    this.inner([marksFree ? 'get' : 'exists', KEY]);
    if (this.lock && prolongs && ttlMs !== undefined) {
      this.inner(['pexpire', KEY, String(ttlMs)]);
      this.prolong(by.client, ttlMs);
    }
    const [first] = this.queue;
    if (this.lock || first?.name !== by.place) {
      const isOther = first !== undefined && first.name !== by.place;
      this.refusals.push({ ns: this.sim.nowNs, lock: this.lock, head: isOther ? first : undefined });
      return false;
    }
    this.inner(['zrem', QUEUE, by.place]);
    this.leave(first, by.client);
    this.store(by, ttlMs);
    return true;
  }

  /** A script that looks only whether the lock is free. */
  jumpIn(by: Asked, ttlMs: number | undefined): boolean {
    if (this.isDown) return false;
    this.show(by, ['EVALSHA', 'jump', '1', KEY, by.place, String(ttlMs ?? 0)]);
    this.expire();
    this.inner(['exists', KEY]);
    if (this.lock) {
      this.refusals.push({ ns: this.sim.nowNs, lock: this.lock, head: undefined });
      return false;
    }
    this.store(by, ttlMs);
    return true;
  }

  giveUp(by: Asked): void {
    if (this.isDown) return;
    this.show(by, ['ZREM', QUEUE, by.place]);
    const own = this.queue.find(({ name }) => name === by.place);
    if (own) this.leave(own, by.client);
  }

  release(by: Asked, marksFree = false): boolean {
    if (this.isDown) return false;
    this.show(by, ['EVALSHA', 'release', '1', KEY, by.place]);
    this.expire();
    this.inner(['get', KEY]);
    if (this.lock?.name !== by.place) return false;
    this.inner(marksFree ? ['set', KEY, FREE] : ['del', KEY]);
    this.isMarkedFree = marksFree;
    this.end(this.lock, by.client);
    this.lock = undefined;
    return true;
  }

  renew(by: Asked, ttlMs: number): void {
    if (this.isDown) return;
    this.show(by, ['EVALSHA', 'renew', '1', KEY, by.place, String(ttlMs)]);
    this.expire();
    this.inner(['get', KEY]);
    if (this.lock?.name !== by.place) return;
    this.inner(['pexpire', KEY, String(ttlMs)]);
    this.prolong(by.client, ttlMs);
  }

  /** Somebody else, who is no lock client. */
  meddle(): void {
    if (this.isDown) return;
    const [head] = this.queue;
    if (!head) return;
    this.recorder.command('10.77.0.99:51000', undefined, ['ZREM', QUEUE, head.name], this.wallMs());
    this.leave(head, undefined);
  }

  expire(): void {
    if (!this.lock || Math.floor(this.wallMs()) <= this.lock.expiresMs) return;
    this.end(this.lock, undefined);
    this.lock = undefined;
  }

  private enter(by: Asked): void {
    const place = { ...this.entry(by, undefined), score: by.score };
    this.queue.push(place);
    this.queue.sort((a, b) => a.score - b.score);
    this.places.push(place);
  }

  private store(by: Asked, ttlMs: number | undefined): void {
    this.inner(['set', KEY, by.place, ...(ttlMs === undefined ? [] : ['PX', String(ttlMs)])]);
    this.lock = this.entry(by, ttlMs);
    this.isMarkedFree = false;
    this.grants.push(this.lock);
  }

  private entry({ client, acquire, place }: Asked, ttlMs: number | undefined): Entry {
    const wallMs = this.wallMs();
    return {
      name: place,
      client,
      acquire,
      storedNs: this.sim.nowNs,
      storedWallMs: wallMs,
      expiresMs: ttlMs === undefined ? Number.POSITIVE_INFINITY : Math.floor(wallMs) + ttlMs,
      ttlMs: ttlMs ?? Number.POSITIVE_INFINITY,
      prolonged: [],
      shownWallMs: wallMs,
    };
  }

  private prolong(by: string, ttlMs: number): void {
    const { lock } = this;
    if (!lock) return;
    lock.prolonged.push({ by, ns: this.sim.nowNs });
    lock.expiresMs = Math.floor(this.wallMs()) + ttlMs;
  }

  private leave(place: Entry, by: string | undefined): void {
    this.queue = this.queue.filter((one) => one !== place);
    this.end(place, by);
  }

  private end(entry: Entry, by: string | undefined): void {
    entry.gone = { ns: this.sim.nowNs, wallMs: this.wallMs(), by };
  }

  private show({ source, client }: Asked, argv: string[]): void {
    this.recorder.command(source, client, argv, this.wallMs());
  }

  private inner(argv: string[]): void {
    this.recorder.command('lua', undefined, argv, this.wallMs());
  }
}
