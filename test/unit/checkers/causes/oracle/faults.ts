/** What befalls servers and clients, how the harness tells of it, and what heals it. */
import type { FaultEffect } from '../../../../../harness/vocabulary/history.js';
import type { LockClient } from './client.js';
import type { LivedHold } from './grants.js';
import type { Node } from './node.js';
import type { Recording } from './recording.js';
import { meddle } from './requests.js';
import type { Simulation } from './simulation.js';

export type FaultKind =
  /** A server is killed and starts again: with nothing, with an older snapshot, or with everything. */
  | 'kill-empty'
  | 'kill-snapshot'
  | 'kill-whole'
  /** A server's clock jumps and stays, jumps and is set right, or drifts. */
  | 'jump'
  | 'jump-and-back'
  | 'drift'
  | 'evict'
  | 'evict-counter'
  | 'stranger-del'
  | 'flush'
  | 'pause'
  /** A client is stopped when the answer that it has the lock is on its way. */
  | 'pause-asking'
  | 'cut-client'
  /** A busy machine does not run a client, which nothing records. */
  | 'stall'
  /** A client's clock is set wrong, and later right again. */
  | 'client-clock'
  /** The primary dies or is isolated, and a replica takes its place; before, replicas are cut off or not. */
  | 'failover-killed'
  | 'failover-isolated'
  | 'failover-planned';

export interface Fault {
  kind: FaultKind;
  /** It strikes so long after so many holds have begun. */
  afterGrants: number;
  delayMs: number;
  forMs: number;
  /** Whom, where there is a choice. */
  whom: number;
  /** How far, how fast. */
  much: number;
  /** Whether replicas are cut off some time before a failover; whether clients stay with the old primary. */
  lags: boolean;
  stays: boolean;
}

export interface Stage {
  sim: Simulation;
  recording: Recording;
  nodes: readonly Node[];
  clients: readonly LockClient[];
  isReplicated: boolean;
  isFailingOver: boolean;
  /** Where clients of one logical server go, by client. */
  views: Map<LockClient, Node>;
}

const DOWN_AFTER_MS = 500;

/** Lets it strike when its hold has begun, and after the delay. */
export function strikeAfter(fault: Fault, hold: LivedHold, stage: Stage): void {
  const early = fault.lags && fault.kind.startsWith('failover');
  if (early) lag(fault, stage);
  stage.sim.after(fault.delayMs, () => strike(fault, hold, stage));
}

function strike(fault: Fault, hold: LivedHold, stage: Stage): void {
  const { sim, nodes, clients, recording } = stage;
  const { kind, whom, forMs } = fault;
  const { current } = stage.clients.find(({ name }) => name === hold.client)!;
  const node = stage.isReplicated && whom % 4 !== 0 ? newestPrimary(nodes) : nodes[whom % nodes.length]!;
  // Independent nodes: one that granted it, so that it matters.
  const granting = nodes.filter(({ name }) => hold.attempt.stored.has(name));
  const struck = !stage.isReplicated && granting.length > 0 ? granting[whom % granting.length]! : node;
  const holder = clients.find(({ name }) => name === (current ?? hold).client)!;
  if (kind === 'kill-empty' || kind === 'kill-snapshot' || kind === 'kill-whole') kill(struck, fault, stage);
  else if (kind === 'jump' || kind === 'jump-and-back' || kind === 'drift') clock(struck, fault, stage);
  else if (kind === 'evict') struck.evict();
  else if (kind === 'evict-counter') struck.evictCounter();
  else if (kind === 'stranger-del') meddle(struck, 'del');
  else if (kind === 'flush') meddle(struck, 'flush');
  else if (kind === 'pause') pause(holder, forMs, stage);
  else if (kind === 'stall') stall(holder, forMs, stage);
  else if (kind === 'client-clock') clientClock(clients[whom % clients.length]!, fault, stage);
  else if (kind === 'pause-asking') {
    const asking = clients[whom % clients.length]!;
    asking.whenAsked = () => pause(asking, forMs, stage);
  } else if (kind === 'cut-client') {
    if (holder.cutFrom.size > 0) return;
    const names = nodes.map(({ name }) => name);
    const pairs = names.flatMap((name): [string, string][] => [
      [holder.name, name],
      [name, holder.name],
    ]);
    for (const name of names) holder.cutFrom.add(name);
    const span = { fromNs: sim.nowNs, untilNs: Number.POSITIVE_INFINITY };
    holder.cuts.push(span);
    const heal = recording.struck('partition', [holder.name], [{ kind: 'cut', pairs }]);
    sim.after(forMs, () => {
      heal();
      span.untilNs = sim.nowNs;
      holder.cutFrom.clear();
    });
  } else failover(fault, stage);
}

function pause(client: LockClient, forMs: number, { sim, recording }: Stage): void {
  if (client.isStopped) return;
  client.stop();
  const heal = recording.struck('pause', [client.name], [{ kind: 'stopped', who: [client.name] }]);
  sim.after(forMs, () => {
    heal();
    client.goOn();
  });
}

function stall(client: LockClient, forMs: number, { sim }: Stage): void {
  if (client.isStopped) return;
  client.stop(client.stalls);
  sim.after(forMs, () => client.goOn(client.stalls));
}

