/**
 * The two things on a host that keep packets from passing between it and a peer. Each is changed by one process and then
 * read back from the kernel: the change proves nothing by itself.
 *
 * | barrier    | where       | drops                                                       |
 * | ---------- | ----------- | ----------------------------------------------------------- |
 * | `toPeer`   | on a sender | what it sends to the peer's own address: a blackhole route  |
 * | `fromPeer` | on a receiver | what comes from the peer, to whatever address: a routing rule |
 *
 * A blackhole route has no device, so it survives the link going down and up again. It says nothing about an address that
 * the peer has only for a while; a rule does, and so stays right when such an address moves away.
 */
import type { Host } from '../../harness/vocabulary/host.js';

export interface Barrier {
  readonly name: 'toPeer' | 'fromPeer';
  /** Adds or takes away for each peer; resolves with the addresses of peers for which the host then has one. */
  change(host: Host, op: 'add' | 'del', peers: readonly Host[]): Promise<{ present: string[]; said: string }>;
  /** "has no blackhole route to", to be followed by peers. */
  readonly lacks: string;
  /** "still has blackhole routes to", to be followed by peers. */
  readonly keeps: string;
}

export const DEVICE = 'eth0';

const CHANGE_ROUTES =
  'op=$1; shift; printf "route $op blackhole %s/32\\n" "$@" | ip -force -batch - ; ip -json route show type blackhole';

export const toPeer: Barrier = {
  name: 'toPeer',
  change: (host, op, peers) => change(host, CHANGE_ROUTES, op, peers, blackholesIn),
  lacks: 'has no blackhole route to',
  keeps: 'still has blackhole routes to',
};

const FILTER_PREF = 10;
/**
 * A packet to one of the host's own addresses is accepted by the first of all rules, which looks into the table `local`:
 * that one has to make room before anything can be dropped. It is in force under its new number before the old one goes.
 */
const CHANGE_RULES = `
case $(ip rule show pref 0) in *local*) printf "rule add pref ${2 * FILTER_PREF} lookup local\\nrule del pref 0\\n" | ip -batch - ;; esac
op=$1; shift; printf "rule $op pref ${FILTER_PREF} from %s/32 iif ${DEVICE} type blackhole\\n" "$@" | ip -force -batch -
ip -json rule show pref ${FILTER_PREF}`;

export const fromPeer: Barrier = {
  name: 'fromPeer',
  change: (host, op, peers) => change(host, CHANGE_RULES, op, peers, filteredIn),
  lacks: 'has no rule that drops what comes from',
  keeps: 'still drops what comes from',
};

/** Peers from which the host drops everything, read from the host. */
export async function filteredBy(host: Host): Promise<string[]> {
  const result = await host.exec(['ip', '-json', 'rule', 'show', 'pref', String(FILTER_PREF)]);
  if (result.exitCode !== 0) throw new Error(`${host.name}: its routing rules cannot be read: ${result.stderr}`);
  return filteredIn(result.stdout);
}

async function change(
  host: Host,
  script: string,
  op: 'add' | 'del',
  peers: readonly Host[],
  presentIn: (json: string) => string[],
): Promise<{ present: string[]; said: string }> {
  const result = await host.exec(['sh', '-c', script, 'change', op, ...peers.map((peer) => peer.address)]);
  if (result.exitCode !== 0) throw new Error(`${host.name}: its routes cannot be read: ${result.stderr}`);
  return { present: presentIn(result.stdout), said: result.stderr ? ` (${result.stderr.trim()})` : '' };
}

interface Route {
  type?: string;
  dst?: string;
  dev?: string;
}

export function routesIn(json: string): Route[] {
  return JSON.parse(json.trim() || '[]') as Route[];
}

export function blackholesIn(json: string): string[] {
  return routesIn(json).flatMap(({ type, dst }) => (type === 'blackhole' && dst ? [dst.replace(/\/32$/, '')] : []));
}

function filteredIn(json: string): string[] {
  const rules = JSON.parse(json.trim() || '[]') as { action?: string; src?: string; iif?: string }[];
  return rules.flatMap(({ action, src, iif }) => (action === 'blackhole' && iif === DEVICE && src ? [src] : []));
}
