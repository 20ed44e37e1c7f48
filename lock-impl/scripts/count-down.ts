/**
 * KEYS[1]  the latch's count; absent when it is open
 *
 * Returns the count that is left; 0 also if the latch was open already.
 */
export const countDown = `
local count = tonumber(redis.call('get', KEYS[1]) or 0)
if count <= 1 then
  redis.call('del', KEYS[1])
  return 0
end
return redis.call('decr', KEYS[1])
`;
