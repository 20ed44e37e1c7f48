/** etcd's leases as locks use them, and what its errors mean to a lock. */
import { refused } from '../define-lock.js';
import { type Gateway, NotDoneError } from './gateway.js';

/** Of at least so long: whole seconds, and no less than what the cluster's elections need. */
export async function newLease(etcd: Gateway, leaseMs: number): Promise<string> {
  const { ID } = await etcd.ask('lease/grant', { TTL: Math.ceil(leaseMs / 1_000) });
  return String(ID);
}

/** It ends by itself, should that not arrive. */
export function revoke(etcd: Gateway, lease: string): void {
  etcd.ask('lease/revoke', { ID: lease }).catch(() => {});
}

/** Of a question that grants nothing, whatever becomes of it: no answer is a refusal. */
export async function undoubted<T>(question: Promise<T>): Promise<T> {
  return question.catch(() => {
    throw refused('unreachable');
  });
}

/** The answer, or a refusal where it was certainly not done. */
export async function certain<T>(question: Promise<T>): Promise<T> {
  return question.catch((error) => {
    throw error instanceof NotDoneError ? refused('unreachable') : error;
  });
}
