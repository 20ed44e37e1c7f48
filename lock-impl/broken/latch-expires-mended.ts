/** The twin of `latch-expires`: the count has no expiry. */
import { countDownLatch } from '../latch-client.js';

export default countDownLatch('broken/latch-expires-mended', {});
