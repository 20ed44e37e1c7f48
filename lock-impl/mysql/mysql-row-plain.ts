/** `mysql-row` without its tokens. */
import { withoutToken } from '../without-token.js';
import lock from './mysql-row.js';

export default withoutToken(lock, 'mysql-row-plain');
