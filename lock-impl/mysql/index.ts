/** Locks on MySQL and on MariaDB. */
import { type BuiltinLock, ONE_TRY, WITH_EXTEND } from '../builtin-lock.js';
import { type MysqlService, ON_MARIADB, ON_MYSQL } from './connections.js';

export const mysqlLocks: Record<string, BuiltinLock> = { ...locksOn(ON_MARIADB), ...locksOn(ON_MYSQL) };

function locksOn({ service, title, topologies, replicated }: MysqlService): Record<string, BuiltinLock> {
  const of = (name: string) => ({ module: `./mysql/${service}-${name}.js`, family: service, topologies }) as const;
  const canary = { family: 'canary', canary: true, forms: ONE_TRY };
  return {
    [`${service}-row`]: {
      ...of('row'),
      forms: WITH_EXTEND,
      summary: `${title}: a row with owner, expiry and a counter, taken by an UPDATE if it is still what was read; the counter is the fencing token`,
      claims: 'exclusion and rising tokens while the server keeps what it committed; an asynchronous failover loses it',
    },
    [`${service}-row-plain`]: {
      ...of('row-plain'),
      forms: WITH_EXTEND,
      summary: `${service}-row without its fencing tokens`,
      claims: `as ${service}-row, for resources that check nothing`,
    },
    [`${service}-insert`]: {
      ...of('insert'),
      forms: ONE_TRY,
      summary: `${title}: an INSERT on a unique key, and a DELETE; nothing else`,
      claims: 'exclusion while the server keeps what it committed; whoever dies holds for ever',
      lacks: ['expiry'],
    },
    [`${service}-get-lock`]: {
      ...of('get-lock'),
      forms: ONE_TRY,
      summary: `${title}: GET_LOCK, a session's lock, which is kept alive`,
      claims: 'exclusion while the server runs; a failover forgets it, however replicas are told; no tokens',
    },
    [`${service}-get-lock-anywhere`]: {
      ...of('get-lock-anywhere'),
      ...canary,
      summary: `${service}-get-lock on whichever server a client is given: primary or replica`,
      claims: `nothing between clients of two servers; ${service}-get-lock is its twin`,
      topologies: replicated,
    },
    [`${service}-row-read-then-write`]: {
      ...of('row-read-then-write'),
      ...canary,
      summary: `${title}: a SELECT, then an UPDATE that does not ask again`,
      claims: `nothing: two clients that read at once both hold it; ${service}-row is its twin`,
      lacks: ['ownership'],
    },
  };
}
