/** What keeps a hash whose fields are holders, each with an expiry of its own (HPEXPIRE: Redis 7.4, Valkey 9). */

/**
 * How a new holder's field gets its time.
 *
 * KEYS[1]  the holders
 * ARGV[1]  the field of the new one
 * ARGV[2]  its lease in milliseconds
 */
export const EXPIRES_BY_ITSELF = `redis.call('hpexpire', KEYS[1], ARGV[2], 'FIELDS', 1, ARGV[1])`;

/**
 * A lock that readers share. The field of one that writes begins with `w:`, of one that reads with `r:`.
 *
 * KEYS and ARGV as above.
 *
 * Returns 1 if the lock was free for that and is this holder's now, 0 if not.
 */
export const takeToReadOrWrite = (expire: string) => `
local writes = string.sub(ARGV[1], 1, 2) == 'w:'
for _, holder in ipairs(redis.call('hkeys', KEYS[1])) do
  if writes or string.sub(holder, 1, 2) == 'w:' then
    return 0
  end
end
redis.call('hset', KEYS[1], ARGV[1], 1)
${expire}
return 1
`;

/**
 * KEYS and ARGV as above
 * ARGV[3]  how many permits there are
 *
 * Returns 1 if a permit was free and is this holder's now, 0 if none was.
 */
export const takeExpiringPermit = `
if #redis.call('hkeys', KEYS[1]) >= tonumber(ARGV[3]) then
  return 0
end
redis.call('hset', KEYS[1], ARGV[1], 1)
${EXPIRES_BY_ITSELF}
return 1
`;
