/**
 * A latch whose count has an expiry, so that a counter that died keeps nobody waiting for ever. Production code does this because a
 * key without expiry looks like a leak.
 *
 * An open latch is one that is not there: when the time is over everybody passes, though some are still at work.
 */
import { countDownLatch } from '../latch-client.js';

export default countDownLatch('broken/latch-expires', { expiresMs: 60 });
