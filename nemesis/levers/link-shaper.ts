/**
 * The program that shapes what one host sends (`harness/native/link-shaper.c`), and the routes that lead packets to it. What
 * counts is what the program answers, what the host's routing table shows and which way its packets go, read back after every change.
 *
 * A route to a peer has a metric, so a cut, which is a blackhole route without one, wins against it.
 */
import { createInterface } from 'node:readline';
import type { Host, HostProcess, LinkShape } from '../../harness/vocabulary/host.js';
import type { Clock } from '../../harness/vocabulary/time.js';
import { blackholesIn, routesIn } from './barriers.js';
import { message, words } from './basics.js';

/** What the program says of a peer: what is asked of it, and what it did since it was started. */
export interface Shown {
  delay_us: number;
  jitter_us: number;
  loss_ppm: number;
  duplicate_ppm: number;
  reorder_ppm: number;
  gap_us: number;
  rate_bytes: number;
  /** How many more answers are to be lost with their connections. */
  replies: number;
  taken: number;
  sent: number;
  lost: number;
  duplicated: number;
  reordered: number;
  /** Dropped because too many waited. */
  overflowed: number;
  /** Dropped because the peer was cut off, or their connection reset, while they waited. */
  dropped: number;
  errors: number;
  waiting: number;
  /** The most that a packet was released later than it was due. */
  latest_us: number;
  resets: number;
  /** Ports of the peer's ends of the last connections that were reset. */
  reset_ports: number[];
}

/** What of it tells of answers that are lost with their connections. */
export type LostReplies = Pick<Shown, 'replies' | 'resets' | 'reset_ports'>;

export const NOTHING_ASKED: LinkShape = {
  delayMs: 0,
  jitterMs: 0,
  lossPpm: 0,
  duplicatePpm: 0,
  reorderPpm: 0,
  gapMs: 0,
  rateKbps: 0,
};

/** How devices are called that lead to a link shaper, before their number. */
export const NEAR = 'lt';
const METRIC = 50;
const ANSWER_TIMEOUT_MS = 5_000;

/** What the table has, in the first line; then which way a packet to each peer goes, in one line each: none where it is cut off. */
const CHANGE_ROUTES = `op=$1 near=$2 source=$3; shift 3
printf "route $op %s/32 dev $near src $source metric ${METRIC}\\n" "$@" | ip -force -batch - ; ip -json route show && echo &&
{ printf 'route get %s\\n' "$@" | ip -json -force -batch - 2>/dev/null || :; }`;

/** The device over which packets come to it, as it calls them, in words. */
const DEVICES: Readonly<Record<string, string>> = { tun: 'a TUN device', veth: 'a veth pair' };

