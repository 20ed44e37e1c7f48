/**
 * Locks with one mistake each, and beside each a twin that has one mistake less and is otherwise the same: they test the tool,
 * which must catch the one and not accuse the other of it.
 */
import type { BuiltinLock } from './builtin-lock.js';
import { lettingGoPairs } from './canaries/letting-go.js';
import type { CanaryPair } from './canaries/pair.js';
import { renewingPairs } from './canaries/renewing.js';
import { severalServersPairs } from './canaries/several-servers.js';
import { sharingPairs } from './canaries/sharing.js';
import { takingPairs } from './canaries/taking.js';
import { waitingPairs } from './canaries/waiting.js';

const pairs: Record<string, CanaryPair> = {
  ...takingPairs,
  ...lettingGoPairs,
  ...renewingPairs,
  ...severalServersPairs,
  ...waitingPairs,
  ...sharingPairs,
};

export const canaries: Record<string, BuiltinLock> = Object.fromEntries(
  Object.entries(pairs).flatMap(([name, pair]) => [
    entry(name, pair, pair.summary, pair.claims),
    entry(`${name}-mended`, pair, pair.mended, pair.mendedClaims),
  ]),
);

function entry(
  name: string,
  { topologies, forms, serverNeeds }: CanaryPair,
  summary: string,
  claims: string,
): [string, BuiltinLock] {
  const module = `./broken/${name}.js` as const;
  const needs = serverNeeds && { serverNeeds };
  return [`broken/${name}`, { module, family: 'canary', forms, summary, claims, topologies, canary: true, ...needs }];
}
