/** `zk-lock` without its tokens. */
import { withoutToken } from '../without-token.js';
import lock from './zk-lock.js';

export default withoutToken(lock, 'zk-lock-plain');
