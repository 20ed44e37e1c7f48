/** `import { matchers } from 'lock-torture/jest'; expect.extend(matchers)`: for jest, and for any other `expect` of its kind. */
export { type Breakage, type LockMatchers, matchers } from './matchers.js';
