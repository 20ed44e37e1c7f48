/** npm `@sesamecare-oss/redlock`, as it is: acquire, extend and release. */
import { libraries } from './library.js';
import { redlock5 } from './redlock-5-family.js';

export default redlock5({
  name: 'third-party/sesamecare-redlock',
  library: libraries['sesamecare-redlock'],
  constructorOf: (exports) => exports.Redlock,
});
