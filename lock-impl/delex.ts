/** `set-nx-px` by the commands of Redis 8.4: DELEX … IFEQ, and SET … IFEQ … PX. Elsewhere by scripts; see `comparing.ts`. */
import { comparingLock } from './comparing.js';

export default comparingLock('delex', { command: 'DELEX', args: (key, owner) => [key, 'IFEQ', owner] });
