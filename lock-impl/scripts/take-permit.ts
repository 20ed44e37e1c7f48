/**
 * KEYS[1]  how many permits are free; absent until the first is taken
 * ARGV[1]  how many permits there are
 *
 * Returns 1 if a permit was free and is taken now, 0 if none was free.
 */
export const takePermit = `
local free = tonumber(redis.call('get', KEYS[1]) or ARGV[1])
if free < 1 then
  return 0
end
redis.call('set', KEYS[1], free - 1)
return 1
`;
