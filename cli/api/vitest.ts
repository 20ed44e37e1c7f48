/**
 * `import 'lock-torture/vitest'`: the matchers, and time for runs. A test of this file that names no time-out of its own
 * has vitest's 5 s, which no run can keep: it gets five minutes.
 */
import { expect, vi } from 'vitest';
import { type LockMatchers, matchers } from './matchers.js';

const RUN_TIMEOUT_MS = 300_000;

expect.extend(matchers);
vi.setConfig({ testTimeout: RUN_TIMEOUT_MS, hookTimeout: RUN_TIMEOUT_MS });

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: as vitest declares it
  interface Matchers<T = any> extends LockMatchers<T> {}
}
