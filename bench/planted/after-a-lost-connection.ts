import { goesWrongAfter } from './goes-wrong-after.js';

export default goesWrongAfter('planted/after-a-lost-connection', ['lost connection']);
