/** What lock clients send to a server, in the forms in which locks are written, carried out and shown as MONITOR does. */
import type { Attempt, Copy, LossReason } from './grants.js';
import { COUNTER, KEY, type Node, type Sender, UNTIL } from './node.js';

/**
 * `nx`: SET NX PX. `set`: SET PX. `get-set`: GET, and SET PX where there was nothing. `script`: a script that stores where
 * nothing is. `own-script`: one that also stores where its own value is. `hash`: as that, in a hash. `counted`: a script that
 * counts a fencing token up as well. `counted-apart`: the token is counted up by a command before SET NX PX. `counted-early`:
 * it is counted up before the lock is waited for. `expires-anyway`: SET NX PX, and PEXPIRE when that was refused.
 * `adopting`: SET NX PX, and what was refused is a grant where the client's own value is there. `own-clock`: a script that also
 * stores where the time until which it is held is over by the clock of the client.
 */
export type Form =
  | 'nx'
  | 'set'
  | 'get-set'
  | 'script'
  | 'own-script'
  | 'hash'
  | 'counted'
  | 'counted-apart'
  | 'counted-early'
  | 'expires-anyway'
  | 'adopting'
  | 'own-clock';

/** What becomes of the count of fencing tokens: it is kept, it expires, or each release removes it. */
export type Counter = 'kept' | 'expires' | 'removed';

export interface Answer {
  yes: boolean;
  token?: number;
}

/** What the clock of a client shows, and how far off it is. */
export interface Shown {
  wallMs: number;
  offMs: number;
}

/** The count expires so much later than the lease of the lock. */
const COUNTER_LASTS_MS = 150;

const SCRIPTS: ReadonlySet<Form> = new Set(['script', 'own-script', 'hash', 'counted', 'own-clock']);
const LUA: Sender = { source: 'lua' };

/** Asks one server for the lock. `ttlMs` undefined: to keep it for ever. */
export function take(
  node: Node,
  sender: Sender,
  attempt: Attempt,
  form: Form,
  ttlMs: number | undefined,
  counter: Counter = 'kept',
  clock: Shown = { wallMs: node.wallMs(), offMs: 0 },
): Answer {
  if (node.primary) return { yes: false };
  const { value } = attempt;
  const px = ttlMs === undefined ? [] : ['PX', String(ttlMs)];
  if (SCRIPTS.has(form)) return takeByScript(node, sender, attempt, form, ttlMs, counter, clock);
  if (form === 'get-set') {
    node.show(sender, ['GET', KEY]);
    return { yes: node.look() === undefined };
  }
  const counted = form === 'counted-apart' ? countUp(node, sender, counter, ttlMs) : {};
  node.show(sender, ['SET', KEY, value, ...px, ...(form === 'set' ? [] : ['NX'])]);
  const there = node.look();
  if (there && form !== 'set') return refused(node, sender, attempt, form, ttlMs, there);
  store(node, attempt, { how: 'overwritten', to: attempt }, ttlMs);
  return { yes: true, ...counted };
}

/** What its client does all the same. */
function refused(
  node: Node,
  sender: Sender,
  attempt: Attempt,
  form: Form,
  ttlMs: number | undefined,
  copy: Copy,
): Answer {
  if (form === 'expires-anyway' && ttlMs !== undefined) {
    node.show(sender, ['PEXPIRE', KEY, String(ttlMs)]);
    prolong(node, attempt.client, ttlMs);
  }
  if (form !== 'adopting') return { yes: false };
  node.show(sender, ['GET', KEY]);
  if (copy.isHash || copy.value !== attempt.value) return { yes: false };
  attempt.adopted = { copy, node: node.name, atNs: node.nowNs };
  attempt.adoptedOn.set(node.name, attempt.adopted);
  return { yes: true };
}

/** The second half of `get-set`. */
export function setAfterGet(node: Node, sender: Sender, attempt: Attempt, ttlMs: number | undefined): Answer {
  return take(node, sender, attempt, 'set', ttlMs);
}

