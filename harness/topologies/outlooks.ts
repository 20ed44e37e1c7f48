/** Whether a lock can be safe on a deployment, as far as that is known: what docs/which-lock.md found, in a sentence or two. */
import type { SafetyOutlook, TopologyKind } from '../vocabulary/topology.js';

type Outlook = NonNullable<TopologyKind['outlook']>;

/** Redis with replicas. */
export const replicatedOutlook =
  (name: string): Outlook =>
  () =>
    limit(
      `No lock on ${name} is safe in every failover: Redis answers before its replicas know. A majority of independent nodes needs no replication.`,
    );

/** One Redis that nothing replaces. */
export const aloneOutlook: Outlook = ({ persistence }) =>
  limit(
    persistence === 'aof-always'
      ? 'A lock there can be safe only as long as the server keeps its disk and a steady clock.'
      : 'A lock there can be safe only as long as the server forgets nothing in a restart (aof-always) and has a steady clock.',
  );

/** Redis nodes that know nothing of each other. */
export const independentOutlook: Outlook = () =>
  limit(
    'A lock there can be safe only if a node that forgot stays away for a lease, and no clock that it needs jumps.',
  );

/** Such nodes, each of which is replaced by its replica. */
export const replicatedNodesOutlook: Outlook = () =>
  limit(
    'No lock there is safe in every failover: a node that is replaced forgets what it granted last, and a bare majority has no vote to spare.',
  );

/** Servers that agree by majority. */
export const agreedOutlook: Outlook = () =>
  promise('A grant is answered once a majority has it, and whoever leads next has it, too.');

/** A database and its replica, which a commit waits for, or not. */
export const databaseOutlook =
  (waitsForReplica: boolean): Outlook =>
  ({ bySession }) => {
    if (bySession) return limit('A lock of a session is in the memory of one server, and no failover keeps it.');
    return waitsForReplica
      ? promise('A commit is answered once the replica has it.')
      : limit('No lock there is safe in every failover: the primary answers before its replica knows.');
  };

function limit(text: string): SafetyOutlook {
  return { text, promises: false };
}

function promise(text: string): SafetyOutlook {
  return { text, promises: true };
}
