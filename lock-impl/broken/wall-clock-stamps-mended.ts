/** The twin of `wall-clock-stamps`: stamps by the monotonic clock, when the attempt leaves. */
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/wall-clock-stamps-mended', { stamp: (_access, sentNs) => sentNs });
