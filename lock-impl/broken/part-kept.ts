/**
 * Keeps the parts that it got when it does not get them all. Their leases end by themselves, and so nobody missed the
 * release in the path of the refusal. The idea is from medusajs/medusa#16285.
 *
 * Two clients that ask in opposite orders have one part each, and each of their later tries adds another that stands in the
 * way: no client gets both any more.
 */
import { bothParts } from './both-parts.js';

export default bothParts('broken/part-kept', () => []);
