/**
 * Watches what every Redis node believes, through a channel that no fault cuts: the exact order of commands on the
 * run's keys (MONITOR), with the evictions of those keys among them, and samples of role, offset, owner, PTTL and wall
 * clock.
 *
 * Observations never accuse anybody; they are what lets a report say why. While a node is dead or stopped nothing can be
 * seen of it, and that too is recorded.
 */
import { setMaxListeners } from 'node:events';
import calculateSlot from 'cluster-key-slot';
import { EVICTION } from '../topologies/monitor.js';
import type { Observation, ObservationBody } from '../vocabulary/history.js';
import type { Clock } from '../vocabulary/time.js';
import type { MonitoredCommand, ServerNode } from '../vocabulary/topology.js';
import { CommandSenders, type HostsClient } from './command-senders.js';
import { followed } from './followed.js';

export interface ObserverOptions {
  clock: Clock;
  keys: readonly string[];
  /** What a key is called on the servers. */
  keyName(key: string): string;
  record(observation: Observation): void;
  clientAt(address: string): HostsClient | undefined;
  /** Commands run at the instants of their stamps: what a server's clock showed is recorded as exactly as it told it. */
  exactStamps?: boolean;
}

const SAMPLE_EVERY_MS = 100;
const RECONNECT_PAUSE_MS = 20;
/** For so long clients of a server that was started again wait for what it has before they come, once it is followed. */
const LOOK_BEFORE_CLIENTS_MS = 100;

/** They concern every key, or what was stored before them, whatever that was. */
const OF_ALL_KEYS = new Set(['FLUSHALL', 'FLUSHDB', 'SWAPDB', 'WAIT', 'WAITAOF']);

/** Starts watching `nodes`; disposing stops. Resolves once every node is being watched, or cannot be for the moment. */
export async function observe(nodes: readonly ServerNode[], options: ObserverOptions): Promise<AsyncDisposable> {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // one for every loop of every node
  const watches = nodes.map((node) => new NodeWatch(node, options, stop.signal));
  const loops = watches.flatMap((watch) => [watch.commands(), watch.samples()]);
  return followed(watches, loops, options.clock, stop);
}

class NodeWatch {
  /** Resolves after the first attempt, whatever came of it. */
  readonly looked: Promise<void>;
  private nowLooked: () => void = () => {};
  private readonly stopped: Promise<undefined>;
  /** What may be the script that calls the next commands, where it was not recorded. */
  private script: MonitoredCommand | undefined;
  /** How often what was stored before stopped counting: its commands began to be followed, or one was left out. */
  private begun = 0;
  private readonly senders: CommandSenders;
  /** What was run last is not recorded. */
  private isMissing = false;

  constructor(
    private readonly node: ServerNode,
    private readonly options: ObserverOptions,
    private readonly stop: AbortSignal,
  ) {
    this.senders = new CommandSenders((address) => options.clientAt(address));
    this.looked = new Promise((resolve) => {
      this.nowLooked = resolve;
    });
    this.stopped = new Promise((resolve) => stop.addEventListener('abort', () => resolve(undefined), { once: true }));
  }

  /** Keeps following the server's commands, and says when it cannot. */
  async commands(): Promise<void> {
    let known = true;
    while (!this.stop.aborted) {
      let reason: string;
      let pauseMs = RECONNECT_PAUSE_MS;
      try {
        const attempt = this.node.monitor((command) => this.command(command));
        // A stopped server does not answer, and must not keep the run from ending.
        const monitoring = await Promise.race([attempt, this.stopped]);
        if (!monitoring) {
          attempt.then(
            ({ close }) => close(),
            () => {},
          );
          return;
        }
        this.begun++;
        this.isMissing = false;
        this.record({ type: 'watch', watching: true });
        known = true;
        const sinceNs = this.options.clock.nowNs();
        this.stop.addEventListener('abort', monitoring.close, { once: true });
        if (this.stop.aborted) monitoring.close();
        // What is stored from here on: of what came before nothing counts, as it may have changed unseen.
        const sampled = this.trySample();
        if (monitoring.letClientsIn) {
          await Promise.race([sampled, this.options.clock.sleep(LOOK_BEFORE_CLIENTS_MS, this.stop)]);
          monitoring.letClientsIn();
        }
        await sampled;
        this.nowLooked();
        reason = await monitoring.closed;
        this.stop.removeEventListener('abort', monitoring.close);
        // A Sentinel ends all connections of a server whose role it changes, and clients come back to it.
        if (this.options.clock.nowNs() - sinceNs > pauseMs * 1e6) pauseMs = 0;
      } catch (error) {
        reason = (error as Error).message;
      }
      if (known && !this.stop.aborted) this.record({ type: 'watch', watching: false, reason });
      known = false;
      // One that died before anybody looked is recorded so; the run must not wait for it.
      this.nowLooked();
      if (pauseMs > 0) await this.options.clock.sleep(pauseMs, this.stop);
    }
  }

