/** `mariadb-row` without its tokens. */
import { withoutToken } from '../without-token.js';
import lock from './mariadb-row.js';

export default withoutToken(lock, 'mariadb-row-plain');
