/**
 * Takes a read-write lock.
 *
 * KEYS[1], KEYS[2]  see read-write-state.ts
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds
 * ARGV[3]  'read' or 'write'
 *
 * Readers share, a writer excludes everybody else. Who writes may take it again, to read or to write; who only reads may
 * take it to read again, but not to write: it is in its own way.
 *
 * Returns {1, how often the owner now holds it in that mode}, or {0, ms}: the lease in the way is over after so many
 * milliseconds unless it is renewed.
 */
import { readWriteState } from './read-write-state.js';

export const readWriteTake = `${readWriteState}
drop_expired()
local mode = redis.call('hget', KEYS[1], 'mode')
local writes = redis.call('hexists', KEYS[1], 'write:' .. ARGV[1]) == 1
if mode and not writes and (mode == 'write' or ARGV[3] == 'write') then
  return {0, redis.call('pttl', KEYS[1])}
end
local field = ARGV[3] .. ':' .. ARGV[1]
local held = redis.call('hincrby', KEYS[1], field, 1)
lease(field, tonumber(ARGV[2]))
return {1, held}
`;