function clientClock(client: LockClient, { much, forMs }: Fault, { sim, recording }: Stage): void {
  if (client.clockMs !== 0) return;
  client.clockMs = much;
  const effect: FaultEffect = { kind: 'clock-jumped', who: [client.name], offsetMs: much };
  const heal = recording.struck('clock', [client.name], [effect]);
  sim.after(forMs + 1_200, () => {
    client.clockMs = 0;
    heal();
  });
}

function kill(node: Node, { kind, forMs }: Fault, { sim, recording, nodes }: Stage): void {
  if (!node.alive) return;
  if (kind === 'kill-whole') node.save();
  node.kill();
  const who = [node.name];
  const effects: FaultEffect[] = [{ kind: 'killed', who }];
  if (kind !== 'kill-whole') effects.push({ kind: 'forgot', who });
  const heal = recording.struck('kill', who, effects);
  const downMs = 5 + forMs / 10;
  sim.after(downMs, () => {
    heal();
    node.start(() => {
      if (node.primary) node.follow(node.primary);
      for (const replica of nodes) if (replica.primary === node && replica.alive) replica.follow(node);
    });
  });
}

function clock(node: Node, { kind, much, forMs }: Fault, { sim, recording }: Stage): void {
  const who = [node.name];
  let effect: FaultEffect;
  if (kind === 'drift') {
    const ratePpm = Math.round(Math.abs(much) * 1_000);
    node.moveClock(0, ratePpm);
    effect = { kind: 'clock-drifts', who, ratePpm, gainedMs: 0 };
  } else {
    node.moveClock(much);
    effect = { kind: 'clock-jumped', who, offsetMs: much };
  }
  const heal = recording.struck(kind, who, [effect]);
  if (kind === 'jump') return;
  sim.after(kind === 'jump-and-back' ? forMs / 20 : forMs, () => {
    node.setClockRight();
    heal();
  });
}

/** Replicas hear nothing more of their primary, for a time. */
function lag({ forMs, delayMs }: Fault, { sim, nodes, recording }: Stage): void {
  const primary = newestPrimary(nodes);
  const replicas = nodes.filter((node) => node.primary === primary);
  const pairs = replicas.flatMap(({ name }): [string, string][] => [
    [primary.name, name],
    [name, primary.name],
  ]);
  const cut = new Set(replicas.map(({ name }) => name));
  primary.cuts.add(cut);
  const heal = recording.struck('lag', [primary.name], [{ kind: 'cut', pairs }]);
  sim.after(delayMs + forMs / 2, () => {
    heal();
    primary.cuts.delete(cut);
    for (const replica of replicas) primary.pump(replica);
  });
}

function failover(fault: Fault, stage: Stage): void {
  const { sim, nodes, clients, recording, views } = stage;
  const old = newestPrimary(nodes);
  const replicas = nodes.filter((node) => node.primary === old && node.alive);
  const fresh = replicas[fault.whom % Math.max(1, replicas.length)];
  if (!fresh || !old.alive || stage.isFailingOver) return;
  stage.isFailingOver = true;
  let heal = () => {};
  if (fault.kind === 'failover-killed') {
    old.kill();
    heal = recording.struck('kill', [old.name], [{ kind: 'killed', who: [old.name] }]);
  } else if (fault.kind === 'failover-isolated') {
    const others = nodes.filter((node) => node !== old);
    const pairs = others.flatMap(({ name }): [string, string][] => [
      [old.name, name],
      [name, old.name],
    ]);
    const cut = new Set(others.map(({ name }) => name));
    old.cuts.add(cut);
    const told = recording.struck('partition', [old.name], [{ kind: 'cut', pairs }]);
    heal = () => {
      told();
      old.cuts.delete(cut);
    };
  }
  sim.after(fault.kind === 'failover-planned' ? 1 : sim.between(20, 150), () => {
    fresh.promote();
    for (const node of nodes)
      if (node !== old && node !== fresh && node.alive && node.primary === old) node.follow(fresh);
    clients.forEach((client, n) => {
      const stays = fault.stays && fault.kind === 'failover-isolated' && n % 2 === 0;
      sim.after(stays ? fault.forMs * 2 : sim.between(0, 20), () => views.set(client, newestPrimary(nodes)));
    });
    const comesBackMs = fault.kind === 'failover-planned' ? 0.5 : 20 + fault.forMs;
    sim.after(comesBackMs, () => {
      heal();
      const primary = newestPrimary(nodes);
      const follow = () => {
        if (primary !== old && primary.alive) old.follow(primary);
      };
      if (fault.kind === 'failover-killed') old.start(follow);
      else follow();
      // Whatever watches over a deployment has to miss the new primary before it can replace it.
      sim.after(DOWN_AFTER_MS, () => {
        stage.isFailingOver = false;
      });
    });
  });
}

/** The one that was made primary last. */
export function newestPrimary(nodes: readonly Node[]): Node {
  const at = (node: Node) => node.promotedNs.at(-1) ?? -1;
  const primaries = nodes.filter((node) => !node.primary);
  return primaries.sort((a, b) => at(b) - at(a))[0] ?? nodes[0]!;
}
