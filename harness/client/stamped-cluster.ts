/**
 * The ioredis Cluster client that locks are given: its commands are stamped (see `stamping.ts`), and it never sends one
 * again that may have been executed. ioredis by itself resends a command whose connection was closed, and one that the
 * Cluster refused because it was down; here only a redirection is followed, which says that nothing was done.
 *
 * It connects to every node that it hears of at once, replicas too, so that a promoted one can be used in the moment in
 * which it is heard of. Duplicates of it (`cluster.duplicate()`) do the same.
 */
import { Cluster, type ClusterNode, type ClusterOptions, Command, type Redis } from 'ioredis';
import { limit } from '../runtimes/process-time.js';
import { errorCode, isReplyError } from './command-log.js';
import { CommandWatch, isRedirection, type Stamping } from './stamping.js';

type SendCommand = Cluster['sendCommand'];
type HandleError = Cluster['handleError'];
type Duplicate = Cluster['duplicate'];

export interface StampedClusterOptions extends ClusterOptions {
  redisOptions: NonNullable<ClusterOptions['redisOptions']> & { commandTimeout: number };
}

export class StampedCluster extends Cluster {
  readonly #watch: CommandWatch;
  readonly #startupNodes: ClusterNode[];

  constructor(startupNodes: ClusterNode[], options: StampedClusterOptions, stamping: Stamping) {
    super(startupNodes, {
      ...options,
      redisOptions: { ...options.redisOptions, replyMapping: 'legacy' },
      // Would ask a node that is not connected yet, and nothing waits for that here.
      enableReadyCheck: false,
      // Not before somebody hears of the nodes.
      lazyConnect: true,
    });
    this.#startupNodes = startupNodes;
    this.#watch = new CommandWatch(stamping);
    this.on('+node', (node: Redis) => this.#connectNode(node));
    if (!options.lazyConnect) this.connect().catch(() => {}); // 'error' tells
  }

  /** Whether every primary that it knows of can be sent a command now. */
  get usable(): boolean {
    const primaries = this.nodes('master');
    return this.status === 'ready' && primaries.length > 0 && primaries.every(({ status }) => status === 'ready');
  }

  override sendCommand(...[command, stream, node]: Parameters<SendCommand>): ReturnType<SendCommand> {
    const { enableOfflineQueue, redisOptions } = this.options as StampedClusterOptions;
    // The connection for subscriptions is of ioredis's own making, and has a queue.
    const mayQueue = enableOfflineQueue === true || Command.checkFlag('ENTER_SUBSCRIBER_MODE', command.name);
    this.#watch.watch(command, mayQueue);
    // Runs from here on, to whatever nodes the command is sent.
    limit(command, redisOptions.commandTimeout);
    return super.sendCommand(command, stream, node);
  }

  override handleError(...[error, ttl, handlers]: Parameters<HandleError>): void {
    if (isRedirection(error)) {
      super.handleError(error, ttl, handlers);
      return;
    }
    // The server that answered has lost the others, or a part of the slots has no primary: look who serves what now.
    if (isReplyError(error) && errorCode(error) === 'CLUSTERDOWN') this.refreshSlotsCache();
    handlers.defaults();
  }

  override duplicate(...[startupNodes = [], override]: Parameters<Duplicate>): ReturnType<Duplicate> {
    const nodes = startupNodes.length > 0 ? startupNodes : this.#startupNodes;
    const redisOptions = { ...this.options.redisOptions, ...override?.redisOptions };
    const options = { ...this.options, lazyConnect: false, ...override, redisOptions } as StampedClusterOptions;
    return new StampedCluster(nodes, options, this.#watch.stamping) as ReturnType<Duplicate>;
  }

  /** ioredis would connect with the first command, and keep that in a queue until then. */
  #connectNode(node: Redis): void {
    node.options.enableOfflineQueue = this.options.enableOfflineQueue === true;
    node.connect().catch(() => {}); // 'node error' tells
  }
}
