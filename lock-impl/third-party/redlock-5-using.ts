/** npm `redlock` 5 beta, as it is: `using`, which extends the lock by itself. */
import { libraries } from './library.js';
import { redlock5Using } from './redlock-5-family.js';

export default redlock5Using({
  name: 'third-party/redlock-5-using',
  library: libraries['redlock-5'],
  constructorOf: (exports) => exports.default,
});
