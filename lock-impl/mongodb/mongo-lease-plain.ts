/** `mongo-lease` without its tokens. */
import { withoutToken } from '../without-token.js';
import lock from './mongo-lease.js';

export default withoutToken(lock, 'mongo-lease-plain');
