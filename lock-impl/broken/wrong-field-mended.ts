/** The twin of `wrong-field`: it gives the expiry to the field that it has just written. */
import { readWriteOfFields } from '../expiring-fields.js';
import { EXPIRES_BY_ITSELF } from '../scripts/hash-ttl-take.js';

export default readWriteOfFields('broken/wrong-field-mended', EXPIRES_BY_ITSELF);
