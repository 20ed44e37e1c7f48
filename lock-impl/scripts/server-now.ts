/** For scripts: `now`, milliseconds of the server's clock. */
export const serverNow = `local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;