function takeByScript(
  node: Node,
  sender: Sender,
  attempt: Attempt,
  form: Form,
  ttlMs: number | undefined,
  counter: Counter,
  clock: Shown,
): Answer {
  const { value } = attempt;
  const px = ttlMs === undefined ? [] : ['PX', String(ttlMs)];
  if (form === 'own-clock') return takeByClock(node, sender, attempt, ttlMs, clock);
  const keys = form === 'counted' ? ['2', KEY, COUNTER] : ['1', KEY];
  node.show(sender, ['EVALSHA', form, ...keys, value, String(ttlMs ?? 0)]);
  const there = node.look();
  const isHash = form === 'hash';
  if (form === 'own-script') node.show(LUA, ['get', KEY]);
  else node.show(LUA, ['exists', KEY]);
  // What is of another type ends the script with an error.
  const isOwn = there?.value === value && (form === 'own-script' || isHash) && there.isHash === isHash;
  if (isHash && there) node.show(LUA, ['hexists', KEY, value]);
  if (there && !isOwn) return { yes: false };
  const counted = form === 'counted' ? countUp(node, LUA, counter, ttlMs) : {};
  if (isHash) {
    node.show(LUA, ['hincrby', KEY, value, '1']);
    if (ttlMs !== undefined) node.show(LUA, ['pexpire', KEY, String(ttlMs)]);
  } else node.show(LUA, ['set', KEY, value, ...px]);
  store(node, attempt, { how: 'reentered', to: attempt }, ttlMs, isHash);
  return { yes: true, ...counted };
}

function takeByClock(node: Node, sender: Sender, attempt: Attempt, ttlMs: number | undefined, clock: Shown): Answer {
  const { value, leaseMs } = attempt;
  const nowMs = Math.floor(clock.wallMs);
  node.show(sender, ['EVALSHA', 'own-clock', '2', KEY, UNTIL, value, String(ttlMs ?? leaseMs), String(nowMs)]);
  const there = node.look();
  node.show(LUA, ['get', UNTIL]);
  node.show(LUA, ['exists', KEY]);
  if (there?.told && there.told.untilMs > nowMs) return { yes: false };
  node.show(LUA, ['set', KEY, value, ...(ttlMs === undefined ? [] : ['PX', String(ttlMs)])]);
  node.show(LUA, ['set', UNTIL, String(nowMs + leaseMs), 'PX', String(ttlMs ?? leaseMs)]);
  const behindMs = -(there?.told?.offMs ?? 0);
  const rightUntilMs = (there?.told?.untilMs ?? 0) + behindMs;
  const rightNowMs = nowMs - clock.offMs;
  const replaced = {
    how: 'taken-over' as const,
    to: attempt,
    aheadMs: clock.offMs,
    behindMs,
    rightUntilMs,
    rightNowMs,
  };
  store(node, attempt, replaced, ttlMs, false, { untilMs: nowMs + leaseMs, offMs: clock.offMs });
  return { yes: true };
}

/** Counts a fencing token up. */
export function countUp(
  node: Node,
  sender: Sender,
  counter: Counter = 'kept',
  leaseMs: number | undefined = undefined,
): { token: number } {
  node.look();
  node.show(sender, ['incr', COUNTER]);
  const lastsMs = counter === 'expires' ? (leaseMs ?? 0) + COUNTER_LASTS_MS : undefined;
  if (lastsMs !== undefined) node.show(sender, ['pexpire', COUNTER, String(lastsMs)]);
  const expiresMs = lastsMs === undefined ? Number.POSITIVE_INFINITY : Math.floor(node.wallMs()) + lastsMs;
  node.change({ type: 'count', to: node.count + 1, expiresMs });
  return { token: node.count };
}

