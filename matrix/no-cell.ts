/** Why a lock has no cell under a fault, in a word, for tables. */
import type { Cell } from './cell.js';

/** `topology`: where the table has the lock; absent: anywhere. Throws where no reason is known: then the matrix lacks a cell. */
export function whyNoCell(of: readonly Cell[], lock: string, fault: string, topology?: string): string {
  const its = of.filter((cell) => cell.lock === lock && (topology === undefined || cell.topology === topology));
  if (its.some((cell) => cell.fault === fault)) return 'not run yet';
  if (fault === 'holder-cut-off') return 'never renews by itself';
  const isOnZookeeper = its.some((cell) => cell.topology === 'zookeeper');
  if (isOnZookeeper && fault === 'primary-lost-before-replication') return 'no Sentinel';
  if (isOnZookeeper && fault === 'release-by-an-expired-holder') return 'played on Redis only';
  const isOnIndependentNodes = its.some((cell) => cell.topology === 'redlock');
  if (fault === 'primary-lost-before-replication' && isOnIndependentNodes) return 'no replicas';
  if (fault === 'node-hangs' && !isOnIndependentNodes) return 'one server';
  if (fault === 'release-by-an-expired-holder' && its.some(isOfPermits)) return 'by permit, not by owner';
  if (fault === 'eviction' && its.some(isOfPermits)) return 'nothing of it expires';
  // What is wrong without any fault is run under no other.
  if (its.some((cell) => cell.fault === 'nothing' && cell.expect !== 'safe')) return 'wrong without faults';
  throw new Error(`the matrix has no cell for ${lock} under ${fault}, and says not why`);
}

function isOfPermits({ by }: Cell): boolean {
  return 'flags' in by && by.flags.includes('semaphore');
}
