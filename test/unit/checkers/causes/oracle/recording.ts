/**
 * What the harness would have recorded of it: the history, which is whole, and the observations, which have the gaps that
 * real ones have. Lines that a server printed just before it was killed may never come, lines come late, samples are sparse,
 * a server is not watched for a while or never.
 */
import { historyOf } from '../../../../../harness/record/history-table.js';
import { observationsOf } from '../../../../../harness/record/observations.js';
import type { FaultEffect, HistoryBody, HistoryEvent, Observation } from '../../../../../harness/vocabulary/history.js';
import type { LockModel } from '../../../../../harness/vocabulary/protocol.js';
import type { CheckInput } from '../../../../../harness/vocabulary/run.js';
import { literalConfig } from '../../build.js';
import { KEY, type Node, type Sender } from './node.js';
import { EPOCH_WALL_MS, MS, type Simulation } from './simulation.js';

export interface Gaps {
  /** How often a server is looked at, milliseconds. */
  sampleEveryMs: number;
  /** Lines that a server printed so long before it was killed never come. */
  lostAtKillMs: number;
  /** How long after its start a server is watched again. */
  blindAfterStartMs: number;
  /** Of a thousand lines so many are read late, by as much as this. */
  latePerMille: number;
  lateMs: number;
  /** Of a thousand lasting jumps of a clock and kills of a server so many are not recorded: the host's administrator did it. */
  unrecordedPerMille: number;
  /** Servers, by number, that are never watched. */
  neverWatched: number[];
  /** Times, in milliseconds, at which the connection to a server, by its number, breaks, and for how long. */
  breaks: { node: number; atMs: number; forMs: number }[];
  /** What was observed later is not in the record: it was cut, as its count shows, or else nothing closed it. */
  cut?: { atMs: number; isCounted: boolean };
}

export const NO_GAPS: Gaps = {
  sampleEveryMs: 100,
  lostAtKillMs: 0,
  blindAfterStartMs: 0,
  latePerMille: 0,
  lateMs: 0,
  unrecordedPerMille: 0,
  neverWatched: [],
  breaks: [],
};

const JITTER_MS = 12;

export class Recording {
  private readonly events: { atNs: number; body: HistoryBody }[] = [];
  private readonly lines: { ranNs: number; observation: Observation }[] = [];
  private readonly watched = new Set<Node>();
  private readonly readNs = new Map<Node, number>();
  private steps = 0;

  constructor(
    private readonly sim: Simulation,
    private readonly gaps: Gaps,
  ) {}

  event(body: HistoryBody, afterMs = 0): void {
    this.events.push({ atNs: Math.round(this.sim.nowNs + afterMs * MS), body });
  }

  // --------------------------------------------------------------------------------------------------------- the servers

  /** Begins to watch the servers, as the observer does: each is looked at as soon as it is watched. */
  begin(nodes: readonly Node[]): void {
    nodes.forEach((node, n) => {
      this.sampleNowAndThen(node);
      if (!this.gaps.neverWatched.includes(n)) this.watch(node);
    });
    for (const { node, atMs, forMs } of this.gaps.breaks) {
      const one = nodes[node % nodes.length]!;
      this.sim.after(atMs, () => {
        if (!this.watched.has(one)) return;
        this.unwatch(one);
        this.sim.after(forMs, () => this.watch(one));
      });
    }
  }

  command(node: Node, { client, source }: Sender, argv: string[]): void {
    const seen = {
      type: 'command' as const,
      serverWallMs: node.wallMs(),
      source,
      ...(client !== undefined && { client }),
    };
    this.printed(node, { ...seen, argv });
  }

  evicted(node: Node, key: string): void {
    this.printed(node, { type: 'evicted', key });
  }

  /** Whether its next line will be in the record, unless it dies. */
  sees(node: Node): boolean {
    return this.watched.has(node);
  }

  /** Returns since when lines of it are missing. */
  died(node: Node): number {
    const lostFromNs = this.sim.nowNs - this.gaps.lostAtKillMs * MS;
    const { nowNs } = this.sim;
    let missingFromNs = nowNs;
    for (let at = this.lines.length - 1; at >= 0; at--) {
      const { ranNs, observation } = this.lines[at]!;
      const isOfStream = observation.type === 'command' || observation.type === 'evicted';
      if (observation.node !== node.name || !isOfStream) continue;
      if (this.gaps.lostAtKillMs === 0 || (ranNs <= lostFromNs && observation.atNs <= nowNs)) continue;
      this.lines.splice(at, 1);
      missingFromNs = Math.min(missingFromNs, ranNs);
    }
    if (this.watched.has(node)) this.unwatch(node);
    return missingFromNs;
  }

  started(node: Node): void {
    if (this.readNs.has(node)) this.sim.after(this.gaps.blindAfterStartMs, () => this.watch(node));
  }

