/** Whom a plan can name without a name. Each is resolved when the step fires, by asking servers and clients. */
import type { TargetRole } from '../../harness/vocabulary/faults.js';

/** What each role means, for people. */
export const roles: Readonly<Record<TargetRole, string>> = {
  primary:
    'the node that takes writes: the only one of `single`, else the one that the servers agree on; of several the one that serves most of the locks',
  replica: 'a running replica of that primary; for `lag` all of them',
  one: 'any running data node',
  minority:
    'as many nodes as can be missing while a majority is left; of several shards one node in a minority of them',
  majority: 'one node more than half of them',
  holder: 'a client that holds a lock at that moment, rather one that has for a while; waits up to one lease for one',
  client: 'a client that no other fault has stopped',
  sentinel: 'a minority of the Sentinels, never a quorum',
  all: 'every running data node',
};

export function isRole(text: unknown): text is TargetRole {
  return typeof text === 'string' && Object.hasOwn(roles, text);
}
