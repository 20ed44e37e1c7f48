/** `pg-row` without its tokens. */
import { withoutToken } from '../without-token.js';
import lock from './pg-row.js';

export default withoutToken(lock, 'pg-row-plain');
