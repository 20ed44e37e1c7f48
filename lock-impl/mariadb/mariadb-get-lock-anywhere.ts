/** `mariadb-get-lock` on any server: a replica grants such locks, too, and no server knows of another's. */
import { anyServer } from '../session-lock.js';
import { getLock } from './get-lock.js';

export default getLock({
  name: 'mariadb-get-lock-anywhere',
  topologies: ['mariadb', 'mariadb-semi-sync'],
  server: anyServer,
});
