/**
 * What recorders call differently, and what a user says of it: which field names the lock, which one its owner, and which
 * answers are refusals though they are of type `ok`. Nothing of this can be guessed without accusing somebody falsely.
 */
import { withoutColon } from '../schemas/jepsen-event.js';

export interface Conventions {
  /** The field that names the lock: of the event, or of its value if that is a map; `value`: the value itself. */
  key?: string;
  /** The field that names the owner of what is acquired and released, likewise; undefined: the process. */
  owner?: string;
  /** Values with which an `ok` says that it was refused, as texts. */
  refused?: ReadonlySet<string>;
}

/** A form's field: its own, or that of its value if that is a map (or the second of `[key value]`). Null counts as none. */
export function fieldOf(form: unknown, name: string): unknown {
  if (!isMap(form)) return undefined;
  if (name === 'value') return form.value ?? undefined;
  const value = Array.isArray(form.value) && form.value.length === 2 ? form.value[1] : form.value;
  return ownOf(form, name) ?? (isMap(value) ? ownOf(value, name) : undefined) ?? undefined;
}

function ownOf(map: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

function isMap(form: unknown): form is Record<string, unknown> {
  return typeof form === 'object' && form !== null && !Array.isArray(form);
}

/** A keyword without its colon, a text as it is, anything else as JSON. */
export function wordOf(value: unknown): string {
  if (typeof value === 'string') return withoutColon(value);
  return Array.isArray(value) ? value.map(wordOf).join(' ') : JSON.stringify(value);
}

/** Fields that name an owner in public histories, beside the process or instead of it. */
export const OWNER_FIELDS = ['owner', 'client', 'holder-id', 'holder_id', 'holderId', 'holder', 'session'] as const;
