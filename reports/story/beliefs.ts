/**
 * What each Redis node believed: its role, and who owned each key. Put together from the observer's samples and from
 * the node's own order of commands, which places a change that happened between two samples.
 *
 * Excludes judging: beliefs are drawn beside the holds and never decide anything. Where the node was not watched,
 * nothing is claimed.
 */
import type { CommandObservation, Observation, Observations } from '../../harness/vocabulary/history.js';
import { type AnyLine, type OwnerSpan, Owners } from './owners.js';

export type RoleState = 'primary' | 'replica' | 'replica-cut' | 'unknown' | 'unwatched';

export interface RoleSpan {
  state: RoleState;
  fromNs: number;
  untilNs: number;
  /** Line of observations.jsonl that began it, where one did. */
  line?: number;
  /** Wall clock against the machine's, where it is far off. */
  skewMs: number;
  reason?: string;
}

export interface NodeBelief {
  node: string;
  roles: RoleSpan[];
  owners: Map<string, OwnerSpan[]>;
  /** The process came back with a new run id. */
  restarts: { atNs: number; line: number }[];
  /** Keys that it threw away because its memory was full; `owner`: whose, where that was known. */
  evictions: { atNs: number; line: number; key: string; owner?: string }[];
}

/** Everything observed of one node, in order; commands only of the time that is looked at. */
type Numbered = readonly [line: number, Observation];

/** Below this a skew is measurement noise. */
const SKEW_SHOWN_MS = 100;

/** Up to so many commands every owner in a whole run is found; of more, an object for each would be too much. */
const MOST_COMMANDS = 100_000;
/** Owners read from samples alone: about as many as these are drawn from, which is more than a drawing has room for. */
const MOST_OWNERS_SAMPLED = 50_000;
/** So far around a window commands are read: who owned what when it began, and until when. */
const LEASES_AROUND = 2;

export class Beliefs {
  /** The beliefs of every node that was observed, in natural order of their names, over the whole run. */
  readonly nodes: NodeBelief[];
  /** What of them is not in `nodes`, for people; undefined where all is. */
  readonly note: string | undefined;
  /** Whether `nodes` rests on commands, too. */
  readonly whole: boolean;
  private readonly read = new Map<string, NodeBelief[]>();

  constructor(
    private readonly observations: Observations,
    private readonly endNs: number,
    private readonly leaseMs: number,
    mostCommands = MOST_COMMANDS,
  ) {
    this.whole = observations.commandCount <= mostCommands;
    if (this.whole) {
      const commands = [...observations.commands(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)];
      this.nodes = nodeBeliefs(observations.rare, commands, endNs);
      return;
    }
    const every = thinning(observations);
    this.nodes = nodeBeliefs(observations.rare, [], endNs, every);
    this.note = `owners that servers believed in are read from ${every === 1 ? 'samples' : `one sample in ${every}`} here, not from ${observations.commandCount} commands`;
  }

  /** The same for a short time of the run, with its commands. */
  within(fromNs: number, untilNs: number): NodeBelief[] {
    if (this.whole) return this.nodes;
    // A violation's drawing, its table and its part of the timeline ask for the same time; only a few violations have them.
    const window = `${fromNs}-${untilNs}`;
    const nodes = this.read.get(window) ?? this.readWithin(fromNs, untilNs);
    this.read.set(window, nodes);
    return nodes;
  }

  private readWithin(fromNs: number, untilNs: number): NodeBelief[] {
    const aroundNs = LEASES_AROUND * this.leaseMs * 1e6;
    const [earlierNs, laterNs] = [fromNs - aroundNs, Math.min(untilNs + aroundNs, this.endNs)];
    const rare = this.observations.rare.filter(([, { atNs }]) => atNs >= earlierNs && atNs <= laterNs);
    const within = nodeBeliefs(rare, [...this.observations.commands(earlierNs, laterNs)], laterNs);
    return this.nodes.map((node) => {
      const { owners, evictions } = within.find((one) => one.node === node.node) ?? NOTHING;
      return { ...node, owners, evictions };
    });
  }
}

const NOTHING: Pick<NodeBelief, 'owners' | 'evictions'> = { owners: new Map(), evictions: [] };

/** One sample in so many is asked who owns what. */
function thinning({ rare }: Observations): number {
  let owners = 0;
  for (const [, one] of rare) if (one.type === 'sample') owners += Object.keys(one.keys).length;
  return Math.ceil(owners / MOST_OWNERS_SAMPLED) || 1;
}

function nodeBeliefs(
  rare: readonly Numbered[],
  commands: readonly (readonly [line: number, CommandObservation])[],
  endNs: number,
  ownersEvery = 1,
): NodeBelief[] {
  const byNode = new Map<string, Numbered[]>();
  for (const one of [...rare, ...commands]) {
    const lines = byNode.get(one[1].node);
    if (lines) lines.push(one);
    else byNode.set(one[1].node, [one]);
  }
  const authors = authorsOf(commands);
  const natural = new Intl.Collator('en', { numeric: true });
  return [...byNode]
    .sort(([a], [b]) => natural.compare(a, b))
    .map(([node, lines]) => {
      const sorted = lines.sort(([lineA, a], [lineB, b]) => a.atNs - b.atNs || lineA - lineB);
      return nodeBelief(node, sorted, authors, endNs, ownersEvery);
    });
}

