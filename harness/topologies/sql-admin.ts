/** Questions to one SQL server, one connection at a time: a question that fails or takes too long ends its connection. */

export type SqlRow = Record<string, unknown>;

/** A connection of a database's own client library. */
export interface AdminConnection {
  /** The rows. Bounded in time. */
  query(sql: string, values: readonly unknown[]): Promise<SqlRow[]>;
  /** At once; never rejects. */
  end(): void;
  /** Resolves when it has ended, whoever ended it. */
  readonly ended: Promise<void>;
}

export class SqlAdmin {
  private connection: Promise<AdminConnection> | undefined;
  private last: Promise<unknown> = Promise.resolve();

  /** `isAnswer`: whether an error is what the server answered, after which the connection is as good as before. */
  constructor(
    private readonly connect: () => Promise<AdminConnection>,
    private readonly isAnswer: (error: unknown) => boolean,
  ) {}

  /** One after the other. */
  ask(sql: string, values: readonly unknown[] = []): Promise<SqlRow[]> {
    const answer = this.last.then(() => this.askNow(sql, values));
    this.last = answer.catch(() => {});
    return answer;
  }

  close(): void {
    const { connection } = this;
    this.connection = undefined;
    connection?.then((one) => one.end()).catch(() => {});
  }

  private async askNow(sql: string, values: readonly unknown[]): Promise<SqlRow[]> {
    this.connection ??= this.open();
    const connection = this.connection;
    try {
      return await (await connection).query(sql, values);
    } catch (error) {
      if (!this.isAnswer(error) && this.connection === connection) this.close();
      throw error;
    }
  }

  private open(): Promise<AdminConnection> {
    const opened = this.connect();
    const forget = () => {
      if (this.connection === opened) this.connection = undefined;
    };
    opened.then(({ ended }) => ended).then(forget, forget);
    return opened;
  }
}
