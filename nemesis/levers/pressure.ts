/**
 * Memory that is short: a server's `maxmemory` is set a little above what it uses, and somebody else's data is written
 * up to that limit, so that the server throws keys away by its own policy. One at a time on a node.
 *
 * Bounded: a server never stores more than HEADROOM_BYTES of these data, since its limit is read back before the first
 * of them is written. Whatever is read or told here comes from the server.
 */
import type { Clock } from '../../harness/vocabulary/time.js';
import type { ServerNode } from '../../harness/vocabulary/topology.js';
import { message, Refusal } from './basics.js';
import { InForce } from './in-force.js';
import { type Grip, healOnce } from './network.js';
import { Serial } from './serial.js';

/** Well above what the buffers of a server's connections come and go with, else nothing else could be stored at all. */
const HEADROOM_BYTES = 4 * 1024 * 1024;
/** Few and large: a server looks at a handful of keys at random before it chooses, and the locks must be among them. */
const VALUE_BYTES = 64 * 1024;
const VALUES_AT_ONCE = 8;
/** An allocator gives a little more than it is asked for. */
const ROUNDED_UP = 1.5;
/** Longer than any lease, so that by time to live the locks are nearest to their end; and gone one day whatever happens. */
const VALUE_TTL_MS = 3_600_000;
/** A new key counts as rarely used; so often it is read to be among those often used (the counter is logarithmic). */
const READS = 200;

const FILLER = 'somebody-elses';

/** A server whose memory is short. */
export interface Pressure extends Grip {
  readonly node: ServerNode;
  readonly policy: string;
  /** Writes a few more values of somebody else's; resolves with how many the server refused for want of memory. */
  fill(): Promise<number>;
  /** Writes as many as fit without anything being evicted for them: what is written then takes no time. */
  fillUp(): Promise<void>;
  /** Keys that the server has evicted since the limit was set. */
  evicted(): Promise<number>;
}

export class PressureLever {
  private readonly serial = new Serial();
  /** What `maxmemory` was before, of every node that was ever limited; `now`: it still is. */
  private readonly limited = new Map<string, { before: string; now: boolean }>();
  private count = 0;

  constructor(
    private readonly clock: Clock,
    private readonly topology: { readonly nodes: readonly ServerNode[]; readonly replicated: boolean },
  ) {}

  /** Limits the node's memory; `tag` is a word whose hash slot it serves. Rejects, with a Refusal where it evicts nothing. */
  async squeeze(node: ServerNode, tag: string): Promise<Pressure> {
    return this.serial.run(node.name, async () => {
      if (this.limited.get(node.name)?.now) throw new Refusal(`${node.name} is short of memory already`);
      const [policy, before, used, evictedBefore] = await Promise.all([
        evictingPolicy(node),
        setting(node, 'maxmemory'),
        infoNumber(node, 'memory', 'used_memory'),
        infoNumber(node, 'stats', 'evicted_keys'),
      ]);
      // A limit that was there already is never raised.
      const limitBytes = Math.min(used + HEADROOM_BYTES, Number(before) || Number.POSITIVE_INFINITY);
      this.limited.set(node.name, { before, now: true });
      const prefix = `${FILLER}:{${tag}}:${++this.count}`;
      const heal = healOnce([node], () => this.release(node, prefix));
      await InForce.strike(async (inForce) => {
        await inForce.add({ heal });
        await setMaxmemory(node, String(limitBytes));
      });
      const filler = new Filler(node, prefix, policy);
      return {
        node,
        policy,
        effects: [{ kind: 'short-of-memory', who: [node.name], sinceNs: this.clock.nowNs() }],
        proof: `${node.name} has maxmemory ${megabytes(limitBytes)}, uses ${megabytes(used)} and evicts by ${policy}`,
        fill: () => filler.fill(),
        fillUp: async () => {
          const freeBytes = limitBytes - (await infoNumber(node, 'memory', 'used_memory'));
          const portions = Math.floor(freeBytes / (VALUES_AT_ONCE * VALUE_BYTES * ROUNDED_UP));
          await Promise.all(Array.from({ length: Math.max(0, portions) }, () => filler.fill()));
        },
        // A server that was restarted meanwhile counts from 0 again.
        evicted: async () => Math.max(0, (await infoNumber(node, 'stats', 'evicted_keys')) - evictedBefore),
        heal: () => this.serial.run(node.name, heal),
      };
    });
  }

  /** What is not as it was, read from the server; empty when all is well. */
  async trouble(node: ServerNode): Promise<string[]> {
    const before = this.limited.get(node.name)?.before;
    if (before === undefined) return [];
    const now = await setting(node, 'maxmemory');
    return now === before ? [] : [`${node.name} has maxmemory ${now}, which was ${before}`];
  }

