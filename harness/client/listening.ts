/**
 * The pub/sub channels that a lock listens to, over one connection that does nothing else. It subscribes again by itself
 * when the connection comes back; what was published meanwhile is lost, as it is for every subscriber of Redis.
 */
import { type Cluster, Redis } from 'ioredis';

type Heard = (message: string) => void;

export class Listening {
  readonly #listeners = new Map<string, Set<Heard>>();

  /** `isReady`: resolves with whether the client can take a command, waiting for it a little while. */
  constructor(
    private readonly client: Redis | Cluster,
    private readonly isReady: () => Promise<boolean>,
  ) {
    // ioredis would do it by itself, but lets the failure of it end the process.
    if (client instanceof Redis) client.options.autoResubscribe = false;
    client.on('message', (channel: string, message: string) => {
      for (const heard of [...(this.#listeners.get(channel) ?? [])]) heard(message);
    });
    client.on('ready', () => {
      const channels = [...this.#listeners.keys()];
      if (channels.length > 0) client.subscribe(...channels).catch(ignore);
    });
  }

  async listen(channel: string, heard: Heard): Promise<() => void> {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(heard));
    const stop = () => {
      listeners.delete(heard);
      if (listeners.size > 0 || this.#listeners.get(channel) !== listeners) return;
      this.#listeners.delete(channel);
      this.client.unsubscribe(channel).catch(ignore);
    };
    try {
      if (!(await this.isReady())) throw new Error('no connection to listen on');
      // Also where somebody else here listens to it already: that one's subscription may not be confirmed yet.
      await this.client.subscribe(channel);
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }
}

/** A subscriber finds out by what does not come: the connection says why in its own `error` event. */
function ignore(): void {}
