import { goesWrongAfter } from './goes-wrong-after.js';

export default goesWrongAfter('planted/after-both', ['lost connection', 'stop']);
