/**
 * HashSlots of a Cluster that an operator moves: which one, from whom to whom, the four steps, and what both sides say
 * afterwards. An OK proves nothing: `CLUSTER NODES` of the source and of the target does.
 *
 * What was begun is undone only where nothing can have been lost by it: once the source gives keys away, it tells clients
 * that ask for a key which it does not have to ask the target. Whatever they stored there would be out of reach if the move
 * were taken back. So it is finished then, as `redis-cli --cluster fix` does.
 */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { MovingSlot, SlotView } from '../../harness/vocabulary/slots.js';
import type { HashSlots, ServerNode } from '../../harness/vocabulary/topology.js';
import { message, Refusal, waitFor, words } from '../levers/basics.js';
import type { NemesisContext, NemesisFault } from './context.js';
import { isSettled } from './grants.js';
import { mustKnow, request } from './planned.js';
import { shardOf } from './succession.js';

const POLL_MS = 20;
/** Until everybody has heard of a new owner: gossip takes half the node time-out, as a rule. */
const AGREED_TIMEOUT_MS = 8_000;
const MIGRATE_TIMEOUT_MS = 1_000;
const KEYS_AT_ONCE = 100;
const AT_ONCE = 'cluster|migrateslots';

/** Why slots cannot be moved on a topology, or undefined. */
export const unfitWithoutSlots: NemesisFault['unfit'] = ({ name, plannedFailover }) =>
  plannedFailover === 'replica' ? undefined : `${name} has no slots`;

/** What is moved, and between whom. */
export interface SlotToMove {
  slot: number;
  /** A key of the run that is in it. */
  key: string;
  source: ServerNode;
  target: ServerNode;
}

/** Chooses the slot of a key of the run, one that has been held for a while if there is one, and who is to have it. */
export async function slotToMove(step: PlanStep, context: NemesisContext): Promise<SlotToMove> {
  const { topology, keys, keyName, holds, levers, random, clock, leaseMs } = context;
  const { primary: source, serves } = await shardOf(step, context);
  const served = keys.filter((key) => serves(keyName(key)));
  if (served.length === 0) throw new Refusal(`${source.name} serves no lock of the run`);
  const nowNs = clock.nowNs();
  const lasting = holds.open().filter((hold) => isSettled(hold, nowNs, leaseMs));
  const held = served.filter((key) => lasting.some((hold) => hold.key === key));
  const key = random.pick(held.length > 0 ? held : served);
  const others = (await topology.shards()).map(({ primary }) => primary).filter((node) => node !== source);
  const running = others.filter((node) => !levers.kill.isDown(node));
  if (running.length === 0) throw new Refusal('there is no other primary that could take a slot');
  return { slot: slotsOf(topology).of(keyName(key)), key, source, target: random.pick(running) };
}

function slotsOf({ slots, name }: NemesisContext['topology']): HashSlots {
  if (!slots) throw new Refusal(`${name} has no slots`);
  return slots;
}

export const STEPS = ['importing', 'migrating', 'keys', 'node'] as const;
export type MoveStep = (typeof STEPS)[number];

/** What the servers say of whose a slot is. */
interface Agreement {
  /** Whom all that answer name, itself included; absent: they do not agree, or it is on its way. */
  owner?: ServerNode;
  silent: string[];
  /** In words. */
  seen: string;
}

/** One move, step by step. Each step may be asked for again, and reads back what came of it. */
export class SlotMove {
  /** Whether the source was ever told to send clients away: one that has forgotten it may have given keys away. */
  private isGivingAway = false;
  /** Whether all have named the new owner: then nothing is to be undone, whatever becomes of the two. */
  private isDone = false;

  constructor(
    readonly what: SlotToMove,
    private readonly context: Pick<NemesisContext, 'topology' | 'clock' | 'signal'>,
  ) {}

  /**
   * Refuses where one of both lacks a command that takes it to its end: once it is begun, healing it may take them all. To be
   * asked before anything is done.
   */
  async mustBePossible(): Promise<void> {
    const { source, target } = this.what;
    for (const node of [target, source]) await mustKnow(node, 'cluster|setslot');
    await mustKnow(source, 'migrate');
  }

  /** Up to `last`; with what was read back. */
  async carryOut(last: MoveStep): Promise<string> {
    const steps = STEPS.slice(0, STEPS.indexOf(last) + 1);
    const said: string[] = [];
    for (const step of steps) said.push(await this[step]());
    return said.join('; ');
  }

