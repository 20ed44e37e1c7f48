/** `set-nx-px` by the commands of Valkey 9: DELIFEQ, and SET … IFEQ … PX. Elsewhere by scripts; see `comparing.ts`. */
import { comparingLock } from './comparing.js';

export default comparingLock('ifeq', { command: 'DELIFEQ', args: (key, owner) => [key, owner] });
