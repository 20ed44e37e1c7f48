/**
 * Processes stopped, continued, killed and started again, with reference counts: a node that two faults keep down comes
 * back when both are healed. Read back from the kernel (`HostProcess.state`), and a started server by its PONG.
 */
import type { HostProcess } from '../../harness/vocabulary/host.js';
import type { Clock } from '../../harness/vocabulary/time.js';
import type { ServerNode } from '../../harness/vocabulary/topology.js';
import { EndedMeanwhile, message, Refusal } from './basics.js';
import { type Grip, healOnce } from './network.js';
import { Serial } from './serial.js';

/**
 * A signal takes effect when the kernel next runs the process. That is at once on a quiet machine; where twenty processes share
 * two cores, one that has a large memory to give back was seen running seconds after its SIGKILL.
 */
const STATE_TIMEOUT_MS = 10_000;
const STATE_POLL_MS = 1;

type State = Awaited<ReturnType<HostProcess['state']>>;

export class PauseLever {
  /** Names of the Sentinels that some fault stops, for good or again and again; one entry a fault. */
  readonly sentinels: string[] = [];
  private readonly serial = new Serial();
  private readonly counts = new Map<HostProcess, number>();
  /** Those that said that they are about to stop themselves. */
  private readonly announced = new Set<HostProcess>();
  /** Those that did, and are kept stopped: counted like a fault, but by no fault's doing. */
  private readonly standing = new Set<HostProcess>();

  constructor(private readonly clock: Clock) {}

  /** Whether a fault keeps it stopped. */
  isPaused(process: HostProcess): boolean {
    return (this.counts.get(process) ?? 0) > (this.standing.has(process) ? 1 : 0);
  }

  /** The process is about to stop itself: a lever that continues it may find it stopped again. Call the result when that is over. */
  announce(process: HostProcess): () => void {
    this.announced.add(process);
    return () => this.announced.delete(process);
  }

  /**
   * Keeps a process stopped that stopped itself, whatever a fault does with it meanwhile. Undefined where it does not stand, or
   * where a fault has stopped it: then nothing shows that it would not go on once that is healed.
   */
  keepStanding(name: string, process: HostProcess): Promise<Grip | undefined> {
    return this.serial.run(name, async () => {
      if (this.counts.has(process) || (await process.state()) !== 'stopped') return undefined;
      this.counts.set(process, 1);
      this.standing.add(process);
      return {
        proof: `${name} (pid ${process.pid}) has stopped itself`,
        effects: [{ kind: 'stopped', who: [name], sinceNs: this.clock.nowNs() }],
        heal: healOnce([process], () => {
          this.standing.delete(process);
          return this.resume(name, process);
        }),
      };
    });
  }

  /** SIGSTOP; resolves when the kernel says it is stopped. */
  async pause(name: string, process: HostProcess): Promise<Grip> {
    await this.serial.run(name, async () => {
      if (!this.counts.has(process)) {
        if ((await process.state()) === 'dead') throw new EndedMeanwhile(`${name} is not running`);
        process.signal('SIGSTOP');
        const state = await settles(process, 'stopped', this.clock);
        if (state !== 'stopped') {
          process.signal('SIGCONT');
          const why = `${name} (pid ${process.pid}) got SIGSTOP but is ${state}`;
          throw state === 'dead' ? new EndedMeanwhile(why) : new Error(why);
        }
      }
      this.counts.set(process, (this.counts.get(process) ?? 0) + 1);
    });
    return {
      proof: `${name} (pid ${process.pid}) is stopped`,
      effects: [{ kind: 'stopped', who: [name], sinceNs: this.clock.nowNs() }],
      heal: healOnce([process], () => this.resume(name, process)),
    };
  }

