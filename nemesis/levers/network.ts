/**
 * Cuts between hosts, and hosts taken off the network, with reference counts: of two overlapping faults that cut the same
 * pair, the first to heal leaves the cut in force. What counts is always the host's own routing table, read back after
 * every change.
 *
 * A cut A→B is a blackhole route to B on A. It has no device, so it survives the link going down and up again. A packet
 * that B sends still reaches A, unless A filters by reverse path: `oneWay` finds that out.
 */
import type { Host } from '../../harness/api.js';
import { message, words } from '../context.js';
import { Serial } from './serial.js';

export type Pair = readonly [from: Host, to: Host];

/** Something that a lever did and can undo. `heal` may be called again after it rejected. */
export interface Hold {
  /** What was read back, in words. */
  readonly proof: string;
  /** Undoes it and resolves with what was read back; does nothing once it has succeeded. */
  heal(): Promise<string>;
}

const DEVICE = 'eth0';
/** One process changes all routes of a host, another prints what the kernel then has: the change proves nothing by itself. */
const CHANGE_ROUTES =
  'op=$1; shift; printf "route $op blackhole %s/32\\n" "$@" | ip -force -batch - ; ip -json route show type blackhole';
const READ_RP_FILTER = `cat /proc/sys/net/ipv4/conf/all/rp_filter /proc/sys/net/ipv4/conf/${DEVICE}/rp_filter`;

export class NetworkLever {
  private readonly serial = new Serial();
  /** "from>to" → how many faults want it cut. */
  private readonly cuts = new Map<string, number>();
  private readonly offs = new Map<string, number>();

  /** Cuts every pair and proves it; nothing is left cut by a rejection. */
  async cut(pairs: readonly Pair[]): Promise<Hold> {
    const byHost = groupByFrom(pairs);
    const done = await Promise.allSettled([...byHost].map(([from, to]) => this.raise(from, to)));
    const undo = [...byHost].filter((_, at) => done[at]?.status === 'fulfilled');
    const failed = done.flatMap((result) => (result.status === 'rejected' ? [message(result.reason)] : []));
    const gone = new Map<Host, Host[]>();
    const kept = new Map<Host, Host[]>();
    const lowered = healOnce(undo, async ([from, to]) => {
      const left = await this.lower(from, to);
      gone.set(
        from,
        to.filter((host) => !left.includes(host)),
      );
      if (left.length > 0) kept.set(from, left);
      return '';
    });
    const heal = async () => {
      await lowered();
      const still = kept.size > 0 ? `; kept by another fault: ${inWords(kept)}` : '';
      return `blackhole routes gone: ${inWords(gone)}${still}`;
    };
    if (failed.length > 0) {
      await heal();
      throw new Error(failed.join('; '));
    }
    return { proof: `blackhole routes: ${inWords(byHost)}`, heal };
  }

  /** Takes the host off the network: its link is down. */
  async off(host: Host): Promise<Hold> {
    await this.serial.run(host.name, async () => {
      if ((this.offs.get(host.name) ?? 0) === 0) {
        await setLink(host, 'down');
        const up = await linkIsUp(host);
        if (up) {
          await setLink(host, 'up');
          throw new Error(`${host.name}: ${DEVICE} is still up`);
        }
      }
      this.offs.set(host.name, (this.offs.get(host.name) ?? 0) + 1);
    });
    const heal = healOnce([host], () => this.on(host));
    return { proof: `${host.name}'s ${DEVICE} is down`, heal };
  }

  /** Names of hosts that drop what a peer sends them as soon as they have a blackhole route to it, and why. */
  async oneWayTrouble(hosts: readonly Host[]): Promise<string[]> {
    const read = hosts.map(async (host) => {
      const result = await host.exec(['sh', '-c', READ_RP_FILTER]);
      const values = result.stdout.trim().split(/\s+/);
      if (result.exitCode === 0 && values.every((value) => value === '0')) return undefined;
      return `${host.name} filters by reverse path (rp_filter ${result.stdout.trim().replace(/\s+/g, ', ') || result.stderr})`;
    });
    return (await Promise.all(read)).filter((trouble) => trouble !== undefined);
  }

  /** What of a host's network is not as it was, read from the host; empty when all is well. */
  async trouble(host: Host): Promise<string[]> {
    const result = await host.exec(['ip', '-json', 'route', 'show']);
    if (result.exitCode !== 0) throw new Error(`${host.name}: its routes cannot be read: ${result.stderr}`);
    const cut = blackholesIn(result.stdout);
    // The kernel takes the connected route away with the link, and restores it with it.
    const connected = routesIn(result.stdout).some((route) => route.dev === DEVICE);
    return [
      ...(cut.length > 0 ? [`${host.name} still has blackhole routes to ${words(cut)}`] : []),
      ...(connected ? [] : [`${host.name} is off the network: nothing is routed to ${DEVICE}`]),
    ];
  }

  private raise(from: Host, to: readonly Host[]): Promise<void> {
    return this.serial.run(from.name, async () => {
      const fresh = to.filter((host) => !this.cuts.get(pairKey(from, host)));
      if (fresh.length > 0) {
        const { present, said } = await changeRoutes(from, 'add', fresh);
        const absent = fresh.filter((host) => !present.includes(host.address));
        if (absent.length > 0) {
          await changeRoutes(from, 'del', fresh);
          throw new Error(`${from.name} has no blackhole route to ${names(absent)}${said}`);
        }
      }
      for (const host of to) this.cuts.set(pairKey(from, host), (this.cuts.get(pairKey(from, host)) ?? 0) + 1);
    });
  }

