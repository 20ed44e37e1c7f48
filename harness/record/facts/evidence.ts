/**
 * What servers were seen to do within a window of time, asked by node, key, client and hold.
 *
 * It is long because every question reads the same lists, which are made in one pass over the observations.
 */
import type { CheckInput } from '../../vocabulary/run.js';
import type { Hold } from '../../vocabulary/verdict.js';
import { type ClockGain, clockMovesOf, gainedBetween } from './clock-moves.js';
import type { ServerReading } from './commands/server-reading.js';
import { type Effects, effectsOf } from './effects.js';
import { firstIndex } from './first-index.js';
import { copyOf, type Grant, isOthersToo, nearest, ofOneTry, storedWrite } from './grants.js';
import {
  type ClockReading,
  type EvictedObservation,
  type KeyWrite,
  ownerIs,
  RECKONING_NS,
  type SampleObservation,
  type WatchObservation,
} from './key-writes.js';
import { appendTo } from './listed-by-name.js';
import { type MachineClock, machineClockOf } from './machine-clock.js';
import { recordedUntilNs } from './missing-observations.js';
import { firstNestedNs } from './nested-acquires.js';
import { NodeFeed } from './node-feed.js';
import { majorityOf } from './quorum.js';
import { isInVirtualTime } from './ran.js';

type At<T> = readonly [observation: number, item: T];
interface NodeEvidence {
  samples: At<SampleObservation>[];
  watches: At<WatchObservation>[];
  /** By key, in the node's own order, like its writes. */
  evictions: Map<string, At<EvictedObservation>[]>;
  writes: Map<string, KeyWrite[]>;
  /** By key and client, the client's own writes. */
  byClient: Map<string, KeyWrite[]>;
  /** See `Evidence.servedNs`; absent: nobody has asked yet. */
  servedNs?: readonly number[];
  /** Absent: no command of it was seen. */
  reading?: ServerReading;
}

/** A grant is seen at the latest so long after the client had the answer: the observer reads a little behind. */
export const OBSERVED_WITHIN_NS = 1e9;
/** Most grants are seen much sooner, so of two that might be meant it is the one before this. */
const OBSERVED_AT_ONCE_NS = 20e6;
/** After the end of a hold even less: what comes then may belong to the client's next try. */
const OBSERVED_AFTER_HOLD_NS = 100e6;

/** A time of which every command is known, both bounds included. */
export interface Window {
  fromNs: number;
  untilNs: number;
}

export const ALL_TIME: Window = { fromNs: Number.NEGATIVE_INFINITY, untilNs: Number.POSITIVE_INFINITY };

export class Evidence {
  /** Names of the data nodes that were observed. */
  readonly nodes: readonly string[];
  /** What faults did, and when. */
  readonly effects: Effects;
  /** Whether a lock is held by a majority of independent nodes, and how many nodes make one. */
  readonly majority: number | undefined;
  /** Those nodes, also where nothing of them was observed; empty where there are none. */
  readonly voters: readonly string[];
  /** Of each of them that replicates its servers, in the order of `voters`; absent: each is a server. */
  readonly serversOfVoters: readonly (readonly string[])[] | undefined;
  /** When the harness first asked a client for anything, ns since the epoch; Infinity: never. */
  readonly firstAskedNs: number;
  private readonly recordedUntilNs: number;
  private readonly machineClock: MachineClock | undefined;
  /** Whether some server's stamps contradict where the record places the machine's clock: of no command its own then says when it ran. */
  isClockContradicted = false;
  private readonly byNode = new Map<string, NodeEvidence>();
  private readonly features = new Map<string, readonly string[]>();
  private readonly slots = new Map<string, string>();
  private readonly grants = new Map<Hold, Grant[]>();

