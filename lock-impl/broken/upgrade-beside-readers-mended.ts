/** The twin of `upgrade-beside-readers`: only a reader that is alone may write. Two that want to wait for each other. */
import { upgradableLock } from './upgradable-lock.js';

export default upgradableLock('broken/upgrade-beside-readers-mended', 'reads and only_holder');
