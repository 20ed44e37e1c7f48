/**
 * Locks that keep each holder as a field of one hash, which expires by itself: whose lease is over is by the server's clock
 * alone, and one holder's time is nothing to another's.
 *
 * They promise that of an expired holder nothing is left, and that nobody gives back or prolongs another's. They exclude
 * servers without HPEXPIRE, and any promise beyond what one server remembers.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockClient, LockDefinition, TopologyAccess } from '../harness/vocabulary/lock.js';
import { type Attempt, certainOrDoubtful, tryUntilGranted, validForMs } from './attempts.js';
import { ONE_SERVER } from './builtin-lock.js';
import { defineLock } from './define-lock.js';
import { answerOrRefusal } from './owned-key.js';
import { takeToReadOrWrite } from './scripts/hash-ttl-take.js';
import { needOneOf } from './server-commands.js';
import { PAUSE_BETWEEN_TRIES } from './set-nx-px.js';

export interface FieldParts {
  /** Takes the lock; its KEYS and ARGV: see `scripts/hash-ttl-take.ts`. */
  script: string;
  /** What it wants beside, as further ARGV. */
  further?: readonly number[];
  /** The holder's field: its own random value, and for what it takes the lock. */
  fieldOf(owner: string, options: AcquireOptions): string;
}

export async function fieldLeases(access: TopologyAccess, parts: FieldParts): Promise<LockClient> {
  const redis = await access.redis();
  await needOneOf(redis, ['HPEXPIRE']);
  return {
    acquire: (key: string, options: AcquireOptions) =>
      tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(access, redis, key, options, parts)),
  };
}

async function attempt(
  access: TopologyAccess,
  redis: Redis,
  key: string,
  options: AcquireOptions,
  { script, further = [], fieldOf }: FieldParts,
): Promise<Attempt> {
  const field = fieldOf(access.randomValue(), options);
  const sentNs = access.nowNs();
  const result = await answerOrRefusal(redis.eval(script, 1, key, field, options.leaseMs, ...further));
  if ('refusedBecause' in result) return result;
  if (result.answer !== 1) return { refusedBecause: 'held' };

  const release = async () => (await certainOrDoubtful(redis.hdel(key, field))) === 1;
  const leftMs = validForMs(access, sentNs, options.leaseMs);
  if (leftMs <= 0) {
    // The answer came when the lease was as good as over: if this fails the field ends by itself.
    await release().catch(() => {});
    return { refusedBecause: 'granted-late' };
  }
  const extend = async (leaseMs: number) => {
    const extensionSentNs = access.nowNs();
    const answers = await certainOrDoubtful(redis.call('HPEXPIRE', key, leaseMs, 'FIELDS', 1, field));
    // 1: it was there, and has the new time; a field that is gone is none.
    const isDone = Array.isArray(answers) && answers[0] === 1;
    return isDone ? { validForMs: validForMs(access, extensionSentNs, leaseMs) } : null;
  };
  return { hold: { grantSentNs: sentNs, validForMs: leftMs, release, extend } };
}

/** A read-write lock. `expire`: how a new holder's field gets its time, see `scripts/hash-ttl-take.ts`. */
export function readWriteOfFields(name: string, expire: string): LockDefinition {
  const script = takeToReadOrWrite(expire);
  return defineLock({
    name,
    topologies: ONE_SERVER,
    features: ['shared', 'extend'],
    model: { kind: 'read-write' },
    connect: (access) =>
      fieldLeases(access, { script, fieldOf: (owner, { mode }) => `${mode === 'read' ? 'r' : 'w'}:${owner}` }),
  });
}
