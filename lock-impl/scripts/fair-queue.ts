/**
 * What the scripts of the fair lock have in common, put in front of each: the server's time, and a queue without the dead.
 *
 * KEYS[2]  the queue: a list of owners, the one who is next at its head
 * KEYS[3]  the deadlines: a sorted set, owner → until when it counts as alive, milliseconds of the server's clock
 *
 * A waiter that did not come back before its deadline is dropped when it is next; what lies behind it does not matter before.
 */
import { serverNow } from './server-now.js';

export const fairQueue = `
${serverNow}

local function next_alive()
  while true do
    local head = redis.call('lindex', KEYS[2], 0)
    if head == false then
      return nil
    end
    local deadline = redis.call('zscore', KEYS[3], head)
    if deadline and tonumber(deadline) > now then
      return head, tonumber(deadline) - now
    end
    redis.call('lpop', KEYS[2])
    redis.call('zrem', KEYS[3], head)
  end
end
`;
