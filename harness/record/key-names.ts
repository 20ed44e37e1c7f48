/**
 * Under which names a lock keeps its keys on the servers. Most take the key's own; some libraries put a word before it, and
 * say so in their handshake (`keys`). What was recorded has the servers' names; whoever explains it asks for keys.
 */
import type { CommandObservation, History, Observation, Observations, RareObservation } from '../vocabulary/history.js';
import { KEY_PLACE } from './schemas/protocol.js';

/** The name of the key that tells who holds; declared names beside it are found by the key that is part of them. */
export function keyNamer(declared: readonly string[] | undefined): (key: string) => string {
  const name = declared?.[0] ?? KEY_PLACE;
  // A function, for a key may have a dollar sign in it.
  return (key) => name.replace(KEY_PLACE, () => key);
}

/** The observations of a run, with its keys called as the run calls them: a lock's own names for them are read as these. */
export function namedByKeys(observations: Observations, { rare }: History, keys: readonly string[]): Observations {
  const declared = rare.find((event) => event.type === 'client-up')?.keys;
  if (declared === undefined) return observations;
  const nameOf = keyNamer(declared);
  const keyOf = new Map(keys.map((key) => [nameOf(key), key]));
  const read = (word: string) => keyOf.get(word) ?? word;
  const named = (command: CommandObservation): CommandObservation => ({ ...command, argv: command.argv.map(read) });
  const namedRare = (one: RareObservation): RareObservation =>
    one.type === 'evicted' || one.type === 'stored' ? { ...one, key: read(one.key) } : one;
  const either = (one: Observation) => (one.type === 'command' ? named(one) : namedRare(one));
  return {
    length: observations.length,
    commandCount: observations.commandCount,
    rare: observations.rare.map(([line, one]) => [line, namedRare(one)]),
    line(i) {
      const one = observations.line(i);
      return one && either(one);
    },
    *commands(fromNs, untilNs) {
      for (const [line, command] of observations.commands(fromNs, untilNs)) yield [line, named(command)];
    },
  };
}