export class LinkShaper {
  /** When it ended without being asked to, ns since the epoch. */
  diedNs: number | undefined;
  /** By what it gets packets, and whether it runs before ordinary processes: "a TUN device, SCHED_FIFO". */
  by = '';
  private readonly answers: AsyncIterator<string>;
  private isEnding = false;
  private last: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly host: Host,
    readonly near: string,
    private readonly process: HostProcess,
    private readonly clock: Clock,
  ) {
    this.answers = createInterface(process.stdout)[Symbol.asyncIterator]();
    void process.exited.then(() => {
      if (!this.isEnding) this.diedNs = clock.nowNs();
    });
  }

  /** Rejects with what the program says is wrong. */
  static async start(host: Host, near: string, seed: number, clock: Clock): Promise<LinkShaper> {
    const shaper = new LinkShaper(host, near, await host.startLinkShaper(near, seed), clock);
    try {
      const { device, first } = await shaper.answer('to start');
      shaper.by = `${DEVICES[String(device)] ?? device}${first === true ? ', SCHED_FIFO' : ''}`;
      return shaper;
    } catch (error) {
      await shaper.end();
      throw error;
    }
  }

  /** One command; rejects where it is refused or not answered. */
  ask(command: string, peer: Host, ...words: (string | number)[]): Promise<Shown> {
    const line = [command, peer.address, ...words].join(' ');
    const done = this.last.then(async () => {
      this.process.stdin.write(`${line}\n`);
      return (await this.answer(line)) as unknown as Shown;
    });
    this.last = done.catch(() => {});
    return done;
  }

  /** Sets it, and reads it back. */
  async shape(peer: Host, shape: LinkShape): Promise<Shown> {
    const wanted = {
      delay: Math.round(shape.delayMs * 1_000),
      jitter: Math.round(shape.jitterMs * 1_000),
      loss: shape.lossPpm,
      duplicate: shape.duplicatePpm,
      reorder: shape.reorderPpm,
      gap: Math.round(shape.gapMs * 1_000),
      rate: Math.round(shape.rateKbps * 1_000),
    };
    const shown = await this.ask('shape', peer, ...Object.entries(wanted).flat());
    const { delay_us, jitter_us, loss_ppm, duplicate_ppm, reorder_ppm, gap_us, rate_bytes } = shown;
    const read = [delay_us, jitter_us, loss_ppm, duplicate_ppm, reorder_ppm, gap_us, rate_bytes];
    if (Object.values(wanted).some((value, at) => value !== read[at]))
      throw new Error(`${this.host.name}'s link shaper was asked for ${JSON.stringify(wanted)} and shows ${read}`);
    return shown;
  }

  /** Leads what the host sends to the peers through the program, or no longer; rejects unless the host's routes show it. */
  async route(op: 'replace' | 'del', peers: readonly Host[]): Promise<void> {
    const { host, near } = this;
    const addresses = peers.map(({ address }) => address);
    const result = await host.exec(['sh', '-c', CHANGE_ROUTES, 'links', op, near, host.address, ...addresses]);
    if (result.exitCode !== 0) throw new Error(`${host.name}: its routes cannot be read: ${result.stderr}`);
    const [table = '', ...ways] = result.stdout.split('\n');
    const there = shapedIn(table, near);
    const cut = blackholesIn(table);
    const taken = shapedIn(JSON.stringify(ways.flatMap(routesIn)), near);
    const isLed = (address: string) => there.includes(address) && (taken.includes(address) || cut.includes(address));
    const isLeft = (address: string) => !there.includes(address) && !taken.includes(address);
    const wrong = peers.filter(({ address }) => !(op === 'replace' ? isLed(address) : isLeft(address)));
    if (wrong.length === 0) return;
    const what = op === 'replace' ? 'sends nothing' : 'still sends';
    const said = result.stderr ? ` (${result.stderr.trim()})` : '';
    throw new Error(`${host.name} ${what} over ${near} to ${words(wrong.map(({ name }) => name))}${said}`);
  }

  /** Ends it; the kernel takes its device and routes away. Never rejects. */
  async end(): Promise<void> {
    this.isEnding = true;
    this.process.stdin.end();
    const over = new AbortController();
    const timeout = this.clock.sleep(ANSWER_TIMEOUT_MS, over.signal).then(() => this.process.signal('SIGKILL'));
    await Promise.race([this.process.exited, timeout.then(() => this.process.exited)]);
    over.abort();
  }

  private async answer(to: string): Promise<Record<string, unknown>> {
    const over = new AbortController();
    const { name } = this.host;
    const late = this.clock.sleep(ANSWER_TIMEOUT_MS, over.signal).then(() => 'late' as const);
    const next = await Promise.race([this.answers.next(), late]);
    over.abort();
    if (next === 'late') throw new Error(`${name}'s link shaper did not answer "${to}" within ${ANSWER_TIMEOUT_MS} ms`);
    if (next.done) throw new Error(`${name}'s link shaper has ended`);
    const said = parse(next.value);
    if (typeof said.error === 'string') throw new Error(`${name}'s link shaper: ${said.error}`);
    return said;
  }
}

/** Peers that a host's routing table leads through a link shaper: that of this device, or any. */
export function shapedIn(json: string, near?: string): string[] {
  const leads = (dev: string) => (near === undefined ? dev.startsWith(NEAR) : dev === near);
  return routesIn(json).flatMap(({ dst, dev }) => (dev && dst && leads(dev) ? [dst.replace(/\/32$/, '')] : []));
}

function parse(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch (error) {
    return { error: `an answer that is no JSON (${message(error)})` };
  }
}