  constructor(
    private readonly input: CheckInput,
    readonly window: Window = ALL_TIME,
    /** Servers that were watched before this had nothing stored then. */
    private readonly emptyBeforeNs = Number.NEGATIVE_INFINITY,
  ) {
    const { history, observations, config } = input;
    this.effects = effectsOf(history);
    this.machineClock = machineClockOf(history);
    this.recordedUntilNs = recordedUntilNs({ history, observations });
    this.firstAskedNs = history.operations.count > 0 ? history.operations.sentNs[0]! : Number.POSITIVE_INFINITY;
    for (const event of history.rare) {
      if (event.type !== 'client-up') continue;
      this.features.set(event.client, event.features);
      this.slots.set(event.client, event.slot);
    }
    for (const [at, observation] of observations.rare) {
      const node = this.nodeEvidence(observation.node);
      if (observation.type === 'sample') node.samples.push([at, observation]);
      else if (observation.type === 'watch') node.watches.push([at, observation]);
      else if (observation.type === 'evicted') appendTo(node.evictions, observation.key, [at, observation]);
    }
    this.readCommands(observations, new Set([...config.keys, ...history.operations.keys]), config.keys);
    this.nodes = [...this.byNode.keys()].sort();
    const quorum = majorityOf(history);
    this.majority = quorum?.majority;
    this.voters = quorum?.nodes ?? [];
    this.serversOfVoters = quorum?.servers;
  }

  /** The same of these servers alone, as of a deployment that has no others: one logical server, of which one is primary. */
  within(servers: readonly string[]): Evidence {
    const alone = { nodes: this.nodes.filter((node) => servers.includes(node)), majority: undefined, voters: [] };
    return Object.assign(Object.create(Evidence.prototype), this, alone, {
      serversOfVoters: undefined,
      grants: new Map<Hold, Grant[]>(),
    });
  }

  private readCommands(observations: CheckInput['observations'], keys: ReadonlySet<string>, covers: string[]): void {
    const { fromNs, untilNs } = this.window;
    const feeds = new Map<string, NodeFeed>();
    // That has one database.
    const mayBeCluster = this.majority === undefined && new Set(observations.rare.map(([, { node }]) => node)).size > 1;
    for (const [at, command] of observations.commands(fromNs, untilNs)) {
      let feed = feeds.get(command.node);
      if (!feed) {
        const rare = observations.rare.filter(([, one]) => one.node === command.node);
        feed = new NodeFeed(command.node, keys, rare, {
          sees: (atNs) => this.sees(atNs),
          moves: clockMovesOf(this.effects, command.node),
          machineClock: this.machineClock,
          covers,
          hasExactStamps: isInVirtualTime(this.input.history),
          ...(mayBeCluster && { databases: 1 }),
          startsEmpty: rare.some(([, one]) => one.type === 'watch' && one.watching && one.atNs < this.emptyBeforeNs),
        });
        feeds.set(command.node, feed);
      }
      feed.add(at, command);
    }
    for (const [node, feed] of feeds) {
      const evidence = this.nodeEvidence(node);
      evidence.writes = feed.finish();
      evidence.reading = feed.reading;
      if (feed.isContradicted) this.isClockContradicted = true;
      for (const [key, ofKey] of evidence.writes)
        for (const write of ofKey)
          if (write.client !== undefined) appendTo(evidence.byClient, `${key}\n${write.client}`, write);
    }
  }

  featuresOf(client: string): readonly string[] {
    return this.features.get(client) ?? [];
  }

  /** The client, and all that followed each other in its place: they may share an identity. */
  inPlaceOf(client: string): readonly string[] {
    const place = this.slots.get(client);
    return place === undefined ? [client] : [...this.slots].flatMap(([one, slot]) => (slot === place ? [one] : []));
  }

  /** Everything that `node` was seen to do to `key`, in its own order. */
  writes(node: string, key: string): readonly KeyWrite[] {
    return this.byNode.get(node)?.writes.get(key) ?? [];
  }

  /** What a request was sent with; undefined: it was not seen itself. */
  argvOf({ observation }: KeyWrite): readonly string[] | undefined {
    const line = this.input.observations.line(observation);
    return line?.type === 'command' ? line.argv : undefined;
  }

  /** When a node carried out what clients asked it to write, whatever the key, in order: a replica turns that away. */
  servedNs(node: string): readonly number[] {
    const of = this.byNode.get(node);
    if (!of) return [];
    of.servedNs ??= [...of.writes.values()]
      .flat()
      .filter(({ client, effect }) => client !== undefined && effect !== 'none')
      .map((write) => (this.isPlaced(write) ? Math.min(write.ranNs, write.atNs) : write.atNs))
      .sort((a, b) => a - b);
    return of.servedNs;
  }

  /** What was read of the node's keys, all of them; undefined where none of its commands was seen. */
  readingOf(node: string): ServerReading | undefined {
    return this.byNode.get(node)?.reading;
  }

