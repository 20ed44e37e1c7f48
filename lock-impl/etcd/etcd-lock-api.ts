/**
 * etcd's own Lock API (`/v3/lock/lock`): the server queues a key of ours under an etcd lease, and answers when all before it have
 * gone. The lease is our session: it is kept alive in the background every third of it, and ends when etcd has heard nothing of us
 * for as long. The revision at which our key was created is the fencing token.
 *
 * It promises exclusion as long as a majority keeps what it has stored, rising tokens, and that a client which cannot keep its
 * session alive is told `lost` before etcd ends it. A client that sleeps for longer than its session is a stale holder.
 */
import { lockByApi } from './lock-by-api.js';

export default lockByApi({ name: 'etcd-lock-api', tellsLost: true });
