/** The twin of `evalsha-only`: a script that the server does not know is sent whole, which also loads it. */
import { loadedScriptLock } from './loaded-script-lock.js';

export default loadedScriptLock('broken/evalsha-only-mended', (sendWhole, error) => {
  if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return sendWhole();
  throw error;
});
