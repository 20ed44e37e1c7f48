/**
 * Cuts between hosts, and hosts taken off the network, with reference counts: of two overlapping faults that cut the same
 * pair, the first to heal leaves the cut in force. What counts is always the host's own routing, read back after every
 * change.
 *
 * A cut A→B is a blackhole route to B on A. A packet that B sends still reaches A, unless A filters by reverse path:
 * `oneWay` finds that out. Where an address moves between hosts (`homes`), that route alone would be a lie: B may have
 * that address as well as its own. So B, too, then drops what comes from A, to whatever address; and when the address has
 * moved to C, A reaches it there, as it reaches C.
 */
import type { FaultEffect } from '../../harness/vocabulary/history.js';
import type { Host } from '../../harness/vocabulary/host.js';
import type { Clock } from '../../harness/vocabulary/time.js';
import { type Barrier, blackholesIn, DEVICE, filteredBy, fromPeer, routesIn, toPeer } from './barriers.js';
import { message, words } from './basics.js';
import { Serial } from './serial.js';

export type Pair = readonly [from: Host, to: Host];

/** What a lever did, since when it was read back. */
export type EffectSeen = FaultEffect & { sinceNs: number };

/** Something that a lever did and can undo. `heal` may be called again after it rejected. */
export interface Grip {
  /** What was read back, in words. */
  readonly proof: string;
  /** The same as data, since when it was read back. */
  readonly effects: readonly EffectSeen[];
  /** Undoes it and resolves with what was read back; does nothing once it has succeeded. */
  heal(): Promise<string>;
}

const READ_RP_FILTER = `cat /proc/sys/net/ipv4/conf/all/rp_filter /proc/sys/net/ipv4/conf/${DEVICE}/rp_filter`;

export class NetworkLever {
  private readonly serial = new Serial();
  /** "barrier host peer" → how many faults want it. */
  private readonly wanted = new Map<string, number>();
  private readonly offs = new Map<string, number>();

  /** `homes`: hosts between which an address moves. `dropWaiting`: has what waits on links that were cut never come. */
  constructor(
    private readonly clock: Clock,
    private readonly homes: readonly Host[] = [],
    private readonly dropWaiting: (pairs: readonly Pair[]) => Promise<void> = async () => {},
  ) {}

  /** Cuts every pair and proves it; nothing is left cut by a rejection. */
  async cut(pairs: readonly Pair[]): Promise<Grip> {
    const walls = this.wallsOf(pairs);
    const done = await Promise.allSettled(walls.map((wall) => this.raise(wall)));
    const undo = walls.filter((_, at) => done[at]?.status === 'fulfilled');
    const failed = done.flatMap((result) => (result.status === 'rejected' ? [message(result.reason)] : []));
    await this.dropWaiting(pairs).catch((error) => failed.push(message(error)));
    const left = new Map<Wall, readonly Host[]>();
    const lowered = healOnce(undo, async (wall) => {
      left.set(wall, await this.lower(wall));
      return '';
    });
    const heal = async () => {
      await lowered();
      const kept = undo.map((wall) => ({ ...wall, peers: left.get(wall)! }));
      const gone = undo.map((wall) => ({
        ...wall,
        peers: wall.peers.filter((peer) => !left.get(wall)!.includes(peer)),
      }));
      const still = inWords(kept);
      return [
        `blackhole routes gone: ${inWords(routes(gone)) || 'none'}`,
        ...filters(gone, 'dropped on arrival no more'),
        ...(still ? [`kept by another fault: ${still}`] : []),
      ].join('; ');
    };
    if (failed.length > 0) {
      await heal();
      throw new Error(failed.join('; '));
    }
    return {
      proof: [`blackhole routes: ${inWords(routes(walls))}`, ...filters(walls, 'dropped on arrival')].join('; '),
      effects: [{ kind: 'cut', pairs: pairNames(pairs), sinceNs: this.clock.nowNs() }],
      heal,
    };
  }

  /** Whether a fault keeps packets between the two from passing, one way or the other. */
  isCut([one, other]: Pair): boolean {
    const cut = (from: Host, to: Host) => (this.wanted.get(`${toPeer.name} ${from.name} ${to.name}`) ?? 0) > 0;
    const off = ({ name }: Host) => (this.offs.get(name) ?? 0) > 0;
    return cut(one, other) || cut(other, one) || off(one) || off(other);
  }

  /** Takes the host off the network: its link is down. It is not left so by a rejection. */
  async off(host: Host): Promise<Grip> {
    await this.serial.run(host.name, async () => {
      if ((this.offs.get(host.name) ?? 0) === 0) {
        await setLink(host, 'down');
        try {
          if (await linkIsUp(host)) throw new Error(`${host.name}: ${DEVICE} is still up`);
        } catch (error) {
          await setLink(host, 'up');
          throw error;
        }
      }
      this.offs.set(host.name, (this.offs.get(host.name) ?? 0) + 1);
    });
    const heal = healOnce([host], () => this.on(host));
    const effect: EffectSeen = { kind: 'off-network', who: [host.name], sinceNs: this.clock.nowNs() };
    return { proof: `${host.name}'s ${DEVICE} is down`, effects: [effect], heal };
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
    const dropped = this.isHome(host) ? await filteredBy(host) : [];
    return [
      ...(dropped.length > 0 ? [`${host.name} still drops what comes from ${words(dropped)}`] : []),
      ...(cut.length > 0 ? [`${host.name} still has blackhole routes to ${words(cut)}`] : []),
      ...(connected ? [] : [`${host.name} is off the network: nothing is routed to ${DEVICE}`]),
    ];
  }

