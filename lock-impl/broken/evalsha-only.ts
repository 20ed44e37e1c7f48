/**
 * Takes the lock by EVALSHA, with a script that was loaded once and for all. A server that was restarted, or a replica that was promoted
 * and had only ever seen its effects, does not know the script. The idea is from leandromoreira/redlock-rb#27.
 *
 * After the first restart every try is answered with NOSCRIPT.
 */
import { loadedScriptLock } from './loaded-script-lock.js';

export default loadedScriptLock('broken/evalsha-only', async (_, error) => {
  throw error;
});