  async samples(): Promise<void> {
    while (!this.stop.aborted) {
      await this.trySample();
      await this.options.clock.sleep(SAMPLE_EVERY_MS, this.stop);
    }
  }

  private async trySample(): Promise<void> {
    try {
      const askedNs = this.options.clock.nowNs();
      const { begun } = this;
      const sample = await this.sample();
      // Else it shows what was there before something that nobody saw, and would be read as what is there after it.
      if (begun === this.begun) this.record(sample);
      this.senders.answered(askedNs);
    } catch {
      // Dead or stopped: `commands` says so, and a sample that could not be taken is simply absent.
    }
  }

  private command(command: MonitoredCommand): void {
    const { source, argv } = command;
    if (source === EVICTION) {
      if (this.concernsRun(argv[0]!)) this.record({ type: 'evicted', key: argv[0]! });
      return;
    }
    if (source !== 'lua') {
      this.script = undefined;
      this.seesAgain();
    } else if (this.isMissing) return;
    // The observer's own commands come through the unix socket; with them the faults', of which one takes keys away.
    if (source.startsWith('unix:') && argv[0]!.toUpperCase() !== 'MIGRATE') return;
    // Whose a connection is shows best in the first that comes over it, be it about anything.
    if (source !== 'lua') this.senders.of(source);
    const concerns = OF_ALL_KEYS.has(argv[0]!.toUpperCase()) || argv.some((argument) => this.concernsRun(argument));
    if (source !== 'lua' && !concerns) this.script = command;
    if (!concerns) return;
    // A script that builds the names of its keys by itself: whose commands these are, its line tells.
    if (source === 'lua' && this.script) this.recordCommand(this.script);
    this.script = undefined;
    this.recordCommand(command);
  }

  private recordCommand({ serverWallMs, source, db, argv }: MonitoredCommand): void {
    const sender = this.senders.of(source);
    if (sender && 'doubt' in sender) {
      this.missed(`whether ${sender.doubt} or its predecessor sent ${argv[0]} cannot be told`);
      return;
    }
    const client = sender?.client;
    this.record({
      type: 'command',
      serverWallMs,
      source,
      ...(client !== undefined && { client }),
      ...(db !== undefined && { db }),
      argv: argv.map((argument) => (argument.length > 200 ? `${argument.slice(0, 200)}…` : argument)),
    });
  }

  /** A command is left out, and what it calls if it is a script: as if nobody had watched just then. */
  private missed(reason: string): void {
    this.isMissing = true;
    this.begun++;
    this.record({ type: 'watch', watching: false, reason });
    // It comes after the command, for a server carries out one after the other, and so ends this.
    void this.trySample();
  }

  private seesAgain(): void {
    if (this.isMissing) this.record({ type: 'watch', watching: true });
    this.isMissing = false;
  }

  private concernsRun(argument: string): boolean {
    return this.options.keys.some((key) => argument.includes(key));
  }

