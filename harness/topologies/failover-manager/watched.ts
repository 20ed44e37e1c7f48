/** A server as its failover manager sees it, whatever it is a server of. */
import { nowNs } from '../../runtimes/process-time.js';
import type { Saying, ServerView } from './decide.js';
import type { Order } from './messages.js';

export interface Watched {
  readonly endpoint: Order['servers'][number];
  view(): ServerView;
  /** Asks what it says of itself. Never rejects. */
  check(): Promise<void>;
  /** Makes it a primary; rejects unless it then says so itself. */
  promote(): Promise<void>;
  /** Makes it a replica of `primary`; rejects unless it then says so itself. `rebuild`: somebody must build it anew for that. */
  follow(primary: Order['servers'][number]): Promise<'done' | 'rebuild'>;
  /** So that it comes back as what it is now, not as what it was started as. */
  keepRole(): Promise<void>;
}

/** What a manager keeps of a server, between one answer and the next. */
export abstract class WatchedServer implements Watched {
  private answers = false;
  private answeredNs: number | undefined;
  private askedNs: number | undefined;
  private roleSinceNs: number | undefined;
  protected said: Saying | undefined;

  constructor(readonly endpoint: Order['servers'][number]) {}

  /** What it says of itself, where it answers as it should; bounded in time. */
  protected abstract saying(): Promise<Saying>;
  abstract promote(): Promise<void>;
  abstract follow(primary: Order['servers'][number]): Promise<'done' | 'rebuild'>;
  abstract keepRole(): Promise<void>;

  view(): ServerView {
    const { name, host } = this.endpoint;
    const { answers, answeredNs, askedNs, roleSinceNs, said } = this;
    const heard = said && { answeredNs: answeredNs!, askedNs: askedNs!, roleSinceNs: roleSinceNs!, said };
    return { name, address: host, answers, ...heard };
  }

  async check(): Promise<void> {
    const askedNs = nowNs();
    try {
      const said = await this.saying();
      const answeredNs = nowNs();
      if (said.role !== this.said?.role) this.roleSinceNs = answeredNs;
      Object.assign(this, { said, answers: true, answeredNs, askedNs });
    } catch {
      this.answers = false;
    }
  }
}

/** One of a database whose servers cannot follow another but as a copy of it. */
export abstract class WatchedDatabase extends WatchedServer {
  protected abstract becomePrimary(): Promise<void>;

  async promote(): Promise<void> {
    await this.becomePrimary();
    await this.check();
    if (this.said?.role !== 'primary') throw new Error(`${this.endpoint.name} says that it is no primary`);
  }

  async follow(): Promise<'rebuild'> {
    return 'rebuild';
  }

  async keepRole(): Promise<void> {}
}