/** Which single client ever sent a value; values that several sent identify no client. */
function authorsOf(
  commands: readonly (readonly [line: number, CommandObservation])[],
): Map<string, string | undefined> {
  const authors = new Map<string, string | undefined>();
  for (const [, one] of commands) {
    if (one.client === undefined) continue;
    for (const argument of one.argv.slice(1)) {
      if (authors.has(argument) && authors.get(argument) !== one.client) authors.set(argument, undefined);
      else authors.set(argument, one.client);
    }
  }
  return authors;
}

function nodeBelief(
  node: string,
  lines: readonly Numbered[],
  authors: ReadonlyMap<string, string | undefined>,
  endNs: number,
  ownersEvery: number,
): NodeBelief {
  const belief: NodeBelief = { node, roles: [], owners: new Map(), restarts: [], evictions: [] };
  const silenceNs = longestQuiet(lines);
  const owners = new Owners(authors, belief.owners);
  let runId: string | undefined;
  let lastSampleNs: number | undefined;
  let watched = true;
  const goDark = (atNs: number, reason: string, line?: number) => {
    extendRole(belief.roles, { state: 'unwatched', fromNs: atNs, untilNs: atNs, skewMs: 0, reason, line });
    owners.forget(atNs);
    lastSampleNs = undefined;
  };
  const look = ({ atNs, line, runId: runsAs }: Pick<AnyLine, 'atNs' | 'line'> & { runId: string }) => {
    if (runId !== undefined && runsAs !== runId) {
      belief.restarts.push({ atNs, line });
      owners.forget(atNs);
    }
    runId = runsAs;
    lastSampleNs = atNs;
    watched = true;
  };
  let samples = 0;
  for (const [line, observation] of lines) {
    const one: AnyLine = { ...observation, line };
    if (lastSampleNs !== undefined && one.atNs - lastSampleNs > silenceNs) {
      goDark(lastSampleNs + silenceNs, 'no sample for long');
    }
    closeRole(belief.roles, one.atNs);
    switch (one.type) {
      case 'watch':
        watched = one.watching;
        if (!one.watching) goDark(one.atNs, one.reason ?? 'the observer lost the server', one.line);
        break;
      case 'command':
        if (watched) owners.command(one);
        break;
      case 'evicted': {
        const owner = watched ? owners.evicted(one) : undefined;
        belief.evictions.push({ atNs: one.atNs, line: one.line, key: one.key, ...(owner !== undefined && { owner }) });
        break;
      }
      case 'sample':
        look(one);
        extendRole(belief.roles, {
          state: one.role === 'replica' && one.linkUp === false ? 'replica-cut' : one.role,
          fromNs: one.atNs,
          untilNs: one.atNs,
          line: one.line,
          skewMs: Math.abs(one.skewMs) >= SKEW_SHOWN_MS ? one.skewMs : 0,
        });
        if (samples++ % ownersEvery === 0) owners.sample(one);
        break;
      case 'stored':
        owners.stored(one);
        break;
      case 'role':
        look(one);
        extendRole(belief.roles, {
          state: one.role,
          fromNs: one.atNs,
          untilNs: one.atNs,
          line: one.line,
          skewMs: 0,
        });
        break;
    }
  }
  if (lastSampleNs !== undefined && endNs - lastSampleNs > silenceNs) {
    goDark(lastSampleNs + silenceNs, 'no sample after this');
  }
  closeRole(belief.roles, endNs);
  owners.forget(endNs);
  return belief;
}

/** A pause between samples that says the node was not being watched, whatever the observer reported. */
function longestQuiet(lines: readonly Numbered[]): number {
  const gaps: number[] = [];
  let previous: number | undefined;
  for (const [, one] of lines) {
    if (one.type !== 'sample' && one.type !== 'role') continue;
    if (previous !== undefined) gaps.push(one.atNs - previous);
    previous = one.atNs;
  }
  gaps.sort((a, b) => a - b);
  return Math.max(1e9, 5 * (gaps[(gaps.length - 1) >> 1] ?? 0));
}

function closeRole(roles: RoleSpan[], atNs: number): void {
  const last = roles.at(-1);
  if (last !== undefined) last.untilNs = Math.max(last.untilNs, atNs);
}

function extendRole(roles: RoleSpan[], next: RoleSpan): void {
  const last = roles.at(-1);
  if (last !== undefined) last.untilNs = Math.max(last.fromNs, next.fromNs);
  // Drift moves the skew a little with every sample; only a real change begins a new span.
  const same = last !== undefined && last.state === next.state && Math.abs(last.skewMs - next.skewMs) < SKEW_SHOWN_MS;
  if (!same) roles.push(next);
}
