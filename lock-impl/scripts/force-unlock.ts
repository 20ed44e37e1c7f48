/**
 * Frees a lock from any holder, however often it holds.
 *
 * KEYS     the lock, and whatever else says who holds it
 * ARGV[1]  the channel on which to say that the lock is free; '': no client listens
 *
 * Returns 1 if somebody held it, else 0.
 */
export const forceUnlock = `
if redis.call('exists', KEYS[1]) == 0 then
  return 0
end
if ARGV[1] ~= '' then
  redis.call('publish', ARGV[1], 'free')
end
redis.call('del', unpack(KEYS))
return 1
`;
