/**
 * Sends the return of a permit again when it was not answered, and permits are a number: the first one may have been counted.
 * A doubled release then makes one permit more than there are.
 */
import { returnPermit } from '../scripts/return-permit.js';
import { takePermit } from '../scripts/take-permit.js';
import { permitsFromScripts } from './permits-from-scripts.js';

export default permitsFromScripts('broken/return-sent-again', {
  take: takePermit,
  giveBack: returnPermit,
  deadline: 'never',
});