  private async release(node: ServerNode, prefix: string): Promise<string> {
    const limited = this.limited.get(node.name)!;
    await setMaxmemory(node, limited.before);
    // Sentinel makes servers write their settings to their files, where the limit would wait for the next start.
    if (this.topology.replicated) await node.command('CONFIG', 'REWRITE');
    const removed = await this.remove(node, prefix);
    limited.now = false;
    return `${node.name} has maxmemory ${limited.before} again; ${removed} of somebody else's keys deleted, none is left`;
  }

  /** Deletes the fillers where they can be deleted: on the node, and on the one that has replaced it as primary meanwhile. */
  private async remove(node: ServerNode, prefix: string): Promise<number> {
    let removed = 0;
    for (const one of this.topology.replicated ? this.topology.nodes : [node]) {
      try {
        if ((await roleOf(one)) === 'master') removed += await unlinkAll(one, prefix);
      } catch (error) {
        // Another server may be down for reasons of its own.
        if (one === node) throw error;
      }
    }
    return removed;
  }
}

/** Writes values until told otherwise, each under a new key. */
class Filler {
  private written = 0;

  constructor(
    private readonly node: ServerNode,
    private readonly prefix: string,
    private readonly policy: string,
  ) {}

  async fill(): Promise<number> {
    const keys = Array.from({ length: VALUES_AT_ONCE }, () => `${this.prefix}:${++this.written}`);
    let refused = 0;
    const full = (error: unknown) => {
      if (!message(error).startsWith('OOM')) throw error;
      refused++;
    };
    // SETRANGE has the server make the value: a short command for everybody who has to read it.
    const writes = keys.flatMap((key) => [
      this.node.command('SETRANGE', key, VALUE_BYTES - 1, 'x').catch(full),
      this.node.command('PEXPIRE', key, VALUE_TTL_MS),
    ]);
    if (this.policy.endsWith('lfu')) {
      writes.push(this.node.command('TOUCH', ...keys.flatMap((key) => Array<string>(READS).fill(key))));
    }
    await Promise.all(writes);
    return refused;
  }
}

/** The policy by which the node evicts, and of which it tells; a Refusal where it does not. */
async function evictingPolicy(node: ServerNode): Promise<string> {
  const [role, policy, events] = await Promise.all([
    roleOf(node),
    setting(node, 'maxmemory-policy'),
    setting(node, 'notify-keyspace-events'),
  ]);
  if (role !== 'master') throw new Refusal(`${node.name} is a replica now, and replicas ignore maxmemory`);
  if (policy === 'noeviction')
    throw new Refusal(
      `${node.name} evicts nothing (maxmemory-policy noeviction); give --maxmemory-policy volatile-ttl`,
    );
  if (!events.includes('E') || !/[eA]/.test(events))
    throw new Refusal(
      `${node.name} does not tell what it evicts (notify-keyspace-events "${events}", must include Ee)`,
    );
  return policy;
}

async function unlinkAll(node: ServerNode, prefix: string): Promise<number> {
  let removed = 0;
  // What is deleted while it is scanned may hide another: until a whole scan finds nothing.
  for (;;) {
    const keys = await scan(node, `${prefix}:*`);
    if (keys.length === 0) return removed;
    removed += Number(await node.command('UNLINK', ...keys));
  }
}

async function scan(node: ServerNode, pattern: string): Promise<string[]> {
  const found: string[] = [];
  let cursor = '0';
  do {
    const [next, keys] = (await node.command('SCAN', cursor, 'MATCH', pattern, 'COUNT', 1_000)) as [string, string[]];
    found.push(...keys);
    cursor = String(next);
  } while (cursor !== '0');
  return found;
}

async function setMaxmemory(node: ServerNode, bytes: string): Promise<void> {
  await node.command('CONFIG', 'SET', 'maxmemory', bytes);
  const read = await setting(node, 'maxmemory');
  if (read !== bytes) throw new Error(`${node.name}: maxmemory was set to ${bytes} but reads ${read}`);
}

async function setting(node: ServerNode, name: string): Promise<string> {
  const reply = await node.command('CONFIG', 'GET', name);
  return String((reply as string[])[1] ?? '');
}

async function infoNumber(node: ServerNode, section: string, field: string): Promise<number> {
  const info = String(await node.command('INFO', section));
  const value = new RegExp(`^${field}:(\\d+)`, 'm').exec(info)?.[1];
  if (value === undefined) throw new Error(`${node.name} does not tell its ${field}`);
  return Number(value);
}

async function roleOf(node: ServerNode): Promise<string> {
  const role = await node.command('ROLE');
  return String(Array.isArray(role) ? role[0] : role);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
