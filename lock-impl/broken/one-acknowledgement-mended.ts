/**
 * The twin of `one-acknowledgement`: every replica that may be promoted has the grant, which with the three nodes of a usual
 * deployment are two. It pays with its liveness: while one replica is away no client gets the lock.
 */
import { acknowledgedLock } from './acknowledged-lock.js';

export default acknowledgedLock('broken/one-acknowledgement-mended', 2);
