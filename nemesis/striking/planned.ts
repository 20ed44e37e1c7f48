/**
 * Failovers that an operator asks for: what is common to them. Each is asked of whom the deployment says
 * (`PlannedFailover`), only once all servers are whole; the answer OK proves nothing, both servers' roles do.
 */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { FaultEffect } from '../../harness/vocabulary/history.js';
import type { PlannedFailover, ServerNode, Shard } from '../../harness/vocabulary/topology.js';
import { message, Refusal, waitFor } from '../levers/basics.js';
import type { InForce } from '../levers/in-force.js';
import type { ActiveNemesis, NemesisContext, NemesisFault } from './context.js';
import { ongoing } from './ongoing.js';
import { roleOf, shardOf, strikeAlone, succeeded } from './succession.js';

const POLL_MS = 20;
/** Until the old primary takes itself for a replica, once healed: Sentinel has been seen to take 12 s. */
const DEMOTION_TIMEOUT_MS = 30_000;

/** Asks for the failover; resolves when the request was taken. What is to be undone afterwards goes into `inForce`. */
export type FailoverRequest = (shard: Shard, inForce: InForce) => Promise<RequestedFailover>;

export interface RequestedFailover {
  /** What was asked, in words. */
  did: string;
  /** Who is to take over, where the request says so. */
  heir?: ServerNode;
}

/** Which fault it is, by whom is asked. */
const PLANNED_BY: Readonly<Record<PlannedFailover, string>> = {
  primary: 'failover-to',
  sentinel: 'sentinel-failover',
  replica: 'cluster-failover',
};

/** Why a failover that is asked of `who` makes no sense on a topology, or undefined. */
export function unfitUnless(who: PlannedFailover): NemesisFault['unfit'] {
  return ({ name, service, plannedFailover, replicated }) => {
    if (plannedFailover === who) return undefined;
    if (service !== 'redis') return `it is asked of Redis and Valkey by their own commands, and ${name} is neither`;
    if (plannedFailover === undefined)
      return replicated
        ? `which node of ${name} is to be failed over has to be asked of the Sentinels of that node`
        : `${name} has nothing that could replace a node`;
    return `on ${name} a failover is planned by ${PLANNED_BY[plannedFailover]}`;
  };
}

/** Strikes: in force from the request until the old primary takes no more writes, however long that is. */
export function failOverPlanned(ask: FailoverRequest, step: PlanStep, context: NemesisContext): Promise<ActiveNemesis> {
  return strikeAlone(context, async (inForce) => {
    const shard = await shardOf(step, context);
    const old = shard.primary;
    const sinceNs = context.clock.nowNs();
    const { did, heir } = await ask(shard, inForce);
    // In force from here: what follows is the servers' doing, and takes a while.
    context.note({ state: 'phase', targets: [old.name], did, proof: 'the request was taken', effects: [] });
    const reason = { what: 'the request', befell: 'was to be', sinceNs };
    const { primary, proof, effects } = await succeeded(shard, reason, context);
    if (heir && primary !== heir) throw new Error(`${did}, but ${primary.name} replaced ${old.name}`);
    const demotion = new Demotion(old, primary, sinceNs, context);
    const rest = ongoing(context, [old.name], (signal) => demotion.wait(signal));
    return {
      sinceNs,
      record: { targets: [old.name], did: `${did}: ${primary.name} replaced ${old.name}`, proof, effects },
      over: rest.done,
      heal: async () => {
        await rest.stop();
        const said = await demotion.said();
        return [said, await inForce.heal()].filter(Boolean).join('; ');
      },
    };
  });
}

/** How long the old primary goes on taking writes. */
class Demotion {
  private tookMs: number | undefined;

  constructor(
    private readonly old: ServerNode,
    private readonly primary: ServerNode,
    private readonly sinceNs: number,
    private readonly context: NemesisContext,
  ) {}

  async wait(signal: AbortSignal): Promise<void> {
    const { clock } = this.context;
    const wait = {
      timeoutMs: DEMOTION_TIMEOUT_MS,
      pollMs: POLL_MS,
      doing: 'before the old primary followed',
      context: { clock, signal },
    };
    const follows = await waitFor(async () => (await roleOf(this.old)) === 'slave' || undefined, wait);
    if (signal.aborted || !follows) return;
    this.tookMs = Math.round((clock.nowNs() - this.sinceNs) / 1e6);
    const effects: FaultEffect[] = [];
    this.context.note({
      state: 'phase',
      targets: [this.old.name],
      did: this.told(),
      proof: `ROLE of ${this.old.name}: slave`,
      effects,
    });
  }

  /** Read back; waits for it, for a deployment is whole only then. Rejects if it does not come about. */
  async said(): Promise<string> {
    if (this.tookMs === undefined) await this.wait(new AbortController().signal);
    if (this.tookMs === undefined) {
      throw new Error(
        `${this.old.name} is still a primary ${DEMOTION_TIMEOUT_MS} ms after ${this.primary.name} replaced it`,
      );
    }
    return this.told();
  }

  private told(): string {
    return `${this.old.name} follows ${this.primary.name}, ${this.tookMs} ms after the request`;
  }
}

/**
 * Refuses unless the server knows the command; `knownTo`: one that does, as `--server` takes it. `COMMAND INFO` answers nil
 * for one that it does not.
 */
export async function mustKnow(node: ServerNode, command: string, knownTo?: string): Promise<void> {
  const info = await node.command('COMMAND', 'INFO', command);
  if (!Array.isArray(info) || info[0] === null)
    throw new Refusal(
      `${node.name} does not know ${command.toUpperCase()}${knownTo ? `: --server ${knownTo} does` : ''}`,
    );
}

/** Asks the server; what it refuses is a Refusal in its own words. */
export async function request(node: ServerNode, ...argv: (string | number)[]): Promise<void> {
  try {
    await node.command(...argv);
  } catch (error) {
    throw new Refusal(`${node.name} refused ${argv.join(' ')}: ${message(error)}`);
  }
}
