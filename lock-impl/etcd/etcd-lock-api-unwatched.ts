/** `etcd-lock-api` that keeps its session alive and never looks whether that worked: who is cut off acts on when it is over. */
import { lockByApi } from './lock-by-api.js';

export default lockByApi({ name: 'etcd-lock-api-unwatched', tellsLost: false });