  /** The target is told to take what is sent to it by ASKING. */
  private async importing(): Promise<string> {
    const { slot, source, target } = this.what;
    const from = (await this.view(source)).id;
    await asked(target, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', from);
    return this.open(target, `[${slot}-<-${source.name}]`, (one) => 'from' in one && one.from === from);
  }

  /** The source sends clients to the target for what it does not have. */
  private async migrating(): Promise<string> {
    const { slot, source, target } = this.what;
    const to = (await this.view(target)).id;
    this.isGivingAway = true;
    await asked(source, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', to);
    return this.open(source, `[${slot}->-${target.name}]`, (one) => 'to' in one && one.to === to);
  }

  /** `replace`: what the target has under the same name gives way. */
  private async keys(replace = false): Promise<string> {
    const { slot, source } = this.what;
    for (;;) {
      const keys = await keysIn(slot, source);
      if (keys.length === 0) break;
      await this.migrate(keys, replace);
    }
    return `${source.name} has no key of slot ${slot}, ${this.what.target.name} has ${(await keysIn(slot, this.what.target)).length}`;
  }

  private async migrate(keys: readonly string[], replace: boolean): Promise<void> {
    const { source, target } = this.what;
    const { password } = this.context.topology.describe();
    const options = [...(replace ? ['REPLACE'] : []), ...(password ? ['AUTH', password] : [])];
    const to = [target.host.address, target.port, '', 0, MIGRATE_TIMEOUT_MS];
    await asked(source, 'MIGRATE', ...to, ...options, 'KEYS', ...keys);
  }

  /** Both are told whose it is, the target first: were it the source, it would send clients to one that sends them back. */
  private async node(): Promise<string> {
    const { slot, source, target } = this.what;
    const id = (await this.view(target)).id;
    for (const one of [target, source]) await asked(one, 'CLUSTER', 'SETSLOT', slot, 'NODE', id);
    return this.done();
  }

  /** Refuses where its owner cannot move it at once. To be asked before anything is done. */
  async mustBePossibleAtOnce(): Promise<void> {
    await mustKnow(this.what.source, AT_ONCE, 'valkey@9');
  }

  /** The servers move it by themselves, all of it at once (`CLUSTER MIGRATESLOTS`). */
  async atOnce(): Promise<string> {
    const { slot, source, target } = this.what;
    const { id } = await this.view(target);
    await request(source, 'CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', slot, slot, 'NODE', id);
    return this.done();
  }

  /** Of a move at once: it is done, or is called off and then was not. */
  async settleAtOnce(): Promise<string> {
    const now = await this.sinceFailovers();
    if (this.isDone) return now.belongsTo();
    const { slot, source, target } = now.what;
    const isOver = (await now.view(source)).ownerOf(slot) === target.host.address;
    // Refused where nothing is on its way any more.
    if (!isOver) await source.command('CLUSTER', 'CANCELSLOTMIGRATIONS').catch(() => {});
    return now.belongsTo(isOver ? target : source);
  }

  /** Brings it to an end, whatever was done: see above. Resolves with what was read back. */
  async settle(): Promise<string> {
    const now = await this.sinceFailovers();
    if (this.isDone) return now.belongsTo();
    return this.isGivingAway ? now.finish() : now.takeBack();
  }

  private async done(): Promise<string> {
    const said = await this.belongsTo(this.what.target);
    this.isDone = true;
    return said;
  }

  /**
   * The move between those who are the primaries by now: a replica that took the place of one of the two has its keys, and
   * knows nothing of the move.
   */
  private async sinceFailovers(): Promise<SlotMove> {
    const { source, target } = this.what;
    const shards = await this.context.topology.shards();
    const primaryFor = (node: ServerNode) =>
      shards.find(({ primary, replicas }) => primary === node || replicas.includes(node))?.primary ?? node;
    return new SlotMove({ ...this.what, source: primaryFor(source), target: primaryFor(target) }, this.context);
  }

  private async finish(): Promise<string> {
    const { slot, source, target } = this.what;
    const [giving, taking] = await Promise.all([this.view(source), this.view(target)]);
    if (giving.ownerOf(slot) === target.host.address) return this.belongsTo(target);
    const isOwned = taking.ownerOf(slot) === target.host.address;
    if (!isOwned && taking.ownerOf(slot) !== source.host.address) {
      // Who has a slot on its way to it does not believe that another has it since, and serves nobody.
      await asked(target, 'CLUSTER', 'SETSLOT', slot, 'NODE', giving.id);
    }
    const said = [isOwned ? '' : await this.importing(), await this.finishKeys(), await this.node()];
    return said.filter(Boolean).join('; ');
  }

  private async finishKeys(): Promise<string> {
    try {
      return await this.keys();
    } catch (error) {
      if (!message(error).includes('BUSYKEY')) throw error;
      return `${await this.keys(true)}; ${this.what.source.name}'s took the place of what ${this.what.target.name} had stored by itself`;
    }
  }

  /** Nobody was sent to the target. What it has is from clients that asked it unasked: the owner's counts. */
  private async takeBack(): Promise<string> {
    const { slot, source, target } = this.what;
    await asked(target, 'CLUSTER', 'SETSLOT', slot, 'STABLE');
    const left = await keysIn(slot, target);
    const more = left.length > 0 ? `; it keeps ${words(left)}, which nobody can ask for` : '';
    return `${await this.belongsTo(source)}${more}`;
  }

  /**
   * Everybody names the same owner, and nobody has it on its way. Any will do if none is given: another step may have moved it
   * on since, its keys with it. Who does not answer in all that time, for another fault, is named.
   */
  private async belongsTo(wanted?: ServerNode): Promise<string> {
    const { slot, source, target } = this.what;
    let last: Agreement = { silent: [], seen: '' };
    const isAgreed = () => last.owner !== undefined && (wanted ?? last.owner) === last.owner;
    const agreed = async () => {
      last = await this.agreement();
      return (isAgreed() && last.silent.length === 0) || undefined;
    };
    // Whatever ends the run: a slot is not left on its way.
    const healing = { clock: this.context.clock, signal: new AbortController().signal };
    await waitFor(agreed, { timeoutMs: AGREED_TIMEOUT_MS, pollMs: POLL_MS, doing: '', context: healing });
    const { owner, silent, seen } = last;
    if (!isAgreed()) {
      const whose = wanted ? `does not belong to ${wanted.name}` : 'belongs to nobody';
      throw new Error(`slot ${slot} ${whose} after ${AGREED_TIMEOUT_MS} ms: ${seen}`);
    }
    const whose = `slot ${slot} belongs to ${owner!.name}`;
    if (silent.length > 0) return `CLUSTER NODES of all but ${words(silent)}, which did not answer: ${whose}`;
    return `CLUSTER NODES of ${source.name}, ${target.name} and all others: ${whose}`;
  }

  private async agreement(): Promise<Agreement> {
    const { slot } = this.what;
    const { nodes } = this.context.topology;
    const answers = await Promise.allSettled(nodes.map((node) => this.view(node)));
    const views = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const silent = nodes.filter((_, at) => answers[at]!.status === 'rejected').map(({ name }) => name);
    const isOpen = views.some(({ moving }) => moving.some((one) => one.slot === slot));
    const owners = new Set(views.map((view) => view.ownerOf(slot)));
    const [address] = owners;
    // Its own word is wanted, too.
    const owner = nodes.find(({ host, name }) => host.address === address && !silent.includes(name));
    const named = `${isOpen ? 'it is on its way, and ' : ''}${owners.size} owners are named`;
    return {
      ...(owner && !isOpen && owners.size === 1 && { owner }),
      silent,
      seen: silent.length > 0 ? `${named}, and ${words(silent)} did not answer` : named,
    };
  }

  private view(node: ServerNode): Promise<SlotView> {
    return slotsOf(this.context.topology).view(node);
  }

  private async open(node: ServerNode, shown: string, is: (one: MovingSlot) => boolean): Promise<string> {
    const { moving } = await this.view(node);
    if (moving.some((one) => one.slot === this.what.slot && is(one))) return `CLUSTER NODES of ${node.name}: ${shown}`;
    throw new Error(`${node.name} does not show slot ${this.what.slot} on its way`);
  }
}

async function asked(node: ServerNode, ...argv: (string | number)[]): Promise<void> {
  try {
    await node.command(...argv);
  } catch (error) {
    throw new Error(`${node.name} refused ${argv.slice(0, 4).join(' ')}: ${message(error)}`);
  }
}

async function keysIn(slot: number, node: ServerNode): Promise<string[]> {
  const keys = await node.command('CLUSTER', 'GETKEYSINSLOT', slot, KEYS_AT_ONCE);
  return Array.isArray(keys) ? keys.map(String) : [];
}
