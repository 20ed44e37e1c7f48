/**
 * Who holds a read-write lock in one mode.
 *
 * KEYS[1], KEYS[2]  see read-write-state.ts
 * ARGV[1]  'read' or 'write'
 * ARGV[2]  the owner
 *
 * Returns {how many holders there are, how often the owner is one}.
 */
import { readWriteState } from './read-write-state.js';

export const readWriteCount = `${readWriteState}
drop_expired()
local holders = 0
for _, field in ipairs(redis.call('hkeys', KEYS[1])) do
  if string.find(field, ARGV[1] .. ':', 1, true) == 1 then
    holders = holders + 1
  end
end
return {holders, tonumber(redis.call('hget', KEYS[1], ARGV[1] .. ':' .. ARGV[2]) or 0)}
`;
