/** `etcd-lease` without its tokens. */
import { withoutToken } from '../without-token.js';
import lock from './etcd-lease.js';

export default withoutToken(lock, 'etcd-lease-plain');
