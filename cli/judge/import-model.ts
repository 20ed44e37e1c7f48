/** What a lock promises whose history was recorded elsewhere: as a user types it, as it is decided, in words. Pure. */
import { InvalidArgumentError } from 'commander';
import {
  decideByAnybody,
  decideByOwner,
  decideByThreads,
  decideReentrantFenced,
} from '../../checkers/linearizability/by-owner/decide-by-owner.js';
import { decide } from '../../checkers/linearizability/decide.js';
import type { DecideKey } from '../../checkers/linearizability/types.js';
import { plural } from '../../harness/record/facts/words.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';

/** What the lock promises: `anybody`: whoever holds, any client may release; `tokens`: a reentrant one gives rising tokens. */
export type ImportModel = LockModel & { anybody?: true; tokens?: true };

export const IMPORT_MODELS =
  'mutex, reentrant[:DEPTH], reentrant-fenced[:DEPTH], read-write, semaphore:N, ownerless[:N], fenced or fair';

/** `reentrant:2` and the like. */
export function parsedModel(text: string): ImportModel {
  const [kind, number, ...more] = text.split(':');
  const count = /^[1-9]\d{0,8}$/.test(number ?? '') ? Number(number) : undefined;
  const wrong = new InvalidArgumentError(`"${text}" is not a model; known: ${IMPORT_MODELS}.`);
  if (more.length > 0 || (number !== undefined && count === undefined)) throw wrong;
  if (kind === 'semaphore' && count !== undefined) return { kind, permits: count };
  if (kind === 'ownerless') return { kind: 'semaphore', permits: count ?? 1, anybody: true };
  const depth = count ?? Number.MAX_SAFE_INTEGER;
  if (kind === 'reentrant') return { kind, depth };
  if (kind === 'reentrant-fenced') return { kind: 'reentrant', depth, tokens: true };
  if (number !== undefined) throw wrong;
  if (kind === 'mutex' || kind === 'read-write' || kind === 'fenced' || kind === 'fair') return { kind };
  throw wrong;
}

/** Of whom a history tells its holds: whether its releases say which one they end, and whether an owner may be several processes. */
export interface HoldsTold {
  namesHolds: boolean;
  threads: boolean;
}

/** What decides a key of such a lock. */
export function decidingKeys(model: ImportModel, { namesHolds, threads }: HoldsTold): DecideKey {
  if (model.anybody) return decideByAnybody;
  if (model.tokens) return decideReentrantFenced;
  if (namesHolds) return decide;
  return threads ? decideByThreads : decideByOwner;
}

export function modelText(model: ImportModel): string {
  if (model.anybody)
    return model.kind === 'semaphore' && model.permits > 1
      ? `a semaphore of ${plural(model.permits, 'permit')} that anybody may give back`
      : 'a lock that anybody may release';
  if (model.tokens) return `${modelText({ ...model, tokens: undefined } as ImportModel)} with tokens`;
  switch (model.kind) {
    case 'reentrant':
      return model.depth < Number.MAX_SAFE_INTEGER ? `a lock reentrant up to ${model.depth}` : 'a reentrant lock';
    case 'semaphore':
      return `a semaphore of ${plural(model.permits, 'permit')}`;
    case 'mutex':
      return 'a mutex';
    default:
      return `a ${model.kind} lock`;
  }
}
