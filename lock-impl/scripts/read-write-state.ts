/**
 * What the scripts of the read-write lock have in common, put in front of each: the server's time, and a lock without the
 * holds whose lease is over.
 *
 * KEYS[1]  the lock: a hash with `mode` ('read' or 'write') and for each holder `read:<owner>` or `write:<owner>` →
 *          how often it is held; who writes may read as well
 * KEYS[2]  the leases: a sorted set, the same fields → until when, milliseconds of the server's clock
 *
 * Each reader has a lease of its own, so that one that died does not hold for as long as others come and go. Both keys
 * expire with the last of the leases.
 */
import { serverNow } from './server-now.js';

export const readWriteState = `
${serverNow}

-- What is left decides the mode: free, readers, or a writer.
local function settle()
  local until_ms = redis.call('zrange', KEYS[2], -1, -1, 'withscores')[2]
  if not until_ms then
    redis.call('del', KEYS[1], KEYS[2])
    return
  end
  local mode = 'read'
  for _, field in ipairs(redis.call('hkeys', KEYS[1])) do
    if string.sub(field, 1, 6) == 'write:' then
      mode = 'write'
    end
  end
  redis.call('hset', KEYS[1], 'mode', mode)
  redis.call('pexpireat', KEYS[1], until_ms)
  redis.call('pexpireat', KEYS[2], until_ms)
end

local function drop_expired()
  local expired = redis.call('zrangebyscore', KEYS[2], '-inf', now)
  for _, field in ipairs(expired) do
    redis.call('hdel', KEYS[1], field)
    redis.call('zrem', KEYS[2], field)
  end
  if #expired > 0 then
    settle()
  end
end

-- A new lease for a hold, never a shorter one than it has.
local function lease(field, lease_ms)
  local until_ms = redis.call('zscore', KEYS[2], field)
  if not until_ms or tonumber(until_ms) < now + lease_ms then
    redis.call('zadd', KEYS[2], now + lease_ms, field)
  end
  settle()
end
`;