  /** Resolves with the hosts from which another fault keeps it cut. */
  private lower(from: Host, to: readonly Host[]): Promise<Host[]> {
    return this.serial.run(from.name, async () => {
      const last = to.filter((host) => this.cuts.get(pairKey(from, host)) === 1);
      if (last.length > 0) {
        const { present, said } = await changeRoutes(from, 'del', last);
        const left = last.filter((host) => present.includes(host.address));
        if (left.length > 0) throw new Error(`${from.name} still has blackhole routes to ${names(left)}${said}`);
      }
      for (const host of to) this.cuts.set(pairKey(from, host), (this.cuts.get(pairKey(from, host)) ?? 1) - 1);
      return to.filter((host) => !last.includes(host));
    });
  }

  private on(host: Host): Promise<string> {
    return this.serial.run(host.name, async () => {
      const count = this.offs.get(host.name) ?? 1;
      if (count === 1) {
        await setLink(host, 'up');
        if (!(await linkIsUp(host))) throw new Error(`${host.name}: ${DEVICE} does not come up`);
      }
      this.offs.set(host.name, count - 1);
      return count === 1
        ? `${host.name}'s ${DEVICE} is up and has its route`
        : `${host.name} is kept off the network by another fault`;
    });
  }
}

/** Undoes each part once; parts that failed are tried again by the next call. */
export function healOnce<T>(parts: readonly T[], undo: (part: T) => Promise<string>): () => Promise<string> {
  const left = new Set(parts);
  const said: string[] = [];
  const run = async () => {
    const tried = [...left];
    const results = await Promise.allSettled(tried.map(undo));
    const failed: string[] = [];
    results.forEach((result, at) => {
      if (result.status === 'rejected') {
        failed.push(message(result.reason));
      } else {
        left.delete(tried[at]!);
        said.push(result.value);
      }
    });
    if (failed.length > 0) throw new Error(failed.join('; '));
    return said.join('; ');
  };
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    // Two that heal at once must not both undo the same part.
    const done = last.then(run, run);
    last = done;
    return done;
  };
}

/** Every ordered pair between the two groups, in both directions. */
export function bothWays(some: readonly Host[], others: readonly Host[]): Pair[] {
  return [...oneWay(some, others), ...oneWay(others, some)];
}

/** Every ordered pair from one group to the other. */
export function oneWay(from: readonly Host[], to: readonly Host[]): Pair[] {
  return from.flatMap((a) => to.filter((b) => b.name !== a.name).map((b): Pair => [a, b]));
}

export function pairNames(pairs: readonly Pair[]): [from: string, to: string][] {
  return pairs.map(([from, to]) => [from.name, to.name]);
}

async function changeRoutes(
  from: Host,
  op: 'add' | 'del',
  to: readonly Host[],
): Promise<{ present: string[]; said: string }> {
  const result = await from.exec(['sh', '-c', CHANGE_ROUTES, 'routes', op, ...to.map((host) => host.address)]);
  if (result.exitCode !== 0) throw new Error(`${from.name}: its routes cannot be read: ${result.stderr}`);
  return { present: blackholesIn(result.stdout), said: result.stderr ? ` (${result.stderr.trim()})` : '' };
}

interface Route {
  type?: string;
  dst?: string;
  dev?: string;
}

function routesIn(json: string): Route[] {
  return JSON.parse(json.trim() || '[]') as Route[];
}

function blackholesIn(json: string): string[] {
  return routesIn(json).flatMap(({ type, dst }) => (type === 'blackhole' && dst ? [dst.replace(/\/32$/, '')] : []));
}

async function setLink(host: Host, state: 'up' | 'down'): Promise<void> {
  const result = await host.exec(['ip', 'link', 'set', DEVICE, state]);
  if (result.exitCode !== 0) throw new Error(`${host.name}: ip link set ${DEVICE} ${state}: ${result.stderr}`);
}

/** Up, and with the connected route that the kernel restores when a link comes up. */
async function linkIsUp(host: Host): Promise<boolean> {
  const [link, routes] = [
    await host.exec(['ip', '-json', 'link', 'show', DEVICE]),
    await host.exec(['ip', '-json', 'route', 'show', 'dev', DEVICE]),
  ];
  if (link.exitCode !== 0) throw new Error(`${host.name}: its link cannot be read: ${link.stderr}`);
  const flags = (JSON.parse(link.stdout) as { flags?: string[] }[])[0]?.flags ?? [];
  const routed = routes.exitCode === 0 && (JSON.parse(routes.stdout.trim() || '[]') as unknown[]).length > 0;
  return flags.includes('UP') && routed;
}

function groupByFrom(pairs: readonly Pair[]): Map<Host, Host[]> {
  const byName = new Map<string, { from: Host; to: Map<string, Host> }>();
  for (const [from, to] of pairs) {
    const group = byName.get(from.name) ?? { from, to: new Map() };
    group.to.set(to.name, to);
    byName.set(from.name, group);
  }
  return new Map([...byName.values()].map(({ from, to }) => [from, [...to.values()]]));
}

const pairKey = (from: Host, to: Host) => `${from.name}>${to.name}`;
/** "r1 to s1, s2; s1, s2 to r1": hosts with the same peers are told together. */
function inWords(routes: ReadonlyMap<Host, readonly Host[]>): string {
  const from = new Map<string, string[]>();
  for (const [host, to] of routes) if (to.length > 0) from.set(names(to), [...(from.get(names(to)) ?? []), host.name]);
  return [...from].map(([to, hosts]) => `${words(hosts)} to ${to}`).join('; ') || 'none';
}

const names = (hosts: readonly Host[]) => words(hosts.map((host) => host.name));
