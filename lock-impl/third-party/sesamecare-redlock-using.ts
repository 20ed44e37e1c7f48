/** npm `@sesamecare-oss/redlock`, as it is: `using`, which extends the lock by itself. */
import { libraries } from './library.js';
import { redlock5Using } from './redlock-5-family.js';

export default redlock5Using({
  name: 'third-party/sesamecare-redlock-using',
  library: libraries['sesamecare-redlock'],
  constructorOf: (exports) => exports.Redlock,
});
