/** npm `redlock` 5 beta, as it is: acquire, extend and release. */
import { libraries } from './library.js';
import { redlock5 } from './redlock-5-family.js';

export default redlock5({
  name: 'third-party/redlock-5',
  library: libraries['redlock-5'],
  constructorOf: (exports) => exports.default,
});
