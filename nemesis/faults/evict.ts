/**
 * Memory pressure by somebody else's data: a server whose memory is full throws keys away by its policy, and locks are
 * keys. The memory is filled when a lock is held, until the server evicts one that is held; and again while the step
 * lasts. Fails, with the counts, where no held lock was evicted.
 *
 * Replicas ignore `maxmemory` and follow their primary's evictions, so of a replicated deployment primaries are struck.
 * For independent nodes evicting is forgetting, and the minority rule applies.
 */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { FaultEffect, FaultRecord } from '../../harness/vocabulary/history.js';
import type { ServerNode, Shard } from '../../harness/vocabulary/topology.js';
import { Interrupted, isRefusal, Refusal, words } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import type { Pressure } from '../levers/pressure.js';
import type { ActiveNemesis, NemesisContext, NemesisFault } from '../striking/context.js';
import { GrantWatch } from '../striking/grants.js';
import { goOn } from '../striking/ongoing.js';
import { isNode, resolveTarget } from '../striking/targets.js';
import { countLoss } from './take-down.js';

/** How long to wait for the best lock while another one is held, in parts of the lease. */
const SETTLE_PARTS = 0.2;
/** At the end of a step, for filling when a lock is held at last. */
const LAST_FILL_MS = 1_000;
/** Mostly a tenth of a second is enough. */
const FILL_MS = 4_000;
/** Between two portions of data: the event of an eviction comes meanwhile. */
const PORTION_PAUSE_MS = 25;
const EVICTED = '__keyevent@0__:evicted';

export const evict: NemesisFault = {
  name: 'evict',
  summary: "fill a server's memory with somebody else's data until it evicts a lock that is held",
  explained: {
    does: 'Needs `--maxmemory-policy`. `maxmemory` is set 4 MB above what the server uses. When a lock is held there, large values of somebody else are written, with a time to live of an hour, until the server evicts a key that is held. Again and again while the step lasts. When healed, the values are deleted and `maxmemory` is what it was. A primary is struck (replicas ignore `maxmemory`), or a minority of independent nodes, for which it counts as forgetting.',
    proof:
      "`maxmemory` and `evicted_keys` are read back, and the server's own event must name a key of the run while a client held it.",
    breaks:
      'Every lock on one server that may evict it: exclusion (`evicted`). Of the policies `volatile-ttl` is the worst, for leases are short; only under `noeviction` is a lock with a lease safe. Redlock survives a minority, unless exactly a bare majority had granted.',
  },
  effects: ['short-of-memory', 'evicted'],
  targets: ['primary', 'one', 'minority'],
  strikes: ['node'],
  needs: ['redis'],
  args: {},
  unfit: ({ maxmemoryPolicy }) =>
    maxmemoryPolicy !== undefined && maxmemoryPolicy !== 'noeviction'
      ? undefined
      : `the servers evict nothing${maxmemoryPolicy ? ` (${maxmemoryPolicy})` : ''}; give --maxmemory-policy volatile-ttl`,
  shape: ({ replicated, nodes }, _target, leaseMs) => ({
    lane: 'servers',
    forMs: { min: 3_000, max: 5_000 },
    leastMs: 2_000,
    // What independent nodes evicted counts as forgotten for one lease more.
    settleMs: replicated || nodes.length === 1 ? 1_000 : leaseMs + 1_500,
  }),
  strike: strikeEvict,
};

/** One strike: everything that its cycles need. */
interface Hunt {
  servers: readonly Server[];
  grants: GrantWatch;
  context: NemesisContext;
  untilNs: number;
  /** Aborts when the strike is healed or the run ends. */
  signal: AbortSignal;
}

/** A server under pressure, and which keys of the run it has evicted since. */
interface Server {
  name: string;
  node: ServerNode;
  pressure: Pressure;
  lost: { key: string; holder?: string }[];
  heal(): Promise<string>;
}

type Cycle = Omit<FaultRecord, 'step' | 'fault' | 'state'>;

/** Strikes at the first eviction of a held lock; goes on in the background until it is healed. */
async function strikeEvict(step: PlanStep, context: NemesisContext): Promise<ActiveNemesis> {
  const sinceNs = context.clock.nowNs();
  const victims = await whom(step, context);
  const loss = countLoss(context.topology.replicated ? [] : victims.map(({ node }) => node.name), context);
  const stop = new AbortController();
  const end = () => stop.abort();
  context.signal.addEventListener('abort', end, { once: true });
  try {
    return await InForce.strike(async (inForce) => {
      const servers = await inForce.addAll(victims.map(({ node, tag }) => press(node, tag, context)));
      const grants = new GrantWatch(context, Number.NEGATIVE_INFINITY);
      await inForce.add(ending(() => grants[Symbol.dispose]()));
      const hunt = { servers, grants, context, untilNs: sinceNs + step.forMs * 1e6, signal: stop.signal };
      const first = await cycle(hunt);
      const targets = servers.map(({ name }) => name);
      const more = goOn({ ...hunt, targets }, () => cycle(hunt));
      return {
        sinceNs,
        record: first,
        heal: async () => {
          end();
          context.signal.removeEventListener('abort', end);
          await more;
          const said = await inForce.heal();
          loss.end();
          return said;
        },
      };
    });
  } catch (error) {
    context.signal.removeEventListener('abort', end);
    // What it has evicted by then is forgotten all the same; a refusal comes before that.
    if (isRefusal(error)) loss.cancel();
    else loss.end();
    throw error;
  }
}

