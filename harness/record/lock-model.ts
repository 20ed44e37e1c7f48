/** Models of locks as they come from outside: from a client's handshake, from a recorded line. */
import type { LockModel } from '../vocabulary/protocol.js';

/** Whether it is one that the checkers know. */
export function isLockModel(value: unknown): value is LockModel {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, depth, permits } = value as Record<string, unknown>;
  if (kind === 'semaphore') return Number.isInteger(permits) && (permits as number) > 0;
  if (kind === 'reentrant') return Number.isInteger(depth) && (depth as number) > 0;
  return kind === 'mutex' || kind === 'read-write' || kind === 'fenced' || kind === 'fair';
}
