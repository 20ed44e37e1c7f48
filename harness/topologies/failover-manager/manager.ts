/**
 * The failover manager: replaces a primary which no longer answers it. It never touches the virtual address: it says whom it
 * promoted, and the harness moves the address, as a cloud's control plane would.
 */
import { nowNs, sleep } from '../../runtimes/process-time.js';
import { MARIADB } from '../mysql/mariadb-words.js';
import { MYSQL } from '../mysql/mysql-words.js';
import { type Action, actionsFor, type Memory, remember } from './decide.js';
import type { News, Order, Question } from './messages.js';
import type { Watched } from './watched.js';
import { WatchedMysql } from './watched-mysql.js';
import { WatchedPostgres } from './watched-postgres.js';
import { WatchedRedis } from './watched-redis.js';

/** Begins with the `Order` that is its first line; `print` is given `News`. The result takes every line that it hears. */
export function failoverManager(print: (line: string) => void): (line: string) => void {
  const tell = (news: News) => print(JSON.stringify(news));
  let manager: Manager | undefined;
  return (line) => {
    const message = JSON.parse(line) as Order | Question;
    if ('servers' in message) {
      manager = new Manager(message, tell);
      void manager.manage();
    } else if (manager) {
      tell({ news: 'view', id: message.id, ...manager.view() });
    }
  };
}

function watched(endpoint: Order['servers'][number], { service, password, ca }: Order): Watched {
  switch (service) {
    case 'mariadb':
      return new WatchedMysql(endpoint, password ?? '', MARIADB);
    case 'mysql':
      return new WatchedMysql(endpoint, password ?? '', MYSQL);
    case 'postgres':
      return new WatchedPostgres(endpoint, password ?? '');
    default:
      return new WatchedRedis(endpoint, password, ca);
  }
}

class Manager {
  private readonly servers: Watched[];
  private memory: Memory;
  private lastTrouble = '';

  constructor(
    private readonly order: Order,
    private readonly tell: (news: News) => void,
  ) {
    this.servers = order.servers.map((endpoint) => watched(endpoint, order));
    this.memory = { primary: order.primary, streams: [], attentiveNs: nowNs() };
  }

  view(): { primary: string; silent: string[] } {
    const silent = this.servers.map((server) => server.view()).filter(({ answers }) => !answers);
    return { primary: this.memory.primary, silent: silent.map(({ name }) => name) };
  }

  async manage(): Promise<never> {
    // Each at its own pace: one that hangs must not keep the others from being heard.
    for (const server of this.servers) void this.keepChecking(server);
    const everyMs = this.order.checkEveryMs / 2;
    for (let lateMs = 0; ; ) {
      await this.act(lateMs);
      const beforeNs = nowNs();
      await sleep(everyMs);
      lateMs = (nowNs() - beforeNs) / 1e6 - everyMs;
    }
  }

  private async keepChecking(server: Watched): Promise<never> {
    for (;;) {
      await server.check();
      await sleep(this.order.checkEveryMs);
    }
  }

  private async act(lateMs: number): Promise<void> {
    const { downAfterMs } = this.order;
    const look = { atNs: nowNs(), lateMs, servers: this.servers.map((server) => server.view()) };
    this.memory = remember(this.memory, look, downAfterMs);
    const actions = actionsFor(this.memory, look, downAfterMs);
    const failed = await Promise.all(actions.map((action) => this.carryOut(action)));
    const trouble = failed.filter((what) => what !== undefined).join('; ');
    if (trouble !== '' && trouble !== this.lastTrouble) this.tell({ news: 'trouble', what: trouble });
    this.lastTrouble = trouble;
  }

  /** Resolves with what could not be done; it is tried again as long as it is needed. */
  private async carryOut(action: Action): Promise<string | undefined> {
    if (action.do === 'wait') return action.why;
    const server = this.serverOf(action.server);
    try {
      if (action.do === 'promote' || action.do === 'adopt') {
        if (action.do === 'promote') await server.promote();
        const instead = this.memory.primary;
        this.memory = { ...this.memory, primary: action.server };
        this.tell({ news: 'promoted', server: action.server, instead, why: action.why });
      } else {
        const { primary } = this.memory;
        const how = await server.follow(this.serverOf(primary).endpoint);
        if (how === 'rebuild') {
          this.tell({ news: 'to-rebuild', server: action.server, primary });
          return undefined;
        }
        this.tell({ news: action.was === 'primary' ? 'demoted' : 'repointed', server: action.server, primary });
      }
    } catch (error) {
      return `cannot make ${action.server} ${action.do === 'follow' ? 'follow' : 'the primary'}: ${(error as Error).message}`;
    }
    return server.keepRole().then(
      () => undefined,
      (error: Error) => `${action.server} will not keep its role when it is started again: ${error.message}`,
    );
  }

  private serverOf(name: string): Watched {
    const found = this.servers.find(({ endpoint }) => endpoint.name === name);
    if (!found) throw new Error(`there is no server ${name}`);
    return found;
  }
}