  /** Writes after `after` and before `before`, in the node's own order. */
  writesBetween(after: KeyWrite, before: KeyWrite, key: string): readonly KeyWrite[] {
    const writes = this.writes(before.node, key);
    return writes.slice(
      firstIndex(writes.length, (at) => writes[at]!.observation > after.observation),
      firstIndex(writes.length, (at) => writes[at]!.observation >= before.observation),
    );
  }

  /** What the client itself last took on `node` before `write`, or tried to. */
  lastTakeOf(client: string, write: KeyWrite, key: string): KeyWrite | undefined {
    const writes = this.byNode.get(write.node)?.byClient.get(`${key}\n${client}`) ?? [];
    return writes
      .slice(
        0,
        firstIndex(writes.length, (at) => writes[at]!.observation >= write.observation),
      )
      .findLast((one) => one.effect === 'take');
  }

  /** A node's samples that were read within the bounds, both included. */
  samples(node: string, fromNs: number, untilNs: number): readonly At<SampleObservation>[] {
    const samples = this.byNode.get(node)?.samples ?? [];
    return samples.slice(
      firstIndex(samples.length, (of) => samples[of]![1].atNs >= fromNs),
      firstIndex(samples.length, (of) => samples[of]![1].atNs > untilNs),
    );
  }

  lastSample(node: string, untilNs: number): At<SampleObservation> | undefined {
    const samples = this.byNode.get(node)?.samples ?? [];
    return samples[firstIndex(samples.length, (of) => samples[of]![1].atNs > untilNs) - 1];
  }

  /** The first sample from then on of which `wanted` holds. */
  firstSample(
    node: string,
    fromNs: number,
    wanted: (sample: SampleObservation) => boolean,
  ): At<SampleObservation> | undefined {
    const samples = this.byNode.get(node)?.samples ?? [];
    for (let at = firstIndex(samples.length, (of) => samples[of]![1].atNs >= fromNs); at < samples.length; at++)
      if (wanted(samples[at]![1])) return samples[at];
    return undefined;
  }

  /** The last sample up to then in which the node was a replica. */
  lastAsReplica(node: string, untilNs: number): At<SampleObservation> | undefined {
    const samples = this.samples(node, Number.NEGATIVE_INFINITY, untilNs);
    return samples.findLast(([, { role }]) => role === 'replica');
  }

  /** How far the node's clock was ahead of the machine's when a write ran, milliseconds, as its own stamp shows. */
  skewAt({ ranNs, serverWallMs }: Pick<KeyWrite, 'ranNs' | 'serverWallMs'>): number {
    return this.machineClock?.aheadMs(serverWallMs, ranNs) ?? serverWallMs - ranNs / 1e6;
  }

  /**
   * When a command ran by its server's stamp, of a clock that is so far ahead of the machine's, milliseconds; ns since the epoch.
   * Undefined: it cannot have been then.
   */
  ranByStamp({ serverWallMs, atNs }: Pick<KeyWrite, 'serverWallMs' | 'atNs'>, aheadMs: number): number | undefined {
    const ranNs = this.machineClock?.showed(serverWallMs, aheadMs, atNs);
    return ranNs === undefined || ranNs > atNs + RECKONING_NS ? undefined : ranNs;
  }

  /** How far steps of the machine's clock put it apart between the two instants, milliseconds: every server's goes with it. */
  machineMovedMs(fromNs: number, untilNs: number): number {
    return this.machineClock?.movedMs(fromNs, untilNs) ?? 0;
  }

  /** What clock faults did to a node between the two instants: each was read back when it struck. */
  clockFaults(node: string, fromNs: number, untilNs: number): ClockReading[] {
    return clockMovesOf(this.effects, node)
      .filter(({ span }) => span.earliestNs > fromNs && span.fromNs < untilNs)
      .map(({ span, offsetMs }) => ({ atNs: span.fromNs, aheadMs: offsetMs }));
  }

  /** The clock faults by which a node's clock may have gained between the two instants, also those that struck before. */
  clockGains(node: string, fromNs: number, untilNs: number): ClockGain[] {
    return clockMovesOf(this.effects, node)
      .map((move) => ({ ...move, gainedMs: gainedBetween(move, fromNs, untilNs) }))
      .filter(({ gainedMs }) => gainedMs > 0);
  }

