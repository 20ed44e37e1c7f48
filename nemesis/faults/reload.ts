/**
 * A rolling restart: every data node is killed and started again, one after the other, replicas first; the next one only
 * when the one before is whole again. What operators do for an upgrade, and what should do no harm.
 *
 * It takes as long as it takes. Independent nodes that forget by it wait for each other, so that never more than a
 * minority has forgotten within one lease. Whatever the time does not suffice for is said: `3 of 5 nodes`.
 */
import type { FaultEffect } from '../../harness/vocabulary/history.js';
import type { ServerNode } from '../../harness/vocabulary/topology.js';
import { message, Refusal, words } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import { ended, type Grip } from '../levers/network.js';
import { killForgets, type NemesisContext, type NemesisFault } from '../striking/context.js';
import { ongoing } from '../striking/ongoing.js';
import { isNode, namesOf, resolveTarget, type StruckNode } from '../striking/targets.js';
import { killDown } from './take-down.js';

const POLL_MS = 50;
/** A restart, an election with its repetition, a replica that fetches everything. */
const WHOLE_TIMEOUT_MS = 10_000;
/** What one node takes, and what one takes that is replaced meanwhile and follows its successor. */
const NODE_MS = 600;
const REPLACED_MS = 3_000;
/** The memory ledger's margin, and what a restart adds to it. */
const AFTER_LEASE_MS = 400;

export const reload: NemesisFault = {
  name: 'reload',
  summary: 'a rolling restart: every data node killed and started again, each whole before the next',
  explained: {
    does: 'Data nodes are killed and started again with what is on their disks, one after the other, replicas before primaries; each must answer PING and, where nodes replicate, the whole deployment must be ready again (roles, links, quorum) before the next. A primary that may forget by it is started again only when it has been replaced. Independent nodes that may forget by it (every `--persistence` but `aof-always`) wait so long that never more than a minority has forgotten within one lease. Nothing is left to heal.',
    proof:
      'Of each node the process must be another one (pid) and the server must say so itself (`run_id`), and it must answer PING. The record of each says how many of how many have been restarted; one that does not become whole, or for which there is no time left, ends it, with the reason.',
    breaks:
      'A single server without a durable log: exclusion (`node-forgot`). On `sentinel` the failover of the primary can lose what was granted in its last moments, as a kill does; on independent nodes whose persistence forgets, a lock that was granted by a bare majority.',
  },
  effects: ['killed', 'forgot'],
  targets: ['all'],
  strikes: ['node'],
  needs: ['process', 'redis'],
  args: {},
  unfit: () => undefined,
  shape: ({ replicated, nodes }, _target, leaseMs) => {
    // By the slowest persistence: what is planned before anything runs must suffice.
    const waits = Math.ceil(nodes.length / Math.max(1, Math.floor((nodes.length - 1) / 2))) - 1;
    const longMs = replicated
      ? nodes.length * NODE_MS + Math.ceil(nodes.length / 2) * REPLACED_MS
      : nodes.length * NODE_MS + (nodes.length > 1 ? waits * (leaseMs + AFTER_LEASE_MS) : 0);
    return { lane: 'servers', forMs: { min: longMs, max: longMs + 1_000 }, leastMs: longMs, settleMs: 1_500 };
  },
  async strike(step, context) {
    const sinceNs = context.clock.nowNs();
    const struck = (await resolveTarget(step, context)).filter(isNode).filter(({ node }) => node.kind === 'redis');
    if (struck.length === 0) throw new Refusal('only data nodes are restarted');
    const untilNs = sinceNs + step.forMs * 1e6;
    return InForce.strike(async (inForce) => {
      const rolling = new Rolling(await primariesLast(struck, context), untilNs, context);
      await inForce.add(rolling);
      const record = await rolling.restartNext(context.signal);
      const rest = ongoing(context, rolling.left(), (signal) => rolling.goOn(signal));
      return {
        sinceNs,
        record,
        over: rest.done,
        heal: async () => {
          await rest.stop();
          return inForce.heal();
        },
      };
    });
  },
};

interface Restarted {
  targets: string[];
  did: string;
  proof: string;
  effects: FaultEffect[];
}

class Rolling {
  private readonly done: StruckNode[] = [];
  private readonly todo: StruckNode[];
  /** The node that is down now. */
  private down: Grip | undefined;
  private whole = 'the last one was not waited for';

  constructor(
    private readonly all: readonly StruckNode[],
    private readonly untilNs: number,
    private readonly context: NemesisContext,
  ) {
    this.todo = [...all];
  }

  left(): string[] {
    return namesOf(this.todo);
  }

