/** The twin of `renewal-unchecked`: renews only what is still its own. */
import { prolong } from '../owned-key.js';
import { renewedLock } from './renewed-lock.js';

export default renewedLock('broken/renewal-unchecked-mended', {
  renew: prolong,
  afterFailure: 'try-again',
});
