/** The same `using`, over clients with ioredis's own settings, which wait for a hung server without end. */
import { libraries } from './library.js';
import { redlock5Using } from './redlock-5-family.js';

export default redlock5Using({
  name: 'third-party/redlock-5-using-default-client',
  library: libraries['redlock-5'],
  constructorOf: (exports) => exports.default,
  clients: 'defaults',
});
