/** The twin of `refresh-beside-release`: what a refresh finds after the release is no news. */
import { refreshedLock } from './refreshed-lock.js';

export default refreshedLock('broken/refresh-beside-release-mended', { heedsTheRelease: true });
