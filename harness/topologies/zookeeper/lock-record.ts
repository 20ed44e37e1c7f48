/**
 * Who was first in line for a key, by the transaction logs of all servers of a deployment. A server writes down what is
 * proposed before anybody knows whether it will be: only what a majority has written, and what stands before that in the same
 * logs, counts. Each change is told by each server that has it.
 */
import type { ServiceNews } from '../../vocabulary/topology.js';
import type { NodeChange, Transaction } from './transaction-log.js';

const LOG = 'zookeeper';
/** Changes that are remembered for a server that is behind. */
const REMEMBERED = 10_000;
/** What becomes of the next in line in the same transaction comes right after that the first went. */
const RIGHT_AFTER = 0.5;

/** Hears what one server tells of one deployment. */
type Hear = (news: ServiceNews) => void;

export class LockRecord {
  private readonly queues = new Queues();
  /** Written by some, and not known to be by a majority. */
  private readonly pending = new Map<number, { transaction: Transaction; by: Set<string> }>();
  private readonly told = new Map<number, ServiceNews[]>();
  private appliedZxid = 0;
  private readonly listeners = new Map<string, { keys: ReadonlySet<string>; heard: Hear }>();
  /** Of each server what it told last. */
  private readonly toldBy = new Map<string, number>();

  constructor(private readonly members: number) {}

  /** From now on `heard` is told what this server has: first what is there by then. Called anew, it takes the other's place. */
  listen(node: string, keys: readonly string[], heard: Hear): void {
    const wanted = new Set(keys);
    this.listeners.set(node, { keys: wanted, heard });
    for (const news of this.queues.firsts()) if (wanted.has(news.key)) heard(news);
    this.toldBy.set(node, this.appliedZxid);
  }

  /** What a server's log has now; `isAnew`: all of it, and of what it had before some is not there. */
  take(node: string, { transactions, isAnew }: { transactions: readonly Transaction[]; isAnew: boolean }): void {
    if (isAnew) for (const { by } of this.pending.values()) by.delete(node);
    for (const transaction of transactions) {
      const { zxid } = transaction;
      if (zxid <= this.appliedZxid) {
        this.tell(node, zxid);
        continue;
      }
      const one = this.pending.get(zxid) ?? { transaction, by: new Set<string>() };
      this.pending.set(zxid, one);
      one.by.add(node);
    }
    this.apply();
  }

  private apply(): void {
    const zxids = [...this.pending.keys()].sort((a, b) => a - b);
    const last = zxids.findLast((zxid) => this.pending.get(zxid)!.by.size > this.members / 2);
    if (last === undefined) return;
    const holders = this.pending.get(last)!.by;
    for (const zxid of zxids) {
      if (zxid > last) break;
      const { transaction, by } = this.pending.get(zxid)!;
      this.pending.delete(zxid);
      // In no log that has what came to be: it was dropped.
      if (![...by].some((node) => holders.has(node))) continue;
      const news = this.queues.carryOut(transaction);
      if (news.length > 0) this.told.set(zxid, news);
      this.appliedZxid = zxid;
      for (const node of by) this.tell(node, zxid);
    }
    for (const zxid of this.told.keys()) {
      if (this.told.size <= REMEMBERED) break;
      this.told.delete(zxid);
    }
  }

  private tell(node: string, zxid: number): void {
    const listener = this.listeners.get(node);
    if (!listener || zxid <= (this.toldBy.get(node) ?? 0)) return;
    this.toldBy.set(node, zxid);
    for (const news of this.told.get(zxid) ?? []) if (listener.keys.has(news.key)) listener.heard(news);
  }
}

interface Place {
  path: string;
  queue: string;
  owner: string;
  session: bigint;
}

/** Nodes that go with their sessions, by the node that they are below, in the order in which they were made. */
class Queues {
  private readonly places = new Map<string, Place>();
  private readonly first = new Map<string, { owner: string; position: number }>();

  /** What it changed of who is first. */
  carryOut({ zxid, session, isAsked, changes }: Transaction): ServiceNews[] {
    const touched = new Set<string>();
    for (const change of changes) for (const queue of this.change(change, session)) touched.add(queue);
    const isTimedOut = !isAsked && changes.some(({ type }) => type === 'session-closed');
    return [...touched].flatMap((queue) => this.newsOf(queue, zxid, isTimedOut));
  }

  firsts(): ServiceNews[] {
    return [...this.first].map(([queue, { owner, position }]) => ({ key: keyOf(queue), position, log: LOG, owner }));
  }

  /** The queues that it may have changed. */
  private change(change: NodeChange, session: bigint): string[] {
    if (change.type === 'created') {
      if (!change.isEphemeral) return [];
      const { path, data } = change;
      const cut = path.lastIndexOf('/');
      // One that has no number queues nowhere: who makes it holds.
      const queue = /\d{10}$/.test(path) ? path.slice(0, cut) : path;
      this.places.set(path, { path, queue, session, owner: data || path.slice(cut + 1) });
      return [queue];
    }
    const gone =
      change.type === 'deleted'
        ? [this.places.get(change.path)].filter((place) => place !== undefined)
        : [...this.places.values()].filter((place) => place.session === session);
    for (const { path } of gone) this.places.delete(path);
    return gone.map(({ queue }) => queue);
  }

  private newsOf(queue: string, zxid: number, isTimedOut: boolean): ServiceNews[] {
    const before = this.first.get(queue);
    const now = [...this.places.values()].find((place) => place.queue === queue);
    if (now?.owner === before?.owner) return [];
    const position = before && now ? zxid + RIGHT_AFTER : zxid;
    if (now) this.first.set(queue, { owner: now.owner, position });
    else this.first.delete(queue);
    const common = { key: keyOf(queue), log: LOG };
    return [
      ...(before ? [{ ...common, position: zxid, ...(isTimedOut && { how: 'timed-out' as const }) }] : []),
      ...(now ? [{ ...common, position, owner: now.owner }] : []),
    ];
  }
}

/** A key's node is at the root. */
function keyOf(queue: string): string {
  return queue.slice(1);
}