  /** The nodes after the first, each when the one before is whole; each is recorded as a phase of the step. */
  async goOn(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        this.whole = await this.wholeAgain(this.done.at(-1)!, signal);
        if (this.todo.length === 0) return;
        const before = this.whole;
        const restarted = await this.restartNext(signal);
        this.context.note({ state: 'phase', ...restarted, proof: `${before}; ${restarted.proof}` });
      }
    } catch (error) {
      this.whole = message(error);
      this.context.note({ state: 'phase', targets: this.left(), did: this.told(), proof: this.whole, effects: [] });
    }
  }

  /** What is down is brought up; tells how far it came. */
  async heal(): Promise<string> {
    await this.bringUp();
    return `${this.told()}; ${this.whole}`;
  }

  async restartNext(signal: AbortSignal): Promise<Restarted> {
    const one = this.todo[0]!;
    const { name, node } = one;
    const forgets = killForgets(this.context.persistence);
    await this.mayForget(forgets ? [name] : [], signal);
    const before = await identity(node);
    this.down = await killDown([one], forgets, this.context);
    const { effects } = this.down;
    const untilNs = this.context.clock.nowNs();
    const back = await this.bringUp();
    const after = await identity(node);
    if (after.pid === before.pid || after.runId === before.runId) {
      throw new Error(`${name} was to be restarted, but is still the process that it was (${shown(after)}); ${back}`);
    }
    this.todo.shift();
    this.done.push(one);
    return {
      targets: [name],
      did: `restarted ${name}, ${this.done.length} of ${this.all.length}`,
      proof: `${shown(before)} became ${shown(after)}; ${back}`,
      effects: ended(effects, untilNs),
    };
  }

  private told(): string {
    const left = this.todo.length > 0 ? `, not ${words(this.left())}` : '';
    return `restarted ${this.done.length} of ${this.all.length} nodes: ${words(namesOf(this.done))}${left}`;
  }

  private async bringUp(): Promise<string> {
    const said = await this.down?.heal();
    this.down = undefined;
    return said ?? '';
  }

  /** Waits until one more node may forget. */
  private async mayForget(names: readonly string[], signal: AbortSignal): Promise<void> {
    const { clock, levers } = this.context;
    for (;;) {
      const objection = names.length > 0 ? levers.memory.objection(names) : undefined;
      const over = this.over(signal);
      if (over) throw new Refusal(objection ? `${over}: ${objection}` : over);
      if (!objection) return;
      await clock.sleep(POLL_MS, signal);
    }
  }

  /** Answers, and where nodes replicate everybody has taken up its part again. */
  private async wholeAgain({ name, node }: StruckNode, signal: AbortSignal): Promise<string> {
    const { clock, topology } = this.context;
    const fromNs = clock.nowNs();
    const tookMs = () => Math.round((clock.nowNs() - fromNs) / 1e6);
    for (;;) {
      const missing = await this.missing(node);
      if (missing.length === 0) {
        return topology.replicated ? `${tookMs()} ms later all was ready again` : `${name} answers PING`;
      }
      const over = tookMs() > WHOLE_TIMEOUT_MS ? 'it went no further' : this.over(signal);
      if (over)
        throw new Error(`${over}: ${tookMs()} ms after ${name} was back there was still missing: ${words(missing)}`);
      await clock.sleep(POLL_MS, signal);
    }
  }

  private over(signal: AbortSignal): string | undefined {
    if (this.context.signal.aborted) return 'the run ended';
    return signal.aborted || this.context.clock.nowNs() >= this.untilNs ? "the step's time was over" : undefined;
  }

  private async missing(node: ServerNode): Promise<string[]> {
    const { topology } = this.context;
    try {
      if (topology.replicated) return await topology.missing();
      await node.ping();
      return [];
    } catch (error) {
      return [`${node.name} does not answer (${message(error)})`];
    }
  }
}

interface Identity {
  pid: number;
  runId: string;
}

async function identity(node: ServerNode): Promise<Identity> {
  const info = String(await node.command('INFO', 'server'));
  const [, runId] = /run_id:(\w+)/.exec(info) ?? [];
  if (runId === undefined) throw new Error(`${node.name} does not tell its run id`);
  return { pid: node.process.pid, runId };
}

function shown({ pid, runId }: Identity): string {
  return `pid ${pid}, run id ${runId.slice(0, 8)}`;
}

/** As the servers say now: a restart that begins with the primary would fail over again and again. */
async function primariesLast(struck: readonly StruckNode[], context: NemesisContext): Promise<StruckNode[]> {
  const shards = context.topology.replicated ? await context.topology.shards() : [];
  const isPrimary = ({ node }: StruckNode) => shards.some(({ primary }) => primary === node);
  return [...struck.filter((one) => !isPrimary(one)), ...struck.filter(isPrimary)];
}