  /** Whether every command that the node ran between the two instants was seen. */
  watchedThroughout(node: string, fromNs: number, untilNs: number): boolean {
    if (untilNs > this.recordedUntilNs) return false;
    let watching = false;
    for (const [, watch] of this.byNode.get(node)?.watches ?? []) {
      if (watch.atNs > untilNs) break;
      if (!watch.watching && watch.atNs > fromNs) return false;
      if (watch.atNs <= fromNs) watching = watch.watching;
    }
    return watching;
  }

  /** Whether its nodes are one logical server, of which one replicates from another. */
  get isReplicated(): boolean {
    return this.majority === undefined && this.nodes.length > 1;
  }

  /** Whether MONITOR on `node` was recorded at all, and no part of that is missing. */
  wasWatched(node: string): boolean {
    return this.recordedUntilNs > Number.NEGATIVE_INFINITY && (this.byNode.get(node)?.watches.length ?? 0) > 0;
  }

  /** The first time that watching `node` broke off between the two instants. */
  watchLost(node: string, fromNs: number, untilNs: number): At<WatchObservation> | undefined {
    return this.byNode
      .get(node)
      ?.watches.find(([, watch]) => !watch.watching && watch.atNs > fromNs && watch.atNs < untilNs);
  }

  /** Whether `node` answered who began to watch it, or a look, between the two instants: it ran then. */
  answeredBetween(node: string, fromNs: number, untilNs: number): boolean {
    const isThen = (atNs: number) => atNs > fromNs && atNs <= untilNs;
    const watches = this.byNode.get(node)?.watches ?? [];
    return (
      watches.some(([, { watching, atNs }]) => watching && isThen(atNs)) ||
      this.samples(node, fromNs + 1, untilNs).length > 0
    );
  }

  /** Whether `node` was watched at an instant, and printed a line before that watch broke off, as its process then did. */
  printedInWatch(node: string, atNs: number, line: number): boolean {
    const lost = this.watchLost(node, atNs, Number.POSITIVE_INFINITY);
    return lost !== undefined && lost[0] > line && this.watchedThroughout(node, atNs, atNs);
  }

  /** Where the hold's client was seen to ask for the lock in the attempt that was granted: one write a node. */
  grantsOf(hold: Hold): readonly Grant[] {
    const known = this.grants.get(hold);
    if (known) return known;
    const grants = this.nodes.flatMap((node): Grant[] => {
      const write = this.grantingWrite(node, hold);
      if (!write) return [];
      // Of a node that was never watched the reading may have missed anything.
      return [{ node, write, took: this.wasWatched(node) ? (write.took ?? this.tookByCopy(write, hold)) : undefined }];
    });
    const told =
      this.majority === undefined ? nearest(grants, hold.fromNs) : this.withSeenStored(ofOneTry(grants, hold), hold);
    this.grants.set(hold, told);
    return told;
  }

  /** True where a replica's copy shows that a request of which its own node tells neither stored its value; undefined: it may have. */
  private tookByCopy(write: KeyWrite, { key, grantSentNs }: Hold): true | undefined {
    const writes = this.nodes.flatMap((node) => this.writes(node, key));
    const copy = copyOf(write, writes, (one) => this.cameOverLink(one));
    // The same may have been asked where nobody saw it.
    const isSeen = (node: string) =>
      this.watchedThroughout(node, grantSentNs, copy!.atNs) || this.effects.whyDown(node, grantSentNs, copy!.atNs);
    return copy && this.nodes.every(isSeen) ? true : undefined;
  }

  /** Whether a write certainly came over the replication link: its node was a replica in the looks before and after. */
  cameOverLink({ node, client, atNs }: KeyWrite): boolean {
    const around = [this.lastSample(node, atNs), this.firstSample(node, atNs, () => true)];
    return client === undefined && around.every((sample) => sample?.[1].role === 'replica');
  }

  /**
   * Grants by nodes that were not watched at that moment, having just been restarted, say: the owner value that the client
   * stored on other nodes in this attempt, and nowhere else ever, is found on them while it holds.
   */
  private withSeenStored(grants: Grant[], hold: Hold): Grant[] {
    const values = new Set(grants.flatMap(({ took, write }) => (took === false ? [] : [write.value])));
    const [value] = values;
    if (values.size !== 1 || value === undefined) return grants;
    if (this.nodes.some((node) => isOthersToo(value, hold, this.writes(node, hold.key)))) return grants;
    const stored = this.nodes.flatMap((node): Grant[] => {
      if (grants.some((grant) => grant.node === node)) return [];
      if (this.watchedThroughout(node, hold.grantSentNs, hold.fromNs)) return [];
      const seen = this.seenStored(node, hold.key, value, hold.grantSentNs, hold.untilNs);
      return seen ? [{ node, took: true, write: storedWrite(seen, hold, value, this.machineClock) }] : [];
    });
    return [...grants, ...stored];
  }

