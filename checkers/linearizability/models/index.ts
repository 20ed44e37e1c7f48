/** The locks, as data for the general search and for checking certificates. */
import type { LockModel } from '../../../harness/vocabulary/protocol.js';
import type { Model } from '../types.js';
import { fairModel, fencedModel, mutexModel } from './mutex.js';
import { readWriteModel, reentrantModel, semaphoreModel } from './shared.js';

/** A latch is no lock. */
type Kind = Exclude<LockModel['kind'], 'latch'>;

// biome-ignore lint/suspicious/noExplicitAny: each model has a state of its own, which is its own business.
type AnyModel = Model<any>;

export const models: { readonly [K in Kind]: (model: Extract<LockModel, { kind: K }>) => AnyModel } = {
  mutex: mutexModel,
  reentrant: reentrantModel,
  'read-write': readWriteModel,
  semaphore: semaphoreModel,
  fenced: fencedModel,
  fair: fairModel,
};

export function modelOf(model: LockModel): Model<unknown> {
  if (model.kind === 'latch') throw new Error('a latch has no holders');
  return (models[model.kind] as (model: LockModel) => Model<unknown>)(model);
}
