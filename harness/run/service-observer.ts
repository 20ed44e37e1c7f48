/**
 * Watches what the servers of a service that is not Redis say of themselves, through a channel that no fault cuts: whom each has
 * stored for a key of the run, and what it takes itself for.
 *
 * Observations never accuse anybody; they are what lets a report say why. While a server is dead or stopped nothing can be seen of
 * it, and that too is recorded.
 */
import type { Observation, ObservationBody } from '../vocabulary/history.js';
import type { Clock } from '../vocabulary/time.js';
import type { ServerNode, ServiceNews } from '../vocabulary/topology.js';
import { followed } from './followed.js';

export interface ServiceObserverOptions {
  clock: Clock;
  keys: readonly string[];
  record(observation: Observation): void;
}

const ROLE_EVERY_MS = 50;
const AGAIN_MS = 20;

/** Starts watching; disposing stops. Resolves once every server is followed, or cannot be for the moment. */
export async function observeService(
  nodes: readonly ServerNode[],
  options: ServiceObserverOptions,
): Promise<AsyncDisposable> {
  const stop = new AbortController();
  const watches = nodes.map((node) => new ServiceWatch(node, options, stop.signal));
  const loops = watches.flatMap((watch) => [watch.stored(), watch.roles()]);
  return followed(watches, loops, options.clock, stop);
}

class ServiceWatch {
  /** Resolves after the first attempt, whatever came of it. */
  readonly looked: Promise<void>;
  private nowLooked: () => void = () => {};
  private readonly stopped: Promise<undefined>;

  constructor(
    private readonly node: ServerNode,
    private readonly options: ServiceObserverOptions,
    private readonly stop: AbortSignal,
  ) {
    this.looked = new Promise((resolve) => {
      this.nowLooked = resolve;
    });
    this.stopped = new Promise((resolve) => stop.addEventListener('abort', () => resolve(undefined), { once: true }));
  }

  async stored(): Promise<void> {
    const { node } = this;
    if (!node.follow) return this.nowLooked();
    let known = true;
    while (!this.stop.aborted) {
      let reason: string;
      try {
        const attempt = node.follow(this.options.keys, (news) => this.news(news));
        const following = await Promise.race([attempt, this.stopped]);
        if (!following) {
          attempt.then(
            ({ close }) => close(),
            () => {},
          );
          return;
        }
        this.record({ type: 'watch', watching: true });
        known = true;
        this.nowLooked();
        reason = (await Promise.race([following.closed, this.stopped])) ?? 'the run is over';
        following.close();
        await following.closed;
      } catch (error) {
        reason = (error as Error).message;
      }
      if (known && !this.stop.aborted) this.record({ type: 'watch', watching: false, reason });
      known = false;
      this.nowLooked();
      await this.options.clock.sleep(AGAIN_MS, this.stop);
    }
  }

  async roles(): Promise<void> {
    while (!this.stop.aborted) {
      // Dead or stopped: `stored` says so, and a look that could not be taken is simply absent.
      const role = await Promise.race([this.node.roleNow?.().catch(() => undefined), this.stopped]);
      if (role && !this.stop.aborted) this.record({ type: 'role', ...role });
      await this.options.clock.sleep(ROLE_EVERY_MS, this.stop);
    }
  }

  private news(news: ServiceNews): void {
    const client = news.owner === undefined ? undefined : clientOf(news.owner);
    this.record({ type: 'stored', ...news, ...(client !== undefined && { client }) });
  }

  private record(body: ObservationBody): void {
    if (!this.stop.aborted) this.options.record({ atNs: this.options.clock.nowNs(), node: this.node.name, ...body });
  }
}

/** The process that an owner value names: what stands before its colon (`TopologyAccess.ownerValue`). */
function clientOf(owner: string): string | undefined {
  return /^([a-z]+\d+(?:\.\d+)?):/.exec(owner)?.[1];
}
