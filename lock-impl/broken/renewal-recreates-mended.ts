/** The twin of `renewal-recreates`: a key that is gone is lost. */
import { prolong } from '../owned-key.js';
import { renewedLock } from './renewed-lock.js';

export default renewedLock('broken/renewal-recreates-mended', {
  renew: prolong,
  afterFailure: 'try-again',
});
