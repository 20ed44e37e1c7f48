/** What an error of MongoDB's client library means to a lock: certainly not done, or in doubt. */
import { MongoNetworkError, MongoServerError, MongoServerSelectionError, MongoWriteConcernError } from 'mongodb';
import { expect, it } from 'vitest';
import { askedOf } from '../../../../lock-impl/mongodb/connection.js';

const answered = (code: number, codeName?: string) => new MongoServerError({ message: 'no', code, codeName });
const noServer = new MongoServerSelectionError('timed out', { servers: new Map() } as never);
const refusedOf = (error: unknown) => askedOf(Promise.reject(error)).catch((said: Error) => said.message);

it.each([
  ['a server that answers with an error', answered(13, 'Unauthorized'), 'refused: Unauthorized'],
  ['a server that names its error by number only', answered(11_000), 'refused: 11000'],
  ['no server', noServer, 'refused: unreachable'],
  [
    'a connection that was not made',
    new MongoNetworkError('refused', { beforeHandshake: true } as never),
    'refused: unreachable',
  ],
])('%s: certainly not done', async (_, error, said) => {
  expect(await refusedOf(error)).toBe(said);
});

it.each([
  ['a connection that broke', new MongoNetworkError('broken')],
  ['a server that is going', answered(11_600, 'InterruptedAtShutdown')],
  ['an internal error', answered(1, 'InternalError')],
  [
    'a write that was not confirmed',
    new MongoWriteConcernError({ writeConcernError: { code: 64, errmsg: 'no' } } as never),
  ],
])('%s: in doubt', async (_, error) => {
  expect(await refusedOf(error)).toBe(error.message);
});

it('takes a code for what it is to mean', async () => {
  expect(await askedOf(Promise.reject(answered(11_000)), { 11000: 'held' })).toBe('held');
  expect(await askedOf(Promise.resolve('done'), { 11000: 'held' })).toBe('done');
});
