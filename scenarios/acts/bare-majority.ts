/**
 * Two of five nodes are away while a lock is granted, so that it stands on exactly three, and are back before anybody else
 * asks. Their logs are synced with every write: they come back with all that they ever granted, which of this lock is nothing.
 */
import type { ServerNode } from '../../harness/vocabulary/topology.js';
import type { OperationOutcome, Stage } from '../../harness/vocabulary/workload.js';
import { hasNoticed, havingKey, leaseOver } from './asking.js';

/** Five nodes whose crashes alone forget nothing. */
export const DURABLE = { nodes: 5, persistence: 'aof-always', keys: 1, leaseMs: 20_000 } as const;

export interface BareMajority {
  held: OperationOutcome;
  /** The three that granted it. */
  granted: readonly ServerNode[];
}

export async function grantOnThreeOfFive(stage: Stage): Promise<BareMajority> {
  const { nodes } = stage.topology;
  const [granted, away] = [nodes.slice(0, 3), nodes.slice(3)];
  const absence = await stage.strike('kill', { names: away.map(({ name }) => name) });
  const holder = stage.client(1);
  await hasNoticed(stage, holder);
  const held = await holder.acquire('lock:0', { waitMs: 5_000 });
  stage.check('three of five are a majority', held.type === 'ok');
  await absence.heal();
  stage.check('the lock stands on exactly three', (await havingKey(nodes, 'lock:0')).length === 3);
  return { held, granted };
}

/** One of the three is struck, and healed only when the lease is over on the others; nobody is granted the lock meanwhile. */
export async function stayAwayForALease(stage: Stage, fault: string): Promise<void> {
  const [holder, other] = [stage.client(1), stage.client(2)];
  const { held, granted } = await grantOnThreeOfFive(stage);
  const absence = await stage.strike(fault, { names: [granted[2]!.name] });
  await hasNoticed(stage, other);
  stage.check('no other client is granted the lock meanwhile', (await other.acquire('lock:0')).type === 'fail');
  await holder.abandon(held);
  await stage.until('the lease is over where it stands', async () => {
    const left = await Promise.all(granted.slice(0, 2).map((node) => node.command('EXISTS', 'lock:0')));
    return left.every((count) => Number(count) === 0);
  });
  await absence.heal();
  await leaseOver(stage, 'lock:0');
  const next = await other.acquire('lock:0', { waitMs: 5_000 });
  stage.check('then it is granted again', next.type === 'ok');
  await other.release(next);
}

/** Another client is granted the lock by those who never knew of it and one of those who did. */
export async function takeBeside(stage: Stage, first: OperationOutcome): Promise<void> {
  const [holder, other] = [stage.client(1), stage.client(2)];
  await hasNoticed(stage, other);
  const second = await other.acquire('lock:0', { waitMs: 6_000 });
  stage.check('another majority grants it once more', second.type === 'ok');
  await other.release(second);
  await holder.release(first);
}

/** The clock of one of the three is set forward by so many leases, and another client is granted the lock beside the holder. */
export async function oneClockJumps(stage: Stage, leases: number): Promise<void> {
  const { held, granted } = await grantOnThreeOfFive(stage);
  const jump = await stage.strike('clock', { names: [granted[2]!.name] }, { offsetMs: leases * stage.leaseMs });
  await takeBeside(stage, held);
  await jump.heal();
}
