/** What lock clients send to a server, in the forms in which locks are written, carried out and shown as MONITOR does. */
import type { Attempt, LossReason } from './grants.js';
import { COUNTER, KEY, type Node, type Sender } from './node.js';

/**
 * `nx`: SET NX PX. `set`: SET PX. `get-set`: GET, and SET PX where there was nothing. `script`: a script that stores where
 * nothing is. `own-script`: one that also stores where its own value is. `hash`: as that, in a hash. `counted`: a script that
 * counts a fencing token up as well. `counted-apart`: the token is counted up by a command before SET NX PX.
 */
export type Form = 'nx' | 'set' | 'get-set' | 'script' | 'own-script' | 'hash' | 'counted' | 'counted-apart';

export interface Answer {
  yes: boolean;
  token?: number;
}

const SCRIPTS: ReadonlySet<Form> = new Set(['script', 'own-script', 'hash', 'counted']);
const LUA: Sender = { source: 'lua' };

/** Asks one server for the lock. `ttlMs` undefined: to keep it for ever. */
export function take(node: Node, sender: Sender, attempt: Attempt, form: Form, ttlMs: number | undefined): Answer {
  if (node.primary) return { yes: false };
  const { value } = attempt;
  const px = ttlMs === undefined ? [] : ['PX', String(ttlMs)];
  if (SCRIPTS.has(form)) return takeByScript(node, sender, attempt, form, ttlMs);
  if (form === 'get-set') {
    node.show(sender, ['GET', KEY]);
    return { yes: node.look() === undefined };
  }
  const counted = form === 'counted-apart' ? countUp(node, sender) : {};
  node.show(sender, ['SET', KEY, value, ...px, ...(form === 'set' ? [] : ['NX'])]);
  if (node.look() && form !== 'set') return { yes: false };
  store(node, attempt, { how: 'overwritten', to: attempt }, ttlMs);
  return { yes: true, ...counted };
}

/** The second half of `get-set`. */
export function setAfterGet(node: Node, sender: Sender, attempt: Attempt, ttlMs: number | undefined): Answer {
  return take(node, sender, attempt, 'set', ttlMs);
}

function takeByScript(node: Node, sender: Sender, attempt: Attempt, form: Form, ttlMs: number | undefined): Answer {
  const { value } = attempt;
  const px = ttlMs === undefined ? [] : ['PX', String(ttlMs)];
  const keys = form === 'counted' ? ['2', KEY, COUNTER] : ['1', KEY];
  node.show(sender, ['EVALSHA', form, ...keys, value, String(ttlMs ?? 0)]);
  const there = node.look();
  const isHash = form === 'hash';
  if (form === 'own-script') node.show(LUA, ['get', KEY]);
  else node.show(LUA, ['exists', KEY]);
  const isOwn = there?.value === value && (form === 'own-script' || isHash);
  if (isHash && there) node.show(LUA, ['hexists', KEY, value]);
  if (there && !isOwn) return { yes: false };
  const counted = form === 'counted' ? countUp(node, LUA) : {};
  if (isHash) {
    node.show(LUA, ['hincrby', KEY, value, '1']);
    if (ttlMs !== undefined) node.show(LUA, ['pexpire', KEY, String(ttlMs)]);
  } else node.show(LUA, ['set', KEY, value, ...px]);
  store(node, attempt, { how: 'reentered', to: attempt }, ttlMs, isHash);
  return { yes: true, ...counted };
}

function countUp(node: Node, sender: Sender): { token: number } {
  node.show(sender, ['incr', COUNTER]);
  node.change({ type: 'count', to: node.count + 1 });
  return { token: node.count };
}

function store(node: Node, attempt: Attempt, replaced: LossReason, ttlMs: number | undefined, isHash = false): void {
  const asked = node.asked(ttlMs ?? Number.POSITIVE_INFINITY);
  // Redis reckons in whole milliseconds.
  const expiresMs = ttlMs === undefined ? Number.POSITIVE_INFINITY : Math.floor(asked.wallMs) + ttlMs;
  const copy = { attempt, value: attempt.value, isHash, expiresMs, asked };
  attempt.stored.set(node.name, asked.ns);
  node.change({ type: 'store', copy, replaced });
}

/** Keeps the lock for longer, if the value is still there. */
export function renew(node: Node, sender: Sender, { value }: Attempt, form: Form, ttlMs: number): Answer {
  if (node.primary) return { yes: false };
  node.show(sender, ['EVALSHA', 'renew', '1', KEY, value, String(ttlMs)]);
  if (!compared(node, value, form)) return { yes: false };
  node.show(LUA, ['pexpire', KEY, String(ttlMs)]);
  const asked = node.asked(ttlMs);
  node.change({ type: 'prolong', expiresMs: Math.floor(asked.wallMs) + ttlMs, asked });
  return { yes: true };
}

/** Removes the key: `plainly`, or if the value is still there. */
export function remove(node: Node, sender: Sender, { value, client }: Attempt, form: Form, plainly: boolean): Answer {
  if (node.primary) return { yes: false };
  if (plainly) node.show(sender, ['DEL', KEY]);
  else node.show(sender, ['EVALSHA', 'release', '1', KEY, value]);
  if (plainly ? !node.look() : !compared(node, value, form)) return { yes: false };
  if (!plainly) node.show(LUA, ['del', KEY]);
  node.change({ type: 'remove', reason: { how: 'deleted', by: client, compared: !plainly }, argv: ['DEL', KEY] });
  return { yes: true };
}

function compared(node: Node, value: string, form: Form): boolean {
  node.show(LUA, form === 'hash' ? ['hexists', KEY, value] : ['get', KEY]);
  return node.look()?.value === value;
}

/** Somebody else, who is no lock client. */
export function meddle(node: Node, how: 'del' | 'flush'): void {
  if (node.primary || !node.alive) return;
  const argv = how === 'del' ? ['DEL', KEY] : ['FLUSHALL'];
  node.look();
  node.show({ source: '10.77.0.99:51000' }, argv);
  node.change({ type: 'remove', reason: { how: 'deleted', compared: false }, argv });
}
