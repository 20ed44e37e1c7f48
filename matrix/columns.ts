/** The locks of the matrix, each where it is shown, and how a row becomes its cells. */
import type { Cell, CellOutcome, Flags, Play } from './cell.js';

/** A lock on the topologies that it is shown on. */
export interface LockColumn {
  lock: string;
  topologies: readonly string[];
  /** Flags that every run of it needs, unless it is a play. */
  flags?: readonly string[];
}

const on =
  (...topologies: string[]) =>
  (lock: string): LockColumn => ({ lock, topologies });

export const onSingle = on('single');
export const plainMutex = onSingle('set-nx-px');
/** The same over Redis' own client, which leaves a lost server and looks for its successor in its own way. */
export const nodeRedisMutex = onSingle('set-nx-px-node-redis');
export const reentrantMutex = onSingle('reentrant');
/** On a single server it has no replica to ask. */
export const waitReplicated = onSingle('wait-replicated');
export const waitsForTheDisk = onSingle('waitaof');
export const publishedMutex = onSingle('third-party/redis-semaphore-mutex');
export const onRedlock = on('redlock')('redlock');
/** A canary: half of the nodes are enough for it. */
export const halfQuorum = on('redlock')('broken/half-quorum');
export const redlock4 = on('redlock')('third-party/redlock-4');
export const publishedExceptRedlock4 = [
  'third-party/redlock-5',
  'third-party/sesamecare-redlock',
  'third-party/redis-semaphore-redlock-mutex',
  // Not tried where this Node is too old for it.
  'third-party/redlock-universal',
].map(on('redlock'));
export const published = [redlock4, ...publishedExceptRedlock4];
/** Those that renew what they granted without being asked. */
export const renewingByThemselves = [
  'third-party/redlock-5-using',
  'third-party/sesamecare-redlock-using',
  'third-party/redis-semaphore-redlock-mutex',
].map(on('redlock'));
/** Over clients with the settings that ioredis has by itself, which wait for a node that hangs for as long as it hangs. */
export const waitingForEveryNode = on('redlock')('third-party/redis-semaphore-redlock-mutex-default-client');
/** Half of its acquires are of readers. */
export const readersAndWriters: LockColumn = { ...onSingle('read-write'), flags: ['--workload', 'read-write'] };
/** Behind a resource that looks at tokens; in a play its tokens are judged, and no resource is asked. */
export const fencedMutex: LockColumn = { ...onSingle('fenced'), flags: ['--workload', 'fenced-resource'] };

/** The same columns elsewhere. */
export function elsewhere(columns: readonly LockColumn[], ...topologies: string[]): LockColumn[] {
  return columns.map((column) => ({ ...column, topologies }));
}

/** Cells of a row that come out alike, and why; `by`: where that is another run than the row's. */
type Group = readonly [columns: readonly LockColumn[], expect: CellOutcome, reason: string, by?: Flags | Play];

export function row(fault: string, by: Flags | Play, groups: readonly Group[]): Cell[] {
  return groups.flatMap(([columns, expect, reason, other = by]) =>
    columns.flatMap(({ lock, topologies, flags = [] }) =>
      topologies.map((topology) => ({
        fault,
        lock,
        topology,
        expect,
        by: 'flags' in other ? { flags: [...flags, ...other.flags] } : other,
        reason,
      })),
    ),
  );
}

export function flags(...given: string[]): Flags {
  return { flags: given };
}

export function play(scenario: string): Play {
  return { scenario };
}

/** Eight clients want one lock all the time, each for a moment: how many get it in a second, and how evenly. */
export const contention = flags(
  ...['--nemesis', 'none', '--keys', '1', '--clients', '8', '--hold', '0.01x..0.02x', '--wait', '3s'],
);

/** A plan of this folder. */
export function plan(name: string): string[] {
  return ['--plan', `matrix/plans/${name}.json`];
}
