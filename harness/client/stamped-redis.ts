/**
 * The ioredis client of one server that locks are given: an ordinary one whose commands are stamped (see `stamping.ts`).
 * Duplicates of it (`redis.duplicate()`) do the same.
 */
import { Command, Redis, type RedisOptions } from 'ioredis';
import { CommandWatch, type Stamping } from './stamping.js';

type SendCommand = Redis['sendCommand'];

export class StampedRedis extends Redis {
  readonly #watch: CommandWatch;

  constructor(options: RedisOptions, stamping: Stamping) {
    super({ ...options, replyMapping: 'legacy' });
    this.#watch = new CommandWatch(stamping);
  }

  override sendCommand(...[command, stream]: Parameters<SendCommand>): ReturnType<SendCommand> {
    // ioredis's own commands of a new connection belong to no operation.
    const ofHandshake = this.status === 'connect' && Command.checkFlag('HANDSHAKE_COMMANDS', command.name);
    if (!ofHandshake) this.#watch.watch(command, this.options.enableOfflineQueue === true);
    return super.sendCommand(command, stream);
  }

  override duplicate(override?: Partial<RedisOptions>): ReturnType<Redis['duplicate']> {
    const duplicate = new StampedRedis({ ...this.options, ...override }, this.#watch.stamping);
    return duplicate as ReturnType<Redis['duplicate']>;
  }
}
