/**
 * KEYS[1]  how many permits are free
 *
 * Returns 1 if there is one more now, 0 if the server knows of no permits (it forgot them, so all are free anyway).
 */
export const returnPermit = `
if redis.call('exists', KEYS[1]) == 0 then
  return 0
end
redis.call('incr', KEYS[1])
return 1
`;
