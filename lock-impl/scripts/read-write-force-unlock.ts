/**
 * Ends all holds of one mode of a read-write lock, of every owner. Ending a writer's leaves what it reads.
 *
 * KEYS[1], KEYS[2]  see read-write-state.ts
 * ARGV[1]  'read' or 'write'
 * ARGV[2]  the channel
 *
 * Returns 1 if somebody held it in that mode, else 0.
 */
import { readWriteState } from './read-write-state.js';

export const readWriteForceUnlock = `${readWriteState}
drop_expired()
local ended = {}
for _, field in ipairs(redis.call('hkeys', KEYS[1])) do
  if string.find(field, ARGV[1] .. ':', 1, true) == 1 then
    ended[#ended + 1] = field
  end
end
if #ended == 0 then
  return 0
end
redis.call('publish', ARGV[2], 'free')
for _, field in ipairs(ended) do
  redis.call('hdel', KEYS[1], field)
  redis.call('zrem', KEYS[2], field)
end
settle()
return 1
`;