  private async sample(): Promise<ObservationBody> {
    const { clock, keys } = this.options;
    const isFollowed = this.begun > 0;
    const askedWallMs = clock.wallMs();
    const [time, server, replication, count, ...values] = await Promise.all([
      this.node.command('TIME'),
      this.node.command('INFO', 'server'),
      this.node.command('INFO', 'replication'),
      this.node.command('DBSIZE'),
      ...keys.flatMap((key) => [this.owner(key), this.ofKey('PTTL', key)]),
    ]);
    const answeredWallMs = clock.wallMs();
    const serverMs = millisecondsOf(time);
    const unseen = await this.mayHave(keys.filter((_, n) => values[2 * n] === ELSEWHERE));
    const untilMs = millisecondsOf(await this.node.command('TIME'));
    // The machine's clock tells whole milliseconds that are over: a server's of the same instant is no part of one ahead.
    const inWhole = this.options.exactStamps ? Math.floor : Math.round;
    const facts = infoFields(`${server}\n${replication}`);
    const role = facts.get('role');
    const sample: Extract<ObservationBody, { type: 'sample' }> = {
      type: 'sample',
      role: role === 'master' ? 'primary' : role === 'slave' ? 'replica' : 'unknown',
      offset: Number(facts.get(role === 'slave' ? 'slave_repl_offset' : 'master_repl_offset') ?? 0),
      runId: facts.get('run_id') ?? '',
      // TIME was taken somewhere between question and answer.
      skewMs: inWhole(serverMs < askedWallMs ? serverMs - askedWallMs : Math.max(0, serverMs - answeredWallMs)),
      wallMs: this.options.exactStamps ? [serverMs, untilMs] : [Math.floor(serverMs), Math.ceil(untilMs)],
      keys: {},
    };
    // Whatever a lock keeps beside its keys, a queue or a count: then it is known that there is none.
    // What was stored before its commands were followed is not in the record.
    if (Number(count) === 0 && isFollowed) sample.isEmpty = true;
    if (role === 'slave') sample.linkUp = facts.get('master_link_status') === 'up';
    keys.forEach((key, n) => {
      const stored = values[2 * n] as Stored | typeof ELSEWHERE | undefined;
      // It was moved between the two questions.
      if (stored !== undefined && values[2 * n + 1] === null) unseen.push(key);
      else if (stored !== undefined && stored !== ELSEWHERE)
        sample.keys[key] = { ...stored, pttlMs: Number(values[2 * n + 1]) };
    });
    if (unseen.length > 0) sample.unseen = unseen;
    return sample;
  }

  /** What is stored under a key: a string as it is, a hash as JSON, anything else in words. */
  private async owner(key: string): Promise<Stored | typeof ELSEWHERE | undefined> {
    try {
      const value = await this.ofKey('GET', key);
      if (value === ELSEWHERE) return ELSEWHERE;
      return value === null ? undefined : { owner: String(value), type: 'string' };
    } catch (error) {
      if (!(error as Error).message.startsWith('WRONGTYPE')) throw error;
      return await this.node.command('HGETALL', this.options.keyName(key)).then(
        (fields) => ({ owner: JSON.stringify(fields), type: 'hash' }),
        () => ({ owner: JSON.stringify('(not a string or hash)'), type: 'other' }),
      );
    }
  }

  /**
   * ELSEWHERE for a key of another shard: a Cluster node says where that is (MOVED), and may have it all the same, if its slot
   * comes to it. Null for one that it gives away and has no more (ASK).
   */
  private async ofKey(command: 'GET' | 'PTTL', key: string): Promise<unknown> {
    try {
      return await this.node.command(command, this.options.keyName(key));
    } catch (error) {
      if ((error as Error).message.startsWith('MOVED ')) return ELSEWHERE;
      if ((error as Error).message.startsWith('ASK ')) return null;
      throw error;
    }
  }

  /** Which of these keys, that it says are another shard's, the node may have: all of a slot of which it has any. */
  private async mayHave(keys: readonly string[]): Promise<string[]> {
    const counts = await Promise.all(
      keys.map((key) => this.node.command('CLUSTER', 'COUNTKEYSINSLOT', calculateSlot(this.options.keyName(key)))),
    );
    return keys.filter((_, n) => Number(counts[n]) > 0);
  }

  private record(body: ObservationBody): void {
    this.options.record({ atNs: this.options.clock.nowNs(), node: this.node.name, ...body });
  }
}

const ELSEWHERE = Symbol('another shard');

type Stored = { owner: string; type: 'string' | 'hash' | 'other' };

/** Of an answer to TIME. */
function millisecondsOf(time: unknown): number {
  const [seconds, micros] = time as [string, string];
  return Number(seconds) * 1_000 + Number(micros) / 1_000;
}

function infoFields(info: string): Map<string, string> {
  return new Map(
    info.split('\n').flatMap((line) => {
      const at = line.indexOf(':');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1).trim()] as const] : [];
    }),
  );
}
