/** Who holds at one instant of a sweep, counted as far as the model needs it: who would be excluded, by how many. */
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { Sections } from './sections.js';

export class Occupancy {
  private all = 0;
  private writers = 0;
  private readonly ownAll: Int32Array;
  private readonly ownWriters: Int32Array;

  constructor(
    private readonly model: LockModel,
    private readonly sections: Sections,
    clients: number,
  ) {
    const ofClients = model.kind === 'reentrant' || model.kind === 'read-write' ? clients : 0;
    this.ownAll = new Int32Array(ofClients);
    this.ownWriters = new Int32Array(ofClients);
  }

  add(k: number): void {
    this.count(k, 1);
  }

  remove(k: number): void {
    this.count(k, -1);
  }

  /** How many of those that hold now must not hold beside it; of a semaphore 1 where all permits are taken. */
  excluding(k: number): number {
    const client = this.sections.client[k]!;
    switch (this.model.kind) {
      case 'semaphore':
        return this.all >= this.model.permits ? 1 : 0;
      case 'reentrant':
        return this.all - this.ownAll[client]!;
      case 'read-write':
        // Under its own write lock a client may read.
        return this.sections.reads[k] ? this.writers - this.ownWriters[client]! : this.all;
      default:
        return this.all;
    }
  }

  /** Whether its client has taken a reentrant lock as often as it may already. */
  isTooDeep(k: number): boolean {
    return this.model.kind === 'reentrant' && this.ownAll[this.sections.client[k]!]! >= this.model.depth;
  }

  /** Whether its client holds this key otherwise; asked only of read-write locks. */
  holdsOtherwise(k: number): boolean {
    return this.model.kind === 'read-write' && this.ownAll[this.sections.client[k]!]! > 0;
  }

  private count(k: number, by: number): void {
    const { client, reads } = this.sections;
    const isWriter = !reads[k];
    this.all += by;
    if (isWriter) this.writers += by;
    if (this.ownAll.length === 0) return;
    this.ownAll[client[k]!]! += by;
    if (isWriter) this.ownWriters[client[k]!]! += by;
  }
}

/** Whether these two must never hold at once, `later` being the one that was granted later. Not asked of semaphores. */
export function exclude(model: LockModel, sections: Sections, earlier: number, later: number): boolean {
  const { client, reads } = sections;
  const own = client[earlier] === client[later];
  if (model.kind === 'reentrant') return !own;
  if (model.kind !== 'read-write') return true;
  if (reads[earlier] && reads[later]) return false;
  return !(own && reads[later]);
}
