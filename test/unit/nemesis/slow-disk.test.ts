/** The fault `slow-disk`, on hosts whose disks are the runtime's own. */
import { describe, expect, it } from 'vitest';
import type { OwnDisk } from '../../../harness/vocabulary/host.js';
import type { Persistence } from '../../../harness/vocabulary/topology.js';
import { slowDisk } from '../../../nemesis/faults/slow-disk.js';
import { allFaults } from '../../../nemesis/requests.js';
import { findUnhealed } from '../../../nemesis/unhealed.js';
import { type World, world } from './fakes.js';

class FakeDisk implements OwnDisk {
  syncMs = 0;
  syncs = 7;
  setSyncTime(syncMs: number) {
    this.syncMs = syncMs;
  }
}

function withDisks(persistence: Persistence = 'aof-always') {
  const w = world('redlock', { persistence });
  const disks = w.nodes.map(({ host }) => {
    const ownDisk = new FakeDisk();
    Object.assign(host, { ownDisk });
    return ownDisk;
  });
  return { w, disks };
}

const strike = (w: World, names: string[], args?: { syncMs: number }) =>
  slowDisk.strike({ atMs: 0, fault: 'slow-disk', target: { names }, forMs: 100, ...(args && { args }) }, w.nemesis);

describe('a slow disk', () => {
  it('takes its time for syncs, says how many there were, and is as before when healed', async () => {
    const { w, disks } = withDisks();
    const active = await strike(w, ['r1', 'r3'], { syncMs: 80 });
    expect(disks.map(({ syncMs }) => syncMs)).toEqual([80, 0, 80, 0, 0]);
    expect(active.record).toMatchObject({
      targets: ['r1', 'r3'],
      did: 'a sync takes r1, r3 80 ms',
      proof: 'a sync takes r1 80 ms; a sync takes r3 80 ms',
      effects: [{ kind: 'syncs-slowly', who: ['r1', 'r3'], syncMs: 80 }],
    });
    expect(await findUnhealed(w.context, w.levers)).toEqual(['a sync takes r1 80 ms', 'a sync takes r3 80 ms']);
    disks[0]!.syncs += 3;
    expect(await active.heal()).toBe('syncs take no time again, after 3 of r1, 0 of r3');
    expect(disks.map(({ syncMs }) => syncMs)).toEqual([0, 0, 0, 0, 0]);
    expect(await findUnhealed(w.context, w.levers)).toEqual([]);
  });

  it('takes 20 ms if nothing else is said', async () => {
    const { w, disks } = withDisks();
    await strike(w, ['r2']);
    expect(disks[1]!.syncMs).toBe(20);
  });

  it('is refused where the disk is the machine’s, is slow already, or nothing is synced', async () => {
    const refused = (w: World) => expect(strike(w, ['r1'])).rejects;
    await refused(world('single', { persistence: 'aof-always' })).toMatchObject({
      refused: true,
      message: 'the disk of r1 is the machine’s',
    });
    const { w, disks } = withDisks('aof-everysec');
    await strike(w, ['r1'], { syncMs: 5 });
    await refused(w).toMatchObject({ refused: true, message: 'its disk is slow already' });
    expect(disks[0]!.syncMs).toBe(5);
    for (const persistence of ['none', 'rdb'] as const)
      await refused(withDisks(persistence).w).toMatchObject({ message: 'servers that keep no log sync nothing' });
  });

  it('is none of the faults of a run in real time', () => {
    expect(allFaults(withDisks().w.plan).map(({ fault }) => fault)).not.toContain('slow-disk');
  });
});