/** The nodes to strike, each with a word whose hash slot it serves. */
async function whom(step: PlanStep, context: NemesisContext): Promise<{ node: ServerNode; tag: string }[]> {
  const struck = (await resolveTarget(step, context)).filter(isNode);
  const nodes = struck.map(({ node }) => node).filter(({ kind }) => kind === 'redis');
  if (nodes.length === 0) throw new Refusal('only data nodes evict');
  if (!context.topology.replicated) return nodes.map((node) => ({ node, tag: 'any' }));
  const shards = await context.topology.shards();
  const named = typeof step.target !== 'string';
  const found = nodes.map((node) => {
    const shard = shards.find(({ primary, replicas }) => primary === node || (!named && replicas.includes(node)));
    if (!shard) throw new Refusal(`${node.name} is no primary now, and replicas ignore maxmemory`);
    return shard;
  });
  return [...new Set(found)].map((shard) => ({ node: shard.primary, tag: tagOf(shard) }));
}

function tagOf(shard: Shard): string {
  for (let n = 0; n < 1_000; n++) if (shard.serves(`{any${n}}`)) return `any${n}`;
  throw new Refusal(`${shard.primary.name} serves none of a thousand keys`);
}

/** Limits a server's memory, listens to what it evicts from now on, and fills it up to the limit. */
async function press(node: ServerNode, tag: string, context: NemesisContext): Promise<Server> {
  return InForce.strike(async (inForce) => {
    const pressure = await inForce.add(context.levers.pressure.squeeze(node, tag));
    const lost: Server['lost'] = [];
    const listening = await node.subscribe(EVICTED, (evicted) => {
      const key = keyOfRun(evicted, context.keys);
      if (key === undefined) return;
      const holder = context.clients().find(({ holding }) => holding.includes(key))?.name;
      lost.push({ key: evicted, ...(holder !== undefined && { holder }) });
    });
    await inForce.add(ending(() => listening.close()));
    const did = `limited the memory of ${node.name}`;
    const { proof, effects } = pressure;
    context.note({ state: 'phase', targets: [node.name], did, proof, effects: [...effects] });
    await pressure.fillUp();
    return { name: node.name, node, pressure, lost, heal: () => inForce.heal() };
  });
}

/** Something that only has to be ended when all is healed. */
function ending(end: () => void) {
  return {
    heal: async () => {
      end();
      return '';
    },
  };
}

/** The lock that a key belongs to: itself, or one that is part of its name. */
function keyOfRun(evicted: string, keys: readonly string[]): string | undefined {
  const found = keys.filter((key) => evicted.includes(key));
  // lock:1 is part of lock:10, too.
  return found.sort((a, b) => b.length - a.length)[0];
}

/** Waits until a lock is held on the servers, and fills these until each has evicted one that is. */
async function cycle(hunt: Hunt): Promise<Cycle> {
  const { servers, context, signal } = hunt;
  const targets = servers.map(({ name }) => name);
  await somethingToEvict(hunt);
  const filled = await Promise.all(servers.map((server) => fill(server, hunt)));
  const proof = filled.map(({ said }) => said).join('; ');
  if (!filled.some(({ lost }) => lost.length > 0)) {
    if (signal.aborted) throw new Interrupted(`before ${words(targets)} evicted a lock that was held`);
    throw new Error(`no lock was evicted while it was held: ${proof}; ${context.keys.length} locks in the run`);
  }
  const did = filled.flatMap(({ name, lost }) => lost.map(({ key, holder }) => `${name} evicted ${key} of ${holder}`));
  const effects = filled.flatMap(({ name, lost }): FaultEffect[] =>
    lost.length > 0 ? [{ kind: 'evicted', who: [name], keys: lost.map(({ key }) => key) }] : [],
  );
  return { targets, did: `filled ${words(targets)} with somebody else's data: ${did.join(', ')}`, proof, effects };
}

/** Best a lock that was granted a while ago and so is held a while longer; else any that is held. */
async function somethingToEvict({ servers, grants, context, untilNs, signal }: Hunt): Promise<void> {
  const stored = async ({ key }: { key: string }) => {
    const found = await Promise.all(servers.map(({ node }) => node.command('EXISTS', context.keyName(key))));
    return found.some((count) => Number(count) > 0);
  };
  const { clock, leaseMs } = context;
  const byNs = untilNs - LAST_FILL_MS * 1e6;
  for (;;) {
    const settled = await grants.settled(Math.min(byNs, clock.nowNs() + SETTLE_PARTS * leaseMs * 1e6), stored, {
      signal,
    });
    if (settled.length > 0) return;
    const held = context.clients().flatMap(({ holding }) => holding);
    const found = await Promise.all(held.map((key) => stored({ key })));
    if (found.some((there) => there)) return;
    if (clock.nowNs() >= byNs)
      throw new Error(`no lock was held on ${words(servers.map(({ name }) => name))} that could be evicted`);
  }
}

/** Fills one server until it evicts a lock that is held, or the time is over; a busy machine gets more than is left. */
async function fill({ name, pressure, lost }: Server, { context, untilNs, signal }: Hunt) {
  const before = await pressure.evicted();
  const from = lost.length;
  const held = () => lost.slice(from).filter(({ holder }) => holder !== undefined);
  const byNs = Math.max(untilNs, context.clock.nowNs() + FILL_MS * 1e6);
  let refused = 0;
  while (held().length === 0 && context.clock.nowNs() < byNs && !signal.aborted) {
    refused += await pressure.fill();
    await context.clock.sleep(PORTION_PAUSE_MS, signal);
  }
  const evicted = (await pressure.evicted()) - before;
  const ofRun = lost.length - from;
  const full = refused > 0 ? `, and refused ${refused} writes for want of memory` : '';
  return {
    name,
    lost: held(),
    said: `evicted_keys of ${name} rose by ${evicted}, ${ofRun} of them keys of the run${full}`,
  };
}
