/** A server of MySQL or MariaDB as its failover manager reaches it: over TCP at its own address, as anybody else. */
import { MysqlAdmin } from '../mysql/admin.js';
import type { Flavour } from '../mysql/flavour.js';
import type { Saying } from './decide.js';
import type { Order } from './messages.js';
import { WatchedDatabase } from './watched.js';

const ANSWER_TIMEOUT_MS = 500;
const PROMOTE_S = 5;

export class WatchedMysql extends WatchedDatabase {
  private readonly admin: MysqlAdmin;
  private readonly promoting: MysqlAdmin;

  constructor(
    endpoint: Order['servers'][number],
    password: string,
    private readonly flavour: Flavour,
  ) {
    super(endpoint);
    const { host, port } = endpoint;
    this.admin = new MysqlAdmin({ host, port, password }, ANSWER_TIMEOUT_MS);
    this.promoting = new MysqlAdmin({ host, port, password }, (PROMOTE_S + 1) * 1_000);
  }

  protected async saying(): Promise<Saying> {
    const { admin, flavour } = this;
    const [row] = await admin.ask(flavour.state);
    const { role, term, writer, executed } = flavour.stateIn(row!);
    if (role === 'primary') {
      return {
        role,
        offset: flavour.written(executed),
        stream: streamOf(term),
        // Promoted, and not written to yet.
        ...(writer !== undefined && writer !== term && { formerStream: streamOf(writer) }),
      };
    }
    const { status, source, received } = flavour.replication;
    const [follows] = await admin.ask(status);
    return {
      role,
      // Whom it is to follow, be it that it cannot reach it now.
      ...(follows && { follows: String(follows[source]) }),
      offset: flavour.written(executed, follows?.[received]),
      stream: streamOf(term),
    };
  }

  /** Once it has carried out all that it had received: what a commit waited for is not lost. */
  protected async becomePrimary(): Promise<void> {
    const { promoting, flavour } = this;
    const { status, received, stopReceiving, carriedOut, stop, forgetSource } = flavour.replication;
    if ((await promoting.ask(status)).length > 0) {
      await promoting.ask(stopReceiving);
      const last = (await promoting.ask(status))[0]?.[received] ?? '';
      const [waited] = await promoting.ask(carriedOut, [last, PROMOTE_S]);
      if (Number(waited!.waited) !== 0) throw new Error(`it has not carried out what it received, up to ${last}`);
      await promoting.ask(stop);
      await promoting.ask(forgetSource);
    }
    const { source, replica } = flavour.semiSync;
    const [semi] = await promoting.ask(`SELECT @@global.${replica}_enabled AS synchronous`);
    if (Number(semi!.synchronous) === 1) await promoting.ask(`SET GLOBAL ${source}_enabled = ON`);
    await promoting.ask('SET GLOBAL read_only = OFF');
    promoting.close();
  }
}

function streamOf(server: number): string {
  return `what server ${server} wrote`;
}
