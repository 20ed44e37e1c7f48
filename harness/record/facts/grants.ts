/** The writes with which nodes granted a hold, or were asked to, and which of them belong to the attempt that was granted. */
import type { Hold } from '../../vocabulary/verdict.js';
import { type KeyWrite, RECKONING_NS, type SampleObservation } from './key-writes.js';
import type { MachineClock } from './machine-clock.js';

/** The write with which a node granted a hold, or was asked to. */
export interface Grant {
  node: string;
  write: KeyWrite;
  /** Undefined: unknown. */
  took: boolean | undefined;
}

/**
 * Without what a later try of the client took on nodes that never heard of the one that was granted: that ran when the
 * answer was there, with another value than all that ran before.
 */
export function ofOneTry(grants: Grant[], { fromNs }: Hold): Grant[] {
  const values = new Set(grants.filter(({ write }) => write.ranNs <= fromNs).map(({ write }) => write.value));
  if (values.size === 0 || values.has(undefined)) return grants;
  return grants.filter(({ write }) => write.ranNs <= fromNs || values.has(write.value));
}

/** Whether an owner value was stored, or to be stored, by any other attempt among these writes than the one that was granted. */
export function isOthersToo(value: string, { client, grantSentNs }: Hold, writes: readonly KeyWrite[]): boolean {
  return writes.some(
    (write) =>
      write.effect === 'take' &&
      write.value === value &&
      (write.client !== client || write.ranNs < grantSentNs - RECKONING_NS),
  );
}

/** A write that was not seen itself, as the sample that shows its effect tells it. */
export function storedWrite(
  [observation, sample]: readonly [observation: number, sample: SampleObservation],
  hold: Hold,
  value: string,
  machineClock: MachineClock | undefined,
): KeyWrite {
  const { node, atNs, skewMs, keys } = sample;
  const serverWallMs = (machineClock?.wallMs(atNs) ?? atNs / 1e6) + skewMs;
  const leftMs = keys[hold.key]?.pttlMs ?? -1;
  return {
    node,
    observation,
    atNs,
    ranNs: atNs,
    serverWallMs,
    client: hold.client,
    source: 'sample',
    command: 'seen stored',
    script: false,
    effect: 'take',
    conditional: true,
    blind: false,
    value,
    expiresWallMs: leftMs < 0 ? Number.POSITIVE_INFINITY : serverWallMs + leftMs,
  };
}

/** A replica gets what its primary stored with the end that this reckoned, in whole milliseconds; some servers round its stamp. */
const SAME_END_MS = 2;

/**
 * What a replica was seen to get over its link that shows that a request stored its value, of which its own node's record leaves that
 * open. Example: c1's time is over in the very millisecond in which c2's SET NX comes, so c2 was granted the key or refused it. But
 * the replica gets c2's value, with the end that c2 asked for, and nobody else asked for that.
 *
 * `writes`: all that was seen to be done to the key, on all nodes; `cameOverLink`: whether one certainly came from its node's primary.
 */
export function copyOf(
  { value, expiresWallMs, observation }: KeyWrite,
  writes: readonly KeyWrite[],
  cameOverLink: (write: KeyWrite) => boolean,
): KeyWrite | undefined {
  if (value === undefined) return undefined;
  const others = writes.filter((write) => write.value === value && write.observation !== observation);
  const copy = others.find(
    (write) => Math.abs(write.expiresWallMs - expiresWallMs) <= SAME_END_MS && cameOverLink(write),
  );
  // What came by the same link elsewhere is another copy.
  return copy && others.every(({ source }) => source === copy.source) ? copy : undefined;
}

/** The one write that a single logical server granted with: what the client asked of another one later is not it. */
export function nearest(grants: readonly Grant[], toNs: number): Grant[] {
  const away = ({ write }: Grant) => Math.abs(write.atNs - toNs);
  const best = [...grants].sort((a, b) => away(a) - away(b))[0];
  return best ? [best] : [];
}