  private resume(name: string, process: HostProcess): Promise<string> {
    return this.serial.run(name, async () => {
      const count = this.counts.get(process) ?? 1;
      if (count > 1) {
        this.counts.set(process, count - 1);
        return `${name} is kept stopped by another fault`;
      }
      process.signal('SIGCONT');
      const stopsItself = () => this.announced.has(process);
      const state = await settles(process, 'running', this.clock, stopsItself);
      if (state === 'stopped' && !stopsItself())
        throw new Error(`${name} (pid ${process.pid}) got SIGCONT but is still stopped`);
      this.counts.delete(process);
      if (state === 'stopped') return `${name} (pid ${process.pid}) got SIGCONT, and has stopped itself since`;
      return state === 'dead'
        ? `${name} (pid ${process.pid}) was killed meanwhile`
        : `${name} (pid ${process.pid}) is running`;
    });
  }
}

export class KillLever {
  private readonly serial = new Serial();
  private readonly counts = new Map<ServerNode, number>();
  /** Those whose logs may be such that they refuse to start. */
  private readonly damaged = new Set<ServerNode>();

  constructor(private readonly clock: Clock) {}

  /** Whoever starts the node again is to mend its log, should it refuse it. */
  expectDamage(node: ServerNode): void {
    this.damaged.add(node);
  }

  /** True while a fault keeps the node down. */
  isDown(node: ServerNode): boolean {
    return (this.counts.get(node) ?? 0) > 0;
  }

  /** SIGKILL; resolves when the process is dead. Healing starts the server again with what is on its disk. */
  async kill(node: ServerNode): Promise<Grip> {
    const pid = node.process.pid;
    await this.serial.run(node.name, async () => {
      if (!this.isDown(node)) {
        if ((await node.process.state()) === 'dead') throw new Refusal(`${node.name} is not running`);
        await killed(node.name, node.process, this.clock);
      }
      this.counts.set(node, (this.counts.get(node) ?? 0) + 1);
    });
    return {
      proof: `${node.name} (pid ${pid}) is dead`,
      effects: [{ kind: 'killed', who: [node.name], sinceNs: this.clock.nowNs() }],
      heal: healOnce([node], () => this.revive(node)),
    };
  }

  private revive(node: ServerNode): Promise<string> {
    return this.serial.run(node.name, async () => {
      const count = this.counts.get(node) ?? 1;
      if (count > 1) {
        this.counts.set(node, count - 1);
        return `${node.name} is kept down by another fault`;
      }
      // A start that failed half-way may have left a process behind that still loads its data.
      const mended = (await node.process.state()) === 'dead' ? await this.started(node) : '';
      await node.ping();
      this.counts.delete(node);
      return `${mended}${node.name} runs again (pid ${node.process.pid}) and answers PING`;
    });
  }

  /** Resolves with what had to be mended first, in words. */
  private async started(node: ServerNode): Promise<string> {
    try {
      await node.start();
      this.damaged.delete(node);
      return '';
    } catch (refused) {
      if (!this.damaged.has(node)) throw refused;
      const said = await node.mendLog();
      await node.start();
      this.damaged.delete(node);
      return `${node.name} refused to start (${message(refused)}), and its log was mended (${said}); `;
    }
  }
}

/** Kills a process and waits for the kernel to say so. */
export async function killed(name: string, process: HostProcess, clock: Clock): Promise<void> {
  process.signal('SIGKILL');
  await becomesDead(name, process, clock);
}

/** Waits for the kernel to say that a process is dead that was sent SIGKILL. Rejects if it outlives the time-out. */
export async function becomesDead(name: string, process: HostProcess, clock: Clock): Promise<void> {
  const state = await settles(process, 'dead', clock);
  if (state !== 'dead') throw new Error(`${name} (pid ${process.pid}) got SIGKILL but is ${state}`);
}

async function settles(
  process: HostProcess,
  wanted: State,
  clock: Clock,
  isFutile: () => boolean = () => false,
): Promise<State> {
  const giveUpNs = clock.nowNs() + STATE_TIMEOUT_MS * 1e6;
  for (;;) {
    const state = await process.state();
    if (state === wanted || state === 'dead' || isFutile() || clock.nowNs() > giveUpNs) return state;
    await clock.sleep(STATE_POLL_MS);
  }
}