  private printed(node: Node, body: object): void {
    if (!this.watched.has(node)) return;
    const { sim, gaps } = this;
    const isLate = sim.chance() * 1_000 < gaps.latePerMille;
    const readNs = Math.round(sim.nowNs + (isLate ? sim.between(1, gaps.lateMs) : sim.between(0.05, 0.3)) * MS);
    const atNs = Math.max(readNs, this.readNs.get(node) ?? 0);
    this.readNs.set(node, atNs);
    this.line(node, atNs, body);
  }

  private watch(node: Node): void {
    if (!node.alive || this.watched.has(node)) return;
    this.watched.add(node);
    this.readNs.set(node, Math.max(this.sim.nowNs, this.readNs.get(node) ?? 0));
    this.line(node, this.readNs.get(node)!, { type: 'watch', watching: true });
    this.sample(node);
  }

  private unwatch(node: Node): void {
    this.watched.delete(node);
    this.line(node, Math.max(this.sim.nowNs, this.readNs.get(node)!), { type: 'watch', watching: false });
  }

  private sampleNowAndThen(node: Node): void {
    this.sample(node);
    this.sim.after(this.gaps.sampleEveryMs + this.sim.between(0, JITTER_MS), () => this.sampleNowAndThen(node));
  }

  private sample(node: Node): void {
    if (!node.alive) return;
    const { sim } = this;
    const copy = node.copy && !node.isOver(node.copy.expiresMs) ? node.copy : undefined;
    const tookMs = sim.between(0.1, 1);
    const answeredNs = Math.round(sim.nowNs + (tookMs + sim.between(0.1, 0.5)) * MS);
    const stored = copy && {
      owner: copy.isHash ? JSON.stringify({ [copy.value]: '1' }) : copy.value,
      pttlMs: Number.isFinite(copy.expiresMs) ? Math.max(0, Math.round(copy.expiresMs - node.wallMs())) : -1,
      type: copy.isHash ? 'hash' : 'string',
    };
    this.line(node, answeredNs, {
      type: 'sample',
      role: node.role,
      offset: 0,
      ...(node.primary && { linkUp: node.linkUp }),
      runId: node.runId,
      skewMs: Math.round(node.skewMs()),
      wallMs: [Math.floor(node.wallMs() - tookMs), Math.ceil(node.wallMs() + tookMs)],
      ...(!node.copy && node.count === 0 && { isEmpty: true }),
      keys: stored ? { [KEY]: stored } : {},
    });
  }

  private line(node: Node, atNs: number, body: object): void {
    const observation = { atNs, node: node.name, ...body } as Observation;
    this.lines.push({ ranNs: this.sim.nowNs, observation });
  }

  // ---------------------------------------------------------------------------------------------------------- the faults

  /** Tells of a fault that strikes now; the result tells of its heal. */
  struck(fault: string, targets: string[], effects: FaultEffect[]): () => void {
    const isOthersDoing = fault === 'jump' || fault === 'kill';
    if (isOthersDoing && this.sim.chance() * 1_000 < this.gaps.unrecordedPerMille) return () => {};
    const step = this.steps++;
    const record = { type: 'fault' as const, step, fault, targets };
    // It is read back a moment after it was done, and told to be healed when that is done.
    const beganNs = this.sim.nowNs;
    this.event({ ...record, state: 'strike', did: `${fault} of ${targets}`, beganNs, effects }, 0.2);
    return () => {
      const body = { ...record, state: 'heal' as const, did: `healed ${fault}`, beganNs: this.sim.nowNs, effects: [] };
      this.event(body, 0.2);
    };
  }

  // -------------------------------------------------------------------------------------------------------- the whole run

  input(model: LockModel, leaseMs: number): CheckInput {
    const ordered = this.events.map((event, n) => ({ ...event, n })).sort((a, b) => a.atNs - b.atNs || a.n - b.n);
    const events = ordered.map(({ atNs, body }, i): HistoryEvent => ({ i, atNs, ...body }));
    const { cut } = this.gaps;
    if (!cut || cut.isCounted) {
      const end = { i: events.length, atNs: this.sim.nowNs };
      events.push({ ...end, type: 'phase', phase: 'end' });
      events.push({ ...end, i: end.i + 1, type: 'closed', observations: this.lines.length });
    }
    const observations = this.lines
      .map(({ observation }, n) => ({ observation, n }))
      .sort((a, b) => a.observation.atNs - b.observation.atNs || a.n - b.n)
      .map(({ observation }) => observation)
      .filter(({ atNs }) => !cut || atNs <= cut.atMs * MS);
    return {
      history: historyOf(events, false),
      observations: observationsOf(observations),
      config: { ...literalConfig, keys: [KEY], leaseMs },
      plan: { version: 1, seed: 1, steps: [] },
      model,
    };
  }
}

export const OPENING: HistoryBody = {
  type: 'run',
  version: 2,
  runId: 'oracle',
  seed: 1,
  epochWallMs: EPOCH_WALL_MS,
};
