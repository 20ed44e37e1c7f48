/** `pg-advisory` on any server: a replica grants such locks, too, and no server knows of another's. */
import { anyServer } from '../session-lock.js';
import { advisoryLock } from './advisory.js';

export default advisoryLock({
  name: 'pg-advisory-anywhere',
  of: 'session',
  topologies: ['postgres', 'postgres-sync'],
  server: anyServer,
});