  private isHome(host: Host): boolean {
    return this.homes.some(({ name }) => name === host.name);
  }

  private wallsOf(pairs: readonly Pair[]): Wall[] {
    const arriving = pairs.filter(([, to]) => this.isHome(to)).map(([from, to]): Pair => [to, from]);
    return [...grouped(toPeer, pairs), ...grouped(fromPeer, arriving)];
  }

  private raise({ barrier, host, peers }: Wall): Promise<void> {
    const key = (peer: Host) => `${barrier.name} ${host.name} ${peer.name}`;
    return this.serial.run(host.name, async () => {
      const fresh = peers.filter((peer) => !this.wanted.get(key(peer)));
      if (fresh.length > 0) {
        const { present, said } = await barrier.change(host, 'add', fresh);
        const absent = fresh.filter((peer) => !present.includes(peer.address));
        if (absent.length > 0) {
          await barrier.change(host, 'del', fresh);
          throw new Error(`${host.name} ${barrier.lacks} ${names(absent)}${said}`);
        }
      }
      for (const peer of peers) this.wanted.set(key(peer), (this.wanted.get(key(peer)) ?? 0) + 1);
    });
  }

  /** Resolves with the peers for which another fault keeps it. */
  private lower({ barrier, host, peers }: Wall): Promise<Host[]> {
    const key = (peer: Host) => `${barrier.name} ${host.name} ${peer.name}`;
    return this.serial.run(host.name, async () => {
      const last = peers.filter((peer) => this.wanted.get(key(peer)) === 1);
      if (last.length > 0) {
        const { present, said } = await barrier.change(host, 'del', last);
        const left = last.filter((peer) => present.includes(peer.address));
        if (left.length > 0) throw new Error(`${host.name} ${barrier.keeps} ${names(left)}${said}`);
      }
      for (const peer of peers) this.wanted.set(key(peer), (this.wanted.get(key(peer)) ?? 1) - 1);
      return peers.filter((peer) => !last.includes(peer));
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

/** Effects that are over: they were in force until just before `untilNs`, when they began to be undone. */
export function ended(effects: readonly FaultEffect[], untilNs: number): FaultEffect[] {
  return effects.map((effect) => ({ ...effect, untilNs }));
}

/** Every ordered pair between the two groups, in both directions. */
export function bothWays(some: readonly Host[], others: readonly Host[]): Pair[] {
  return [...oneWay(some, others), ...oneWay(others, some)];
}

/** Every ordered pair from one group to the other. */
export function oneWay(from: readonly Host[], to: readonly Host[]): Pair[] {
  return from.flatMap((a) => to.filter((b) => b.name !== a.name).map((b): Pair => [a, b]));
}

function pairNames(pairs: readonly Pair[]): [from: string, to: string][] {
  return pairs.map(([from, to]) => [from.name, to.name]);
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

/** One barrier on one host against its peers of one cut. */
interface Wall {
  readonly barrier: Barrier;
  readonly host: Host;
  readonly peers: readonly Host[];
}

function grouped(barrier: Barrier, pairs: readonly Pair[]): Wall[] {
  const byHost = new Map<string, { host: Host; peers: Map<string, Host> }>();
  for (const [host, peer] of pairs) {
    const group = byHost.get(host.name) ?? { host, peers: new Map() };
    group.peers.set(peer.name, peer);
    byHost.set(host.name, group);
  }
  return [...byHost.values()].map(({ host, peers }) => ({ barrier, host, peers: [...peers.values()] }));
}

const routes = (walls: readonly Wall[]) => walls.filter(({ barrier }) => barrier === toPeer);

function filters(walls: readonly Wall[], what: string): string[] {
  const said = inWords(walls.filter(({ barrier }) => barrier === fromPeer));
  return said ? [`${what}: ${said}`] : [];
}

/** "r1 to s1, s2; s1, s2 to r1; r1 from c1": hosts with the same peers are named together. */
function inWords(walls: readonly Wall[]): string {
  const hosts = new Map<string, string[]>();
  for (const { barrier, host, peers } of walls) {
    const rest = `${barrier === toPeer ? 'to' : 'from'} ${names(peers)}`;
    if (peers.length > 0) hosts.set(rest, [...(hosts.get(rest) ?? []), host.name]);
  }
  return [...hosts].map(([rest, of]) => `${words(of)} ${rest}`).join('; ');
}

const names = (hosts: readonly Host[]) => words(hosts.map((host) => host.name));
