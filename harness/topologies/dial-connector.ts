/** A client of ioredis over streams that are opened for it, by whatever way leads to the server. */
import type { Duplex } from 'node:stream';
import type { RedisOptions } from 'ioredis';

/** What ioredis sets on every stream, and only those of a network have. */
const WITHOUT_EFFECT = { setNoDelay() {}, setKeepAlive() {} };

/** For `new Redis({ Connector })`. */
export function dialConnector(dial: () => Promise<Duplex>): NonNullable<RedisOptions['Connector']> {
  return class {
    private stream: Duplex | undefined;
    check() {
      return true;
    }
    disconnect() {
      this.stream?.destroy();
    }
    async connect() {
      const stream = await dial();
      this.stream = stream;
      return 'setNoDelay' in stream ? stream : Object.assign(stream, WITHOUT_EFFECT);
    }
  } as unknown as NonNullable<RedisOptions['Connector']>;
}
