/**
 * One key on one server that carries its owner's random value: what locks over several keys or nodes are made of.
 *
 * It promises that no owner ever gives back or extends another's key. Errors come as the client throws them;
 * `answerOf` and `answerOrRefusal` tell those that mean "certainly not executed" from doubts.
 */
import type { Redis } from 'ioredis';
import type { LockHold, TopologyAccess } from '../harness/vocabulary/lock.js';
import { certainOrDoubtful, validForMs, whyNotDone } from './attempts.js';
import { extendIfMine } from './scripts/extend-if-mine.js';
import { releaseIfMine } from './scripts/release-if-mine.js';

export interface OwnedKey<Client = Redis> {
  readonly redis: Client;
  readonly key: string;
  readonly owner: string;
}

/** True when it is ours for `leaseMs` from now; false when it is somebody's already. */
export async function take({ redis, key, owner }: OwnedKey, leaseMs: number): Promise<boolean> {
  return (await redis.set(key, owner, 'PX', leaseMs, 'NX')) === 'OK';
}

/** True when it was ours and is free now. */
export async function giveBack({ redis, key, owner }: OwnedKey): Promise<boolean> {
  return (await redis.eval(releaseIfMine, 1, key, owner)) === 1;
}

/** True when it was ours and is for another `leaseMs` from now. */
export async function prolong({ redis, key, owner }: OwnedKey, leaseMs: number): Promise<boolean> {
  return (await redis.eval(extendIfMine, 1, key, owner, leaseMs)) === 1;
}

/** How an owned key is taken, given back and prolonged; each answers as the function of that name here. */
export interface OwnedKeyCommands<Client = Redis> {
  take(mine: OwnedKey<Client>, leaseMs: number): Promise<boolean>;
  giveBack(mine: OwnedKey<Client>): Promise<boolean>;
  prolong(mine: OwnedKey<Client>, leaseMs: number): Promise<boolean>;
}

/** By scripts that compare the owner; every server has them. */
export const byScripts: OwnedKeyCommands = { take, giveBack, prolong };

type KeyHold = Required<Pick<LockHold, 'release' | 'extend' | 'validForMs' | 'grantSentNs'>>;

/** The hold of one key that was asked for at `sentNs` and granted; given back and prolonged by scripts. */
export function heldKey(access: TopologyAccess, mine: OwnedKey, sentNs: number, leaseMs: number): KeyHold {
  return heldKeyBy(byScripts, access, mine, sentNs, leaseMs);
}

/** As `heldKey`; `by`: with which commands. */
export function heldKeyBy<Client>(
  by: Pick<OwnedKeyCommands<Client>, 'giveBack' | 'prolong'>,
  access: TopologyAccess,
  mine: OwnedKey<Client>,
  sentNs: number,
  leaseMs: number,
): KeyHold {
  return {
    validForMs: validForMs(access, sentNs, leaseMs),
    grantSentNs: sentNs,
    release: () => certainOrDoubtful(by.giveBack(mine)),
    async extend(newLeaseMs) {
      const extensionSentNs = access.nowNs();
      const extended = await certainOrDoubtful(by.prolong(mine, newLeaseMs));
      return extended ? { validForMs: validForMs(access, extensionSentNs, newLeaseMs) } : null;
    },
  };
}

/** What became of a question to a server. `undone`: certainly not executed; `unknown`: may have been. */
export type ServerAnswer =
  | { is: 'yes' }
  | { is: 'no' }
  | { is: 'undone'; reason: string }
  | { is: 'unknown'; error: unknown };

export async function answerOf(question: Promise<boolean>): Promise<ServerAnswer> {
  try {
    return { is: (await question) ? 'yes' : 'no' };
  } catch (error) {
    const reason = whyNotDone(error);
    return reason === undefined ? { is: 'unknown', error } : { is: 'undone', reason };
  }
}

/** The answer, or why the command was certainly not executed. Throws when it cannot tell. */
export async function answerOrRefusal<T>(command: Promise<T>): Promise<{ answer: T } | { refusedBecause: string }> {
  try {
    return { answer: await command };
  } catch (error) {
    const reason = whyNotDone(error);
    if (reason === undefined) throw error;
    return { refusedBecause: reason };
  }
}
