/** `markLock` on MongoDB: findAndModify makes the document, and a delete removes it. */
import { markLock } from '../mark-lock.js';
import { MONGODB_TOPOLOGIES, onceConnected } from './connection.js';
import { mongoMarks } from './marks.js';

export default markLock({
  name: 'mongo-find-and-modify',
  topologies: MONGODB_TOPOLOGIES,
  open: (access) => onceConnected(access, mongoMarks),
});
