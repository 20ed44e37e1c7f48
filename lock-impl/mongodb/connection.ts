/**
 * MongoDB's client library as locks use it: each question bounded in time and sent once. What makes an answer doubtful is told apart
 * from what was certainly not done.
 */
import type { MongoClient, MongoClientOptions } from 'mongodb';
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import { refused } from '../define-lock.js';
import { LockNotUsableError } from '../not-usable-here.js';

export const MONGODB_TOPOLOGIES = ['mongodb'];
/** The code of a key that is there already. */
export const DUPLICATE_KEY = 11_000;
/** The end of a lease that is nobody's. */
export const NOBODYS_END = new Date(0);

/**
 * Answers after which it may have been done all the same: an internal error, a server that is going, a write that was done and not
 * confirmed as it was asked to be.
 */
const DOUBTFUL = new Set([1, 50, 64, 91, 189, 262, 11_600, 11_602]);

/** The client library, which the project has if it uses this service: loaded before a lock is ready, for that takes time. */
async function loadMongodb() {
  return import('mongodb').catch(() => {
    throw new LockNotUsableError('the package mongodb is needed and not installed: npm install mongodb');
  });
}

/**
 * Gives what `make` makes of a connected client, which connects anew by itself from then on. One that could not connect at first stays
 * closed for ever, so there is another for the next question. Rejects with a refusal where the server cannot be reached.
 */
export async function onceConnected<Store>(
  access: TopologyAccess,
  make: (client: MongoClient) => Store,
): Promise<() => Promise<Store>> {
  const newClient = await clients(access);
  let store: Promise<Store> | undefined;
  return () => {
    if (!store) {
      store = connected(newClient()).then(make);
      store.catch(() => {
        store = undefined;
      });
    }
    return store;
  };
}

async function connected(client: MongoClient): Promise<MongoClient> {
  try {
    return await client.connect();
  } catch {
    client.close().catch(() => {});
    throw refused('unreachable');
  }
}

async function clients(access: TopologyAccess): Promise<() => MongoClient> {
  const { description, options } = access;
  if (description.kind !== 'mongodb')
    throw new LockNotUsableError(`this lock is for MongoDB, not for ${description.kind}`);
  const { MongoClient } = await loadMongodb();
  const { host, port } = description.nodes[0]!;
  const timeoutMs = options.commandTimeoutMs;
  const settings: MongoClientOptions = {
    appName: options.client,
    directConnection: true,
    // What was sent and not answered may have been done: sent again it would find its own doing.
    retryWrites: false,
    retryReads: false,
    // On disk before it is answered, which of a single server is not so by default.
    writeConcern: { w: 'majority', journal: true },
    serverSelectionTimeoutMS: timeoutMs,
    connectTimeoutMS: timeoutMs,
    socketTimeoutMS: timeoutMs,
    waitQueueTimeoutMS: timeoutMs,
    // By default it would be up to ten seconds late to hear that a server is there again.
    heartbeatFrequencyMS: 500,
    minHeartbeatFrequencyMS: 50,
  };
  return () => new MongoClient(`mongodb://${host}:${port}`, settings);
}

/** The server's clock, milliseconds since 1970: no later than when the answer comes. Rejects with a refusal. */
export async function serverNowMs(client: MongoClient): Promise<number> {
  const { localTime } = await answerElseUnreachable(client.db('admin').command({ hello: 1 }));
  return (localTime as Date).getTime();
}

/** Of a question that changes nothing, whatever becomes of it: no answer is a refusal. */
export async function answerElseUnreachable<T>(question: Promise<T>): Promise<T> {
  return question.catch(() => {
    throw refused('unreachable');
  });
}

/** The answer; `instead`: what to take certain error codes for. Rejects with a refusal where it was certainly not done. */
export async function askedOf<T, E = never>(question: Promise<T>, instead: Record<number, E> = {}): Promise<T | E> {
  try {
    return await question;
  } catch (error) {
    const { name, code, codeName, beforeHandshake } = error as Record<string, unknown>;
    if (typeof code === 'number' && code in instead) return instead[code] as E;
    const isAnswer = name === 'MongoServerError' && typeof code === 'number';
    if (isAnswer && !DOUBTFUL.has(code)) throw refused(String(codeName ?? code));
    if (name === 'MongoServerSelectionError' || beforeHandshake === true) throw refused('unreachable');
    throw error;
  }
}