  /** The write on `node` that carried `value` there from elsewhere (the replication link), seen between two instants. */
  replicated(
    node: string,
    key: string,
    value: string | undefined,
    fromNs: number,
    before: KeyWrite,
  ): KeyWrite | undefined {
    if (value === undefined) return undefined;
    const writes = this.writes(node, key);
    for (let at = firstIndex(writes.length, (of) => writes[of]!.atNs >= fromNs); at < writes.length; at++) {
      const write = writes[at]!;
      if (write.observation >= before.observation) return undefined;
      if (write.client === undefined && write.effect === 'take' && write.value === value) return write;
    }
    return undefined;
  }

  /** The sample of `node` that shows `value` stored under `key`, read between two instants. */
  seenStored(
    node: string,
    key: string,
    value: string | undefined,
    fromNs: number,
    untilNs: number,
  ): At<SampleObservation> | undefined {
    return this.samples(node, fromNs, untilNs).find(([, sample]) => {
      const stored = sample.keys[key];
      return stored !== undefined && ownerIs(stored.owner, value);
    });
  }

  /** What a node had loaded of a hold with all that its primary had, as the first look that shows it tells. */
  loadedWrite(look: At<SampleObservation>, hold: Hold, value: string): KeyWrite {
    const { client: _, ...loaded } = storedWrite(look, hold, value, this.machineClock);
    return loaded;
  }

  /**
   * The client's first take since the granted attempt left, or the last of several in a row; a release or extension of the
   * same client ends the search, so that the next acquire's take is not mistaken for it.
   */
  private grantingWrite(node: string, hold: Hold): KeyWrite | undefined {
    const writes = this.byNode.get(node)?.byClient.get(`${hold.key}\n${hold.client}`) ?? [];
    const byNs = Math.min(hold.fromNs + OBSERVED_WITHIN_NS, hold.untilNs + OBSERVED_AFTER_HOLD_NS);
    let found: KeyWrite | undefined;
    for (let at = firstIndex(writes.length, (of) => writes[of]!.atNs >= hold.grantSentNs); at < writes.length; at++) {
      const write = writes[at]!;
      if (write.atNs > byNs) break;
      if (write.ranNs < hold.grantSentNs - RECKONING_NS) continue; // an earlier try, read late
      // What ran when the answer was there did not lead to it.
      const lateNs = this.isPlaced(write) ? RECKONING_NS : OBSERVED_AT_ONCE_NS;
      if (!found && write.ranNs > hold.fromNs + lateNs) break;
      // Nor what ran when the client had been told to take it once more within that hold: a reader that is to write, say.
      if (write.ranNs > hold.fromNs && write.ranNs + RECKONING_NS > firstNestedNs(this.input.history, hold)) break;
      if (write.effect === 'take') {
        // Already answered: what comes later is the client's next try, whose release went to another node, say.
        if (found && write.ranNs > hold.fromNs + lateNs) break;
        found = write;
      }
      // A compare-and-delete that found somebody else's key ran no command inside, but it is a release all the same.
      else if (found && (write.effect !== 'none' || write.script)) break;
      // Released before any take was seen: the grant itself was missed, and what follows is the next one.
      else if (write.effect === 'remove') break;
    }
    return found;
  }

  /** Whether it is known when a command ran: by the machine's clock. How far another one is off is known only as well as it was asked. */
  isPlaced({ serverWallMs, ranNs }: KeyWrite): boolean {
    if (this.machineClock === undefined || this.isClockContradicted) return false;
    return Math.abs(this.machineClock.aheadMs(serverWallMs, ranNs)) < 1;
  }

  private sees(atNs: number): boolean {
    return atNs >= this.window.fromNs && atNs <= this.window.untilNs;
  }

  private nodeEvidence(name: string): NodeEvidence {
    const known = this.byNode.get(name);
    if (known) return known;
    const [evictions, writes, byClient] = [new Map(), new Map(), new Map()];
    const node: NodeEvidence = { samples: [], watches: [], evictions, writes, byClient };
    this.byNode.set(name, node);
    return node;
  }
}