function store(
  node: Node,
  attempt: Attempt,
  replaced: LossReason,
  ttlMs: number | undefined,
  isHash = false,
  told?: Copy['told'],
): void {
  const asked = node.asked(ttlMs ?? Number.POSITIVE_INFINITY, attempt.client);
  // Redis reckons in whole milliseconds.
  const expiresMs = ttlMs === undefined ? Number.POSITIVE_INFINITY : Math.floor(asked.wallMs) + ttlMs;
  const ends = [{ by: attempt.client, expiresMs }];
  const copy = { attempt, value: attempt.value, isHash, expiresMs, asked, ends, ...(told && { told }) };
  attempt.stored.set(node.name, asked.ns);
  node.change({ type: 'store', copy, replaced });
}

/** Keeps the lock for longer, if the value is still there; for no time at all the server deletes the key. */
export function renew(
  node: Node,
  sender: Sender,
  { value, client }: Attempt,
  form: Form,
  ttlMs: number,
  clock: Shown,
): Answer {
  if (node.primary) return { yes: false };
  const untilMs = Math.floor(clock.wallMs) + ttlMs;
  const byClock = form === 'own-clock';
  const args = [value, String(ttlMs)];
  if (byClock) node.show(sender, ['EVALSHA', 'renew', '2', KEY, UNTIL, ...args, String(Math.floor(clock.wallMs))]);
  else node.show(sender, ['EVALSHA', 'renew', '1', KEY, ...args]);
  if (!compared(node, value, form)) return { yes: false };
  node.show(LUA, ['pexpire', KEY, String(ttlMs)]);
  if (byClock) node.show(LUA, ['set', UNTIL, String(untilMs), 'PX', String(ttlMs)]);
  if (ttlMs > 0) prolong(node, client, ttlMs, byClock ? { untilMs, offMs: clock.offMs } : undefined);
  else {
    const reason = { how: 'deleted' as const, by: client, compared: true, extends: true };
    node.change({ type: 'remove', reason, argv: ['DEL', KEY] });
  }
  return { yes: true };
}

function prolong(node: Node, by: string, ttlMs: number, told?: Copy['told']): void {
  const asked = node.asked(ttlMs, by);
  const expiresMs = Math.floor(asked.wallMs) + ttlMs;
  node.look()?.attempt.prolonged.push({ node: node.name, ns: asked.ns, by, ttlMs, expiresMs });
  node.change({ type: 'prolong', expiresMs, asked, ...(told && { told }) });
}

/** Removes the key: `plainly`, or if the value is still there. `of`: the grant of the hold that is released so, if one is. */
export function remove(
  node: Node,
  sender: Sender,
  { value, client }: Attempt,
  form: Form,
  plainly: boolean,
  of?: Attempt,
): Answer {
  if (node.primary) return { yes: false };
  if (plainly) node.show(sender, ['DEL', KEY]);
  else node.show(sender, ['EVALSHA', 'release', '1', KEY, value]);
  if (plainly ? !node.look() : !compared(node, value, form)) return { yes: false };
  if (!plainly) node.show(LUA, ['del', KEY]);
  const reason = { how: 'deleted' as const, by: client, compared: !plainly, ...(of && { of }) };
  node.change({ type: 'remove', reason, argv: ['DEL', KEY] });
  return { yes: true };
}

/** Removes the count of fencing tokens. */
export function removeCounter(node: Node, sender: Sender): void {
  if (node.primary) return;
  node.show(sender, ['DEL', COUNTER]);
  node.change({ type: 'uncount', how: 'deleted', ...(sender.client !== undefined && { by: sender.client }) });
}

function compared(node: Node, value: string, form: Form): boolean {
  node.show(LUA, form === 'hash' ? ['hexists', KEY, value] : ['get', KEY]);
  const there = node.look();
  // A command for another type is an error.
  return there?.value === value && there.isHash === (form === 'hash');
}

/** Somebody else, who is no lock client. */
export function meddle(node: Node, how: 'del' | 'flush'): void {
  if (node.primary || !node.alive) return;
  const argv = how === 'del' ? ['DEL', KEY] : ['FLUSHALL'];
  node.look();
  node.show({ source: '10.77.0.99:51000' }, argv);
  node.change({ type: 'remove', reason: { how: 'deleted', compared: false }, argv });
}
