/**
 * `count-down-latch.ts` as the workload `latch` takes it: to acquire it to write is to be one of those who count it down, to release
 * that is to count, and to acquire it to read is to wait until it opens. It is no lock, and excludes no client.
 *
 * It promises that nobody passes before all have counted, while the server forgets nothing. It excludes dead counters: one that
 * ends before it counts leaves everybody waiting.
 */
import { countDownLatch } from './latch-client.js';

export default countDownLatch('latch', {});
