/** The twin of `token-cleared-first`: clears it when the release was answered. */
import { releaseRetried } from './release-retried.js';

export default releaseRetried('broken/token-cleared-first-mended', async (token, giveItBack) => {
  const owner = token.current;
  const released = owner !== undefined && (await giveItBack(owner));
  token.current = undefined;
  return released;
});
