/** Who owned the keys of one node: by its commands, in its own order, and put right by every sample. */
import type { Change } from '../../harness/record/facts/commands/changes.js';
import { ServerReading } from '../../harness/record/facts/commands/server-reading.js';
import type { StoredState } from '../../harness/record/facts/commands/state.js';
import type { Observation } from '../../harness/vocabulary/history.js';

export interface OwnerSpan {
  fromNs: number;
  untilNs: number;
  /** What is stored. */
  value: string;
  /** The client that the value, or the command that stored it, belongs to; absent: unknown. */
  client?: string;
  line: number;
  /** A command places the moment exactly; a sample only says that by then it was so. */
  shownBy: 'command' | 'sample';
  /** When the key was to expire, as last seen; Infinity: never. */
  expiresNs: number;
}

type Line<T extends Observation['type']> = Extract<Observation, { type: T }> & { line: number };
export type AnyLine = { [T in Observation['type']]: Line<T> }[Observation['type']];

/** A sample was taken somewhat before it was stamped, so it does not overrule a command of the last moments. */
const SAMPLE_LAG_NS = 20e6;

interface Owned {
  value: string;
  client?: string;
  fromNs: number;
  expiresNs: number;
  line: number;
  shownBy: 'command' | 'sample';
}

/** The keys of one node: commands applied in the server's order, put right by every sample. */
export class Owners {
  private readonly now = new Map<string, Owned>();
  private readonly reading = new ServerReading({ follows: () => true });
  private readonly lastCommandNs = new Map<string, number>();

  constructor(
    private readonly authors: ReadonlyMap<string, string | undefined>,
    private readonly spans: Map<string, OwnerSpan[]>,
  ) {}

  command(one: Line<'command'>): void {
    this.reading.command(one);
    const named = WHOLE_DATABASES.has(one.argv[0]?.toUpperCase() ?? '')
      ? this.reading.keys()
      : new Set(one.argv.slice(1));
    for (const key of named) for (const change of this.reading.takeChanges(key)) this.changed(key, change, one);
  }

  private changed(key: string, { how, after, applied, wanted }: Change, one: Line<'command'>): void {
    this.expire(key, one.atNs);
    if (how !== 'command') return;
    this.lastCommandNs.set(key, one.atNs);
    // Nothing is known of what was there before; where no sample showed anything it was taken.
    const state = applied === 'unknown' && wanted && !this.now.has(key) ? wanted : after;
    if (state.exists === 'no') this.end(key, one.atNs);
    const stored = shownAs(state);
    if (stored === undefined) return;
    const { fromMs, untilMs } = state.expires;
    // A time that is counted from when the command ran is known to the millisecond after it.
    const atMs = fromMs === untilMs ? untilMs : untilMs - 1;
    const expiresNs = one.atNs + (atMs - Math.floor(one.serverWallMs)) * 1e6;
    const owned = this.now.get(key);
    if (owned?.value === stored.value) owned.expiresNs = expiresNs;
    else this.own(key, { ...stored, ...from(one), expiresNs });
  }

  /** Ends a key that the server threw away; tells whose it was. */
  evicted({ key, atNs, line }: Line<'evicted'>): string | undefined {
    const owner = this.now.get(key)?.client;
    this.reading.evicted({ line, atNs }, key);
    this.reading.takeChanges(key);
    this.lastCommandNs.set(key, atNs);
    this.end(key, atNs);
    return owner;
  }

  /** What a service says that it has stored. */
  stored(one: Line<'stored'>): void {
    const { key, owner, client } = one;
    // Prolonged only.
    if (owner !== undefined && this.now.get(key)?.value === owner) return;
    this.end(key, one.atNs);
    if (owner === undefined) return;
    this.own(key, { value: owner, ...(client !== undefined && { client }), ...from(one), expiresNs: Infinity });
  }

  sample(one: Line<'sample'>): void {
    const recent = (key: string) => one.atNs - (this.lastCommandNs.get(key) ?? -Infinity) < SAMPLE_LAG_NS;
    for (const key of [...this.now.keys()]) {
      // The sample knows better than the PX of the command whether a key is still there.
      const sampled = one.keys[key];
      if ((sampled === undefined || isGone(sampled)) && !recent(key)) {
        this.expire(key, one.atNs);
        this.end(key, one.atNs);
      }
    }
    for (const [key, sampled] of Object.entries(one.keys)) {
      if (isGone(sampled)) continue;
      const { owner, pttlMs } = sampled;
      const expiresNs = pttlMs < 0 ? Infinity : one.atNs + pttlMs * 1e6;
      const owned = this.now.get(key);
      if (owned?.value === owner) owned.expiresNs = expiresNs;
      else if (!recent(key)) this.own(key, { value: owner, ...from(one), expiresNs });
    }
  }

  /** From here on nothing is known of any key. */
  forget(atNs: number): void {
    this.reading.gap({ line: 0, atNs });
    for (const key of this.reading.keys()) this.reading.takeChanges(key);
    for (const key of [...this.now.keys()]) {
      this.expire(key, atNs);
      this.end(key, atNs);
    }
  }

  private own(key: string, owned: Owned): void {
    this.end(key, owned.fromNs);
    this.now.set(key, { ...owned, client: owned.client ?? this.author(owned.value) });
  }

  /** Ends a key whose expiry has passed, at its expiry. */
  private expire(key: string, atNs: number): void {
    const owned = this.now.get(key);
    if (owned !== undefined && owned.expiresNs <= atNs) this.end(key, owned.expiresNs);
  }

  private end(key: string, atNs: number): void {
    const owned = this.now.get(key);
    if (owned === undefined) return;
    this.now.delete(key);
    const untilNs = Math.max(owned.fromNs, atNs);
    const list = this.spans.get(key) ?? [];
    list.push({ ...owned, untilNs });
    this.spans.set(key, list);
  }

  private author(value: string): string | undefined {
    return (
      this.authors.get(value) ??
      hashFields(value)
        .map((field) => this.authors.get(field))
        .find((one) => one)
    );
  }
}

/** It was read, and had expired before its time to live was: -2 says so, where -1 says that it never expires. */
function isGone({ pttlMs }: { pttlMs: number }): boolean {
  return pttlMs < -1;
}

function from(one: AnyLine): { fromNs: number; line: number; shownBy: 'command' | 'sample' } {
  return { fromNs: one.atNs, line: one.line, shownBy: one.type === 'sample' ? 'sample' : 'command' };
}

/** They concern keys that they do not name. */
const WHOLE_DATABASES = new Set(['FLUSHALL', 'FLUSHDB', 'SWAPDB']);

/** What is stored, as a sample would show it; undefined: not known, or nothing that a drawing shows. */
function shownAs({ held }: StoredState): { value: string; client?: string } | undefined {
  if (held?.type === 'string' && held.value !== undefined)
    return { value: held.value, ...(held.by?.client !== undefined && { client: held.by.client }) };
  if (held?.type !== 'hash' || !held.complete) return undefined;
  const fields = [...held.parts].map(([name, { there, value }]) => (there === 'yes' ? [name, value] : []));
  if (fields.some(([, value]) => value === undefined)) return undefined;
  return { value: JSON.stringify(Object.fromEntries(fields)) };
}

/** Reentrant locks store a hash of owner → count, which a sample gives as JSON. */
function hashFields(value: string): string[] {
  if (!value.startsWith('{')) return [];
  try {
    return Object.keys(JSON.parse(value) as object);
  } catch {
    return []; // a lock may store whatever it likes; then its value names no client
  }
}
